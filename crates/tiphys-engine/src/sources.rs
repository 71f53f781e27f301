//! The sources from which an Application is rendered.

use tiphys_model::resources::{ApplicationSource, ApplicationSpec};

use crate::{SourcePlace, without_empty_blocks};

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

/// Returns the effective sources in order, without blocks that count as absent, and whether there are several.
pub fn sources(spec: &ApplicationSpec) -> Result<(Vec<ApplicationSource>, SourcePlace), SourcesError> {
    if spec.source_hydrator.is_some() {
        return Err(SourcesError::Hydrator);
    }
    let sources = spec.effective_sources();
    if sources.is_empty() {
        return Err(SourcesError::None);
    }
    if let Some(index) = sources.iter().position(|source| source.repo_url.is_empty()) {
        let path =
            if spec.sources.is_empty() { "spec.source".to_owned() } else { format!("spec.sources[{index}]") };
        return Err(SourcesError::NoRepository { path });
    }
    let place = if sources.len() > 1 { SourcePlace::OneOfSeveral } else { SourcePlace::Only };
    Ok((sources.iter().map(without_empty_blocks).collect(), place))
}

#[cfg(test)]
mod tests;
