//! The sources from which an Application is rendered.

use std::collections::BTreeMap;

use tiphys_model::resources::{Application, ApplicationSource};

use crate::{ReferenceError, references, without_empty_blocks};

/// An Application whose sources cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourcesError {
    /// Neither `source` nor `sources`.
    #[error("spec has neither `source` nor `sources`; set one of them")]
    None,
    /// A `sourceHydrator` block.
    #[error("spec.sourceHydrator is not supported; put its drySource into `source` to render it")]
    Hydrator,
    /// A source without a repository.
    #[error("{path} has no repoURL")]
    NoRepository {
        /// The path of the source, such as `spec.sources[1]`.
        path: String,
    },
}

/// The effective sources of an Application in order, without blocks that count as absent.
#[derive(Clone, Debug)]
pub struct ApplicationSources<'a> {
    application: &'a Application,
    sources: Vec<ApplicationSource>,
}

/// A source of an Application.
#[derive(Clone, Copy, Debug)]
pub struct SourceOf<'a> {
    /// The Application.
    pub application: &'a Application,
    /// The source.
    pub source: &'a ApplicationSource,
    /// Its position among all sources, from 1.
    pub position: usize,
    /// All sources.
    pub sources: &'a ApplicationSources<'a>,
}

impl<'a> ApplicationSources<'a> {
    /// Returns the sources of an Application.
    pub fn of(application: &'a Application) -> Result<Self, SourcesError> {
        let spec = &application.spec;
        if spec.source_hydrator.is_some() {
            return Err(SourcesError::Hydrator);
        }
        let sources = spec.effective_sources();
        if sources.is_empty() {
            return Err(SourcesError::None);
        }
        if let Some(index) = sources.iter().position(|source| source.repo_url.is_empty()) {
            let path = if spec.sources.is_empty() {
                "spec.source".to_owned()
            } else {
                format!("spec.sources[{index}]")
            };
            return Err(SourcesError::NoRepository { path });
        }
        Ok(Self { application, sources: sources.iter().map(without_empty_blocks).collect() })
    }

    /// Returns all sources. There is at least one.
    pub fn all(&self) -> impl Iterator<Item = SourceOf<'_>> {
        let of =
            |(source, position)| SourceOf { application: self.application, source, position, sources: self };
        self.sources.iter().zip(1..).map(of)
    }

    /// Returns the first source.
    pub fn first(&self) -> SourceOf<'_> {
        SourceOf { application: self.application, source: &self.sources[0], position: 1, sources: self }
    }

    /// Returns the number of all sources.
    pub fn count(&self) -> usize {
        self.sources.len()
    }

    /// Returns the sources that render something: not those that only provide files for other sources.
    pub fn rendered(&self) -> impl Iterator<Item = SourceOf<'_>> {
        self.all().filter(|one| self.count() == 1 || !is_reference_only(one.source))
    }

    /// Returns the sources by their `ref`.
    pub fn references(&self) -> Result<BTreeMap<&'a str, &'a ApplicationSource>, ReferenceError> {
        references(self.application.spec.effective_sources())
    }
}

/// Returns whether a source only provides files for other sources and has nothing to render.
fn is_reference_only(source: &ApplicationSource) -> bool {
    !source.reference.is_empty()
        && source.path.is_empty()
        && source.chart.is_empty()
        && !source.repo_url.starts_with("oci://")
}

#[cfg(test)]
mod tests;
