//! The parameters of an application, as its plugins announce them and as they are set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_engine::{
    HELM_PLUGIN, InlineValues, LookUp, ParameterPart, SET_PREFIX, ServedKinds, SourceType, ValuePath,
    shown_announced_name, shown_announcements, shown_name, source_node,
};
use tiphys_model::params::suggest;
use tiphys_plugin::LoadedPlugin;
use tiphys_render::{AnnouncedSource, AskedSource, Inquiry};
use tiphys_store::StoredApplication;

use super::SourceChoice;
use super::defaults::Defaults;
use super::origin::{ParameterLayers, ParameterLocation};
use super::owner::ApplicationOwner;
use super::row::{Announced, ParameterRow, rows};
use crate::context::cluster_references::{ClusterReference, KnownKinds};
use crate::context::workspace::Workspace;
use crate::error::{Remedy, ServiceError};
use crate::problems::ParameterProblem;
use crate::warning::Warning;

/// An application and the parameters of its chosen sources.
#[derive(Debug)]
pub struct ApplicationParameters {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The object that generates the application; [`inspect`] alone looks for it.
    pub owner: Option<ApplicationOwner>,
    /// The chosen sources. A source whose plugin failed has only the parameters that are set.
    pub sources: Vec<AnnouncedSource>,
    /// Warnings about the application and its plugins.
    pub warnings: Vec<Warning>,
    /// Errors of plugins, with the index of the source.
    failures: Vec<(usize, ServiceError)>,
    /// The references of each source's dynamic parameters.
    references: Vec<Vec<ClusterReference>>,
    plugins: Vec<LoadedPlugin>,
    current_dir: PathBuf,
}

/// Finds an application, a name or a path, and asks the plugins of its chosen sources which parameters they accept.
pub async fn inspect(
    workspace: &Workspace,
    application: &str,
    choice: &SourceChoice,
) -> Result<ApplicationParameters, ServiceError> {
    let (stored, mut warnings) = super::find_application(workspace, application)?;
    choice.check(&stored)?;
    let asking = inspect_stored(workspace, &stored, Inquiry::Origins, choice);
    let mut parameters = workspace.drained(Box::pin(asking)).await?;
    warnings.append(&mut parameters.warnings);
    let owner = ApplicationOwner::find(workspace, &parameters.stored);
    Ok(ApplicationParameters { owner, warnings, ..parameters })
}

/// Asks the plugins of an application's chosen sources which parameters they accept.
pub(super) async fn inspect_stored(
    workspace: &Workspace,
    stored: &Arc<StoredApplication>,
    inquiry: Inquiry,
    choice: &SourceChoice,
) -> Result<ApplicationParameters, ServiceError> {
    let announcing = workspace
        .renderer
        .announce_each(&stored.application, inquiry, |position, source| choice.includes(position, source));
    let answers = Box::pin(announcing).await.map_err(|error| ServiceError::application(stored, error))?;
    let mut parameters = ApplicationParameters {
        stored: Arc::clone(stored),
        owner: None,
        sources: Vec::new(),
        warnings: Vec::new(),
        failures: Vec::new(),
        references: Vec::new(),
        plugins: workspace.plugins.clone(),
        current_dir: workspace.service.host().absolute(""),
    };
    let kinds = ServedKinds::built_in();
    let describe = |look_up: &LookUp| {
        let kinds = KnownKinds::BuiltIn(&kinds);
        ClusterReference::new(&workspace.projects, &stored.application, look_up, kinds)
    };
    for (index, AskedSource { mut source, failure }) in answers.into_iter().enumerate() {
        show_names(&mut source);
        if let Some(error) = failure {
            let is_of_the_document = error.is_of_the_document();
            let failure = ServiceError::application(stored, error);
            // An invalid document has no parameters worth listing.
            if is_of_the_document {
                return Err(failure);
            }
            parameters.failures.push((index, failure));
        }
        let warnings = source.warnings.iter().chain(&source.plugin_warnings);
        parameters.warnings.extend(Warning::all_of_application(stored, warnings));
        parameters.references.push(source.look_ups.iter().map(describe).collect());
        parameters.sources.push(source);
    }
    Ok(parameters)
}

/// Replaces the names of the plugin by those under which users set the parameters.
pub(super) fn show_names(source: &mut AnnouncedSource) {
    let plugin = source.plugin.as_deref();
    source.announcements = shown_announcements(plugin, std::mem::take(&mut source.announcements));
    let shown = |name: String| shown_name(&source.source, plugin, &shown_announced_name(plugin, name));
    let explanations = source.explanations.take();
    source.explanations = explanations
        .map(|explained| explained.into_iter().map(|(name, layers)| (shown(name), layers)).collect());
}

impl ApplicationParameters {
    /// Returns the parameters of all chosen sources.
    pub fn rows(&self) -> Vec<ParameterRow<'_>> {
        let mut all = Vec::new();
        for (index, (source, references)) in self.sources.iter().zip(&self.references).enumerate() {
            let failed = self.failures.iter().any(|(failed, _)| *failed == index);
            let is_unknown = failed && source.announcements.is_empty();
            let announced = if is_unknown { Announced::Unknown } else { Announced::Known };
            all.extend(rows(source, references, &self.layers(source), announced));
        }
        all
    }

    /// Returns the parameters of this name, at most one of each source: the name people use or the one the plugin gets. For a value of a chart,
    /// `set.` may be left out, unless a parameter has the name without it.
    pub fn rows_named(&self, name: &str) -> Vec<ParameterRow<'_>> {
        let mut rows = self.rows();
        let wanted = |source: &AnnouncedSource| {
            let plugin = source.plugin.as_deref();
            let shown = shown_name(&source.source, plugin, name);
            let is_known = rows.iter().any(|row| row.source.position == source.position && row.name == shown);
            let is_chart = plugin == Some(HELM_PLUGIN) || source.source_type == SourceType::HELM;
            let is_value = is_chart && !is_known;
            (source.position, if is_value { format!("{SET_PREFIX}{name}") } else { shown })
        };
        let wanted: Vec<(usize, String)> = self.sources.iter().map(wanted).collect();
        rows.retain(|row| wanted.iter().any(|(at, name)| *at == row.source.position && name == row.name));
        rows
    }

    /// Returns the one parameter of this name, as [`ApplicationParameters::rows_named`] finds it. If a plugin failed, an unknown name is that
    /// plugin's error.
    pub fn row(&self, name: &str) -> Result<ParameterRow<'_>, ServiceError> {
        let mut found = self.rows_named(name);
        let application = self.stored.full_name();
        if found.len() > 1 {
            let positions: Vec<String> = found.iter().map(|row| row.source.position.to_string()).collect();
            return Err(ServiceError::invalid_input(format!(
                "{application} has a parameter {name:?} in several sources ({})",
                positions.join(", ")
            ))
            .with_remedy(Remedy::ChooseSource));
        }
        if let Some(row) = found.pop() {
            return Ok(row);
        }
        if let Some((_, failure)) = self.failures.first() {
            return Err(failure.clone());
        }
        let rows = self.rows();
        let known = || rows.iter().map(|row| row.name);
        let mut similar = suggest(name, known());
        let value = format!("{SET_PREFIX}{name}");
        if similar.is_empty() {
            similar = suggest(&value, known());
        }
        if similar.is_empty() {
            let is_within = |known: &str, name: &str| {
                name.strip_prefix(known).is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            similar = known().filter(|known| is_within(known, name) || is_within(known, &value)).collect();
        }
        let error = ServiceError::not_found(format!("{application} has no parameter {name:?}"));
        Err(match similar.as_slice() {
            [] => error,
            names => error.with_hint(format!("did you mean {}?", names.join(" or "))),
        })
    }

    /// Returns one warning for each problem of these parameters, with the place of the value or of its source.
    pub fn problems(&self, rows: &[ParameterRow<'_>]) -> Vec<String> {
        let mut problems = Vec::new();
        for row in rows {
            problems.extend(row.problems.list.iter().map(|problem| {
                let place = self.place(row, problem);
                format!("{place}: parameter `{}`: {}", row.name, problem.message)
            }));
        }
        problems
    }

    /// Returns the documents that set parameters of a source.
    pub(super) fn layers<'a>(&'a self, source: &'a AnnouncedSource) -> ParameterLayers<'a> {
        let defaults = Defaults::of(&self.plugins, source.plugin.as_deref(), |path| self.shown(path));
        ParameterLayers::of(&self.stored, source, defaults)
    }

    /// Returns the errors of plugins.
    pub fn failures(&self) -> impl Iterator<Item = &ServiceError> {
        self.failures.iter().map(|(_, failure)| failure)
    }

    /// Returns the place of a problem: of its part of the inline values, else of the value, or of the source if no file sets it.
    pub(super) fn place(&self, row: &ParameterRow<'_>, problem: &ParameterProblem) -> ParameterLocation {
        let part = problem.part.as_ref().and_then(|path| self.inline_place(row.source, path));
        part.or_else(|| row.location().cloned()).unwrap_or_else(|| self.location(row.source))
    }

    /// Returns the place of an inline value.
    fn inline_place(&self, source: &AnnouncedSource, path: &ValuePath) -> Option<ParameterLocation> {
        let values = InlineValues::of(&source.source, source.source_type, source.plugin.as_deref()).ok()?;
        let (name, steps, line) = values.part(path);
        let (_, location) = self.layers(source).part(name, ParameterPart { name, path: &steps, line })?;
        Some(location)
    }

    /// Returns the place of a source in its document.
    fn location(&self, source: &AnnouncedSource) -> ParameterLocation {
        let place = &self.stored.place;
        let document = source.position.checked_sub(1).and_then(|index| source_node(&self.stored.node, index));
        ParameterLocation {
            file: place.file.to_string(),
            position: document.map(|document| document.position).or(place.position),
            version: self.stored.version(),
        }
    }

    /// Returns a path relative to the current directory where possible.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.current_dir).unwrap_or(path).display().to_string()
    }
}
