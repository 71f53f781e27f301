//! What can be said of an application's sources without rendering: paths and value files that do not exist, and unknown plugins.

use std::collections::BTreeMap;
use std::fmt;

use tiphys_access::url_scheme;
use tiphys_api::{Application, ApplicationSource, HelmSource};
use tiphys_engine::{
    BuildEnvironment, HELM_PLUGIN, SourcePlace, VariableNames, build_variables, chart_values, references,
    translate,
};
use tiphys_plugin::InputRule;
use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::paths::PathCollector;
use super::value_files::{PATTERN_CHARACTERS, named_files};
use super::{Finder, IndexedFiles, IndexedRevision, IndexedSource, Reach};
use crate::renderer::{Renderer, rendered};

/// A problem of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    /// The position of the source, from 1.
    pub position: usize,
    /// The kind of the problem.
    pub rule: SourceRule,
    /// What is wrong, and what to do.
    pub message: String,
}

/// The kind of a problem of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceRule {
    /// It cannot be rendered.
    Fails,
    /// A value has no effect in its chart.
    NoEffect,
}

impl Renderer {
    /// Returns the problems of an application's sources, in their order. Repositories that no folder stands for are not looked at, and nothing
    /// is fetched or run.
    pub async fn source_problems(&self, application: &Application) -> Vec<SourceProblem> {
        let finder = Finder { renderer: self, application, reach: Reach::Copies };
        let (sources, place) = match tiphys_engine::sources(&application.spec) {
            Ok(sources) => sources,
            Err(error) => {
                let message = error.to_string();
                return vec![SourceProblem { position: 1, rule: SourceRule::Fails, message }];
            }
        };
        let mut all = Vec::new();
        for (index, source) in rendered(&sources, place) {
            let messages = [finder.unknown_plugin(source), refused(source)]
                .into_iter()
                .flatten()
                .chain(Box::pin(finder.missing_files(source)).await)
                .chain(Box::pin(finder.missing_files_of_references(source)).await);
            let problem = |rule, message| SourceProblem { position: index + 1, rule, message };
            all.extend(messages.map(|message| problem(SourceRule::Fails, message)));
            let unread = Box::pin(finder.values_without_effect(source)).await;
            all.extend(unread.into_iter().map(|message| problem(SourceRule::NoEffect, message)));
        }
        all
    }
}

impl Renderer {
    /// Returns the number of sources whose files are not looked at: charts, and those in repositories that no folder stands for.
    pub async fn sources_elsewhere(&self, application: &Application) -> usize {
        let finder = Finder { renderer: self, application, reach: Reach::Copies };
        let Ok((sources, place)) = tiphys_engine::sources(&application.spec) else { return 0 };
        let mut count = 0;
        for (_, source) in rendered(&sources, place) {
            count += usize::from(finder.is_elsewhere(source).await);
        }
        count
    }
}

/// Returns the message about a field that tiphys does not support. Override files are not looked at.
fn refused(source: &ApplicationSource) -> Option<String> {
    let translated = translate(source, SourcePlace::Only, &BuildEnvironment::default());
    translated.err().map(|error| error.to_string())
}

impl Finder<'_> {
    /// Returns the message about a plugin that is not there.
    fn unknown_plugin(&self, source: &ApplicationSource) -> Option<String> {
        let name = source.plugin.as_ref()?.name.clone();
        let catalogue = &self.renderer.catalogue;
        let is_known = name.is_empty() || catalogue.get(&name).is_some();
        (!is_known).then(|| catalogue.unknown(&name).to_string())
    }

    /// Returns the messages about missing files.
    async fn missing_files(&self, source: &ApplicationSource) -> Vec<String> {
        if !source.chart.is_empty() {
            return Vec::new();
        }
        let app_path = match RepoPath::new(&source.path) {
            Ok(path) => path,
            Err(error) => return vec![format!("path: {error}")],
        };
        let index = match self.index_of(source).await {
            Ok(Some(IndexedRevision { index, .. })) => index,
            Ok(None) => return Vec::new(),
            Err(reason) => return vec![reason],
        };
        let mut collector = PathCollector::new(&index);
        if !collector.follow(&app_path).is_ok_and(|real| collector.is_directory(&real)) {
            return vec![format!("path {:?} does not exist in {}", source.path, source.shown_repository())];
        }
        let source = match self.with_override_files(source, &app_path).await {
            Ok(IndexedSource { source, .. }) => source,
            Err(reason) => return vec![reason],
        };
        let Some(helm) = &source.helm else { return Vec::new() };
        let missing = checked_files(helm).filter(|file| lacks(&index, &app_path, file.path));
        missing.map(|file| format!("{file} does not exist")).collect()
    }

    /// Returns the messages about values that have no effect in a chart of a repository. Only a `helm` block and the name of the plugin
    /// make it a chart without asking plugins.
    async fn values_without_effect(&self, source: &ApplicationSource) -> Vec<String> {
        let plugin = self.renderer.catalogue.get(HELM_PLUGIN);
        if !source.chart.is_empty() || plugin.is_some_and(|plugin| plugin.inputs() != InputRule::Chart) {
            return Vec::new();
        }
        let Ok(app_path) = RepoPath::new(&source.path) else { return Vec::new() };
        let known = self.with_override_files(source, &app_path).await;
        let Ok(IndexedSource { source, files: IndexedFiles::Repository(known) }) = known else {
            return Vec::new();
        };
        let values = chart_values(&source, None);
        if values.is_empty() {
            return Vec::new();
        }
        let IndexedRevision { revision, index } = &known;
        let mut collector = PathCollector::new(index);
        if collector.add(&app_path, "the chart").is_err() {
            return Vec::new();
        }
        let digest = collector.finish().digest(index);
        let keys = self.renderer.chart_keys(revision, index, (&app_path, digest)).await;
        let Some(keys) = keys else { return Vec::new() };
        let unread = keys.without_effect(&source, None);
        let mut messages: Vec<String> = unread
            .iter()
            .map(|value| format!("{} has no effect in {}", value.shown_name(), keys.chart()))
            .collect();
        messages.dedup();
        messages
    }

    /// Returns the messages about files of other sources: unknown names of sources, and missing files. Where override files are not known,
    /// the Application's own list counts.
    async fn missing_files_of_references(&self, source: &ApplicationSource) -> Vec<String> {
        let sources = self.application.spec.effective_sources();
        let Ok(known) = references(sources) else { return Vec::new() };
        let app_path = RepoPath::new(&source.path).unwrap_or_default();
        let merged = if source.chart.is_empty() {
            self.with_override_files(source, &app_path).await.ok()
        } else {
            None
        };
        let source = merged.as_ref().map_or(source, |known| &known.source);
        let Some(helm) = source.helm.as_ref().filter(|_| sources.len() > 1) else { return Vec::new() };
        let mut problems = Vec::new();
        for file in named_files(helm) {
            problems.extend(unknown_reference(&known, &file));
        }
        for file in checked_files(helm) {
            let Some((name, rest)) = file.path.strip_prefix('$').and_then(|path| path.split_once('/')) else {
                continue;
            };
            let Some(other) = known.get(name).filter(|other| other.chart.is_empty()) else { continue };
            if let Ok(Some(IndexedRevision { index, .. })) = self.index_of(other).await
                && lacks(&index, &RepoPath::default(), rest)
            {
                problems.push(format!("{file} does not exist in {}", other.shown_repository()));
            }
        }
        problems
    }
}

/// A file that a `helm` block names, which must exist.
struct NamedFile<'a> {
    path: &'a str,
    /// The parameter that has its content; `None` for a value file.
    parameter: Option<&'a str>,
}

impl fmt::Display for NamedFile<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameter {
            None => write!(out, "value file {:?}", self.path),
            Some(parameter) => write!(out, "file {:?} of fileParameter {parameter:?}", self.path),
        }
    }
}

/// Returns the files that must exist.
fn checked_files(helm: &HelmSource) -> impl Iterator<Item = NamedFile<'_>> {
    let value_files = if helm.ignore_missing_value_files { &[] } else { helm.value_files.as_slice() };
    let of_parameters =
        helm.file_parameters.iter().map(|one| NamedFile { path: &one.path, parameter: Some(&one.name) });
    value_files.iter().map(|path| NamedFile { path, parameter: None }).chain(of_parameters)
}

/// Returns the message about a path that begins with the name of a source that does not exist. Before Argo CD's own variables, a dollar
/// sign is no reference.
fn unknown_reference(known: &BTreeMap<&str, &ApplicationSource>, file: &str) -> Option<String> {
    let name = file.split('/').next()?.strip_prefix('$')?;
    let is_variable = build_variables(file, VariableNames::Build).any(|variable| file.starts_with(variable));
    if is_variable || known.contains_key(name) {
        return None;
    }
    let names: Vec<String> = known.keys().map(|name| format!("${name}")).collect();
    Some(match names.as_slice() {
        [] => format!("{file:?} refers to a source, but no source has a `ref`"),
        names => format!("{file:?} refers to an unknown source; known are {}", names.join(", ")),
    })
}

/// Whether a file is known not to exist. Paths with variables, escapes or patterns, and URLs, are not known.
fn lacks(index: &RevisionIndex, from: &RepoPath, file: &str) -> bool {
    let is_plain = !file.contains(['$', '\\', '\n', '\r']) && !file.contains(PATTERN_CHARACTERS);
    let root = RepoPath::default();
    let from = if file.starts_with('/') { &root } else { from };
    let Ok(path) = from.join(file.trim_start_matches('/')) else { return false };
    is_plain && url_scheme(file).is_none() && PathCollector::new(index).has_file(&path) == Ok(false)
}
