//! Problems of an application's sources that are found without rendering: paths and value files that do not exist, and unknown plugins.

use std::collections::BTreeMap;
use std::fmt;

use tiphys_engine::{
    AmbiguousSource, ApplicationSources, BuildEnvironment, HELM_PLUGIN, Preparation, SourceOf, SourceType,
    chart_values, ignored_text, translate,
};
use tiphys_model::access::{refused_scheme, url_scheme};
use tiphys_model::resources::{Application, ApplicationSource, HelmSource};
use tiphys_plugin::{ChooseError, InputRule};
use tiphys_source::RevisionIndex;
use tiphys_tree::{PathError, RepoPath};

use super::paths::PathCollector;
use super::value_files::PATTERN_CHARACTERS;
use super::{Finder, IndexedRevision, Reach};
use crate::chart_folder::CHART_FILE_BYTES_MAX;
use crate::renderer::Renderer;

/// A problem of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    /// The position of the source, from 1.
    pub position: usize,
    /// The kind of the problem.
    pub rule: SourceRule,
    /// The problem and the remedy.
    pub message: String,
}

/// The kind of a problem of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceRule {
    /// It cannot be rendered.
    Fails,
    /// A value has no effect in its chart.
    NoEffect,
    /// An override file sets what it cannot set, or what Argo CD reads differently.
    OverrideFile,
}

impl Renderer {
    /// Returns the problems of an application's sources, in their order. Repositories that no folder stands for are not looked at, and nothing
    /// is fetched or run.
    pub async fn source_problems(&self, application: &Application) -> Vec<SourceProblem> {
        let finder = Finder { renderer: self, application, reach: Reach::Copies };
        let problem = |position, (rule, message)| SourceProblem { position, rule, message };
        let of_all = |message| problem(1, (SourceRule::Fails, message));
        let sources = match ApplicationSources::of(application) {
            Ok(sources) => sources,
            Err(error) => return vec![of_all(error.to_string())],
        };
        let names = sources.references();
        let mut all: Vec<SourceProblem> =
            names.err().into_iter().map(|error| of_all(error.to_string())).collect();
        for of in sources.rendered() {
            // Boxed because it is a large future.
            let found = Box::pin(finder.problems_of(of)).await;
            all.extend(found.into_iter().map(|found| problem(of.position, found)));
        }
        all
    }

    /// Returns the number of sources whose files are not looked at: charts, and those in repositories that no folder stands for.
    pub async fn sources_elsewhere(&self, application: &Application) -> usize {
        let finder = Finder { renderer: self, application, reach: Reach::Copies };
        let Ok(sources) = ApplicationSources::of(application) else { return 0 };
        let mut count = 0;
        for of in sources.rendered() {
            count += usize::from(finder.is_elsewhere(of.source).await);
        }
        count
    }
}

/// A source in a repository that a folder stands for.
struct KnownSource {
    prepared: Preparation,
    app_path: RepoPath,
    revision: IndexedRevision,
}

impl Finder<'_> {
    /// Returns the problems of a source.
    async fn problems_of(&self, of: SourceOf<'_>) -> Vec<(SourceRule, String)> {
        let (known, failure) = match self.known(of).await {
            Ok(known) => (known, None),
            Err(reason) => (None, Some(reason)),
        };
        // Where override files are not known, the Application's own fields count.
        let merged = known.as_ref().map_or(of.source, |known| &known.prepared.source);
        let mut fails = self.refused(merged, known.as_ref());
        fails.extend(failure);
        fails.dedup();
        fails.extend(self.refused_files(of, merged));
        fails.extend(known.iter().flat_map(missing_files));
        fails.extend(self.missing_files_of_references(of, merged).await);
        let mut all: Vec<_> = fails.into_iter().map(|message| (SourceRule::Fails, message)).collect();
        if let Some(known) = &known {
            let warnings = known.prepared.warnings.iter();
            all.extend(warnings.map(|message| (SourceRule::OverrideFile, message.clone())));
            let unread = Box::pin(self.values_without_effect(known)).await;
            let ignored = Box::pin(self.ignored_text(of, known)).await;
            all.extend(unread.into_iter().chain(ignored).map(|message| (SourceRule::NoEffect, message)));
        }
        all
    }

    /// Returns a source with its override files, if a folder stands for its repository.
    async fn known(&self, of: SourceOf<'_>) -> Result<Option<KnownSource>, String> {
        let SourceOf { application, source, .. } = of;
        if self.renderer.chart_source(application, source).is_some() {
            return Ok(None);
        }
        let app_path = RepoPath::new(&source.path).map_err(|error| format!("path: {error}"))?;
        let Some(revision) = self.index_of(source).await? else { return Ok(None) };
        let mut collector = PathCollector::new(&revision.index);
        if !collector.follow(&app_path).is_ok_and(|real| collector.is_directory(&real)) {
            return Err(format!("path {:?} does not exist in {}", source.path, source.shown_repository()));
        }
        let prepared = self.prepared(source, &app_path, &mut collector)?;
        Ok(Some(KnownSource { prepared, app_path, revision }))
    }

    /// Returns the type of a source if it is certain. Without its files, only a block makes it certain.
    fn certain_type(
        &self,
        source: &ApplicationSource,
        known: Option<&KnownSource>,
    ) -> Result<Option<SourceType>, AmbiguousSource> {
        match known {
            None => self.renderer.settings.source_types.named(source),
            Some(KnownSource { prepared, app_path, revision }) => {
                let mut collector = PathCollector::new(&revision.index);
                Ok(self.settled_type(prepared, app_path, &mut collector).ok())
            }
        }
    }

    /// Returns the messages about fields that tiphys does not support, and about a plugin that does not exist or does not match.
    fn refused(&self, source: &ApplicationSource, known: Option<&KnownSource>) -> Vec<String> {
        let catalogue = &self.renderer.catalogue;
        let source_type = match self.certain_type(source, known) {
            Ok(Some(source_type)) => source_type,
            Ok(None) => return Vec::new(),
            Err(ambiguous) => return vec![ambiguous.to_string()],
        };
        let name = match source_type {
            SourceType::Native(native) => Some(native.plugin),
            SourceType::Plugin => source.plugin.as_ref().map(|block| block.name.as_str()),
            SourceType::Directory => None,
        };
        let chosen = match name {
            // No discovery rule may match, if the files are known.
            Some("") => known.map(|_| ChooseError::NoneMatches { tried: catalogue.names() }),
            Some(name) if catalogue.get(name).is_none() => Some(catalogue.unknown(name)),
            Some(_) | None => None,
        };
        let translated = translate(source, source_type, &BuildEnvironment::default());
        let unsupported = translated.err().map(|error| error.to_string());
        chosen.map(|error| error.to_string()).into_iter().chain(unsupported).collect()
    }

    /// Returns the messages about files that the Helm plugin refuses, wherever they are: URLs, paths that lead out, and unknown names of
    /// sources.
    fn refused_files(&self, of: SourceOf<'_>, source: &ApplicationSource) -> Vec<String> {
        let Some(helm) = &source.helm else { return Vec::new() };
        let Ok(known) = of.sources.references() else { return Vec::new() };
        let app_path = if source.chart.is_empty() { source.path.as_str() } else { "" };
        let Ok(app_path) = RepoPath::new(app_path) else { return Vec::new() };
        let schemes = &self.renderer.settings.context.values_file_schemes;
        let refused = |file: NamedFile<'_>| {
            let name = file.path.strip_prefix('$').and_then(|path| path.split('/').next());
            match name.filter(|_| !self.application.spec.sources.is_empty()) {
                Some(name) if !known.contains_key(name) => Some(unknown_reference(&known, file.path)),
                Some(name) => leads_out(&RepoPath::default(), &file.path[1 + name.len()..])
                    .then(|| format!("{file} leads out of the repository")),
                None => match refused_scheme(file.path, schemes) {
                    Some(scheme) => Some(format!("{file}: the URL scheme '{scheme}' is not allowed")),
                    None => {
                        leads_out(&app_path, file.path).then(|| format!("{file} leads out of the repository"))
                    }
                },
            }
        };
        named_files(helm).filter_map(refused).collect()
    }

    /// Returns the messages about values that have no effect in a chart of a repository. Only a `helm` block and the name of the plugin
    /// make it a chart without asking plugins.
    async fn values_without_effect(&self, known: &KnownSource) -> Vec<String> {
        let plugin = self.renderer.catalogue.get(HELM_PLUGIN);
        if plugin.is_some_and(|plugin| plugin.inputs() != InputRule::Chart) {
            return Vec::new();
        }
        let KnownSource { prepared: Preparation { source, .. }, app_path, revision: files } = known;
        let values = chart_values(source, None);
        if values.is_empty() {
            return Vec::new();
        }
        let IndexedRevision { revision, index } = files;
        let mut collector = PathCollector::new(index);
        if collector.add(app_path, "the chart").is_err() {
            return Vec::new();
        }
        let digest = collector.finish().digest(index);
        let keys = self.renderer.chart_keys(revision, index, (app_path, digest)).await;
        let Some(keys) = keys else { return Vec::new() };
        let unread = keys.without_effect(source, None);
        let mut messages: Vec<String> = unread
            .iter()
            .map(|value| format!("{} has no effect in {}", value.shown_name(), keys.chart()))
            .collect();
        messages.dedup();
        messages
    }

    /// Returns the messages about text that helm ignores in the values of a chart, its value files and its inline values. Files of patterns, and
    /// paths with variables, are not looked at.
    async fn ignored_text(&self, of: SourceOf<'_>, known: &KnownSource) -> Vec<String> {
        let KnownSource { prepared: Preparation { source, .. }, app_path, revision: own } = known;
        let Some(helm) = &source.helm else { return Vec::new() };
        let inline = helm.values.as_bytes();
        let mut messages =
            if helm.values_object.is_some() { Vec::new() } else { ignored_text("parameter values", inline) };
        let mut of_sources: BTreeMap<&str, Vec<RepoPath>> = BTreeMap::new();
        for file in helm.value_files.iter().map(String::as_str).chain(["values.yaml"]) {
            let (name, from, rest) = match file.strip_prefix('$').and_then(|path| path.split_once('/')) {
                Some((name, rest)) => (name, &RepoPath::default(), rest),
                None => ("", app_path, file),
            };
            let is_plain =
                is_literal(rest) && !rest.contains(PATTERN_CHARACTERS) && url_scheme(rest).is_none();
            if let (true, Ok(path)) = (is_plain, path_in_repository(from, rest)) {
                of_sources.entry(name).or_default().push(path);
            }
        }
        let references = of.sources.references().unwrap_or_default();
        for (name, paths) in of_sources {
            if name.is_empty() {
                messages.extend(self.ignored_in_files(own, "", paths).await);
            } else if let Some(other) = references.get(name)
                && let Ok(Some(other)) = self.index_of(other).await
            {
                messages.extend(self.ignored_in_files(&other, &format!("${name}/"), paths).await);
            }
        }
        messages
    }

    /// Returns the messages about text that helm ignores in files of a revision, which are shown with this prefix.
    async fn ignored_in_files(
        &self,
        revision: &IndexedRevision,
        prefix: &str,
        paths: Vec<RepoPath>,
    ) -> Vec<String> {
        let mut collector = PathCollector::new(&revision.index);
        let files: Vec<RepoPath> = paths.iter().filter_map(|path| collector.follow(path).ok()).collect();
        let sources = &self.renderer.sources;
        let reading = sources.read_files(&revision.revision, Some(&files), |_| true, CHART_FILE_BYTES_MAX);
        let read = Box::pin(reading).await.unwrap_or_default();
        read.iter().flat_map(|(path, text)| ignored_text(&format!("{prefix}{path}"), text)).collect()
    }

    /// Returns the messages about missing files of other sources.
    async fn missing_files_of_references(&self, of: SourceOf<'_>, source: &ApplicationSource) -> Vec<String> {
        let Ok(known) = of.sources.references() else { return Vec::new() };
        let Some(helm) = &source.helm else { return Vec::new() };
        let mut problems = Vec::new();
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

/// Returns the messages about missing files of a source's own repository.
fn missing_files(known: &KnownSource) -> Vec<String> {
    let Some(helm) = &known.prepared.source.helm else { return Vec::new() };
    let missing = checked_files(helm).filter(|file| lacks(&known.revision.index, &known.app_path, file.path));
    missing.map(|file| format!("{file} does not exist")).collect()
}

/// A file that a `helm` block names.
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

/// Returns the files that a `helm` block names.
fn named_files(helm: &HelmSource) -> impl Iterator<Item = NamedFile<'_>> {
    let value_files = helm.value_files.iter().map(|path| NamedFile { path, parameter: None });
    value_files.chain(
        helm.file_parameters.iter().map(|one| NamedFile { path: &one.path, parameter: Some(&one.name) }),
    )
}

/// Returns the files that must exist.
fn checked_files(helm: &HelmSource) -> impl Iterator<Item = NamedFile<'_>> {
    named_files(helm).filter(|file| file.parameter.is_some() || !helm.ignore_missing_value_files)
}

/// Returns the message about a path that begins with the name of a source that does not exist. In an application with `sources`, each
/// dollar sign at the beginning is such a name, also that of a variable.
fn unknown_reference(known: &BTreeMap<&str, &ApplicationSource>, file: &str) -> String {
    let names: Vec<String> = known.keys().map(|name| format!("${name}")).collect();
    match names.as_slice() {
        [] => format!("{file:?} refers to a source, but no source has a `ref`"),
        names => format!("{file:?} refers to an unknown source; known are {}", names.join(", ")),
    }
}

/// Whether a path has no variables and escapes, so that it is known what it names.
fn is_literal(file: &str) -> bool {
    !file.contains(['$', '\\', '\n', '\r'])
}

/// Returns the path that a file has in its repository.
fn path_in_repository(from: &RepoPath, file: &str) -> Result<RepoPath, PathError> {
    let root = RepoPath::default();
    let from = if file.starts_with('/') { &root } else { from };
    from.join(file.trim_start_matches('/'))
}

/// Whether a path is known to lead out of its repository.
fn leads_out(from: &RepoPath, file: &str) -> bool {
    let path = path_in_repository(from, file);
    is_literal(file) && url_scheme(file).is_none() && matches!(path, Err(PathError::Outside { .. }))
}

/// Whether a file is known not to exist. Paths with variables, escapes or patterns, and URLs, are not known.
fn lacks(index: &RevisionIndex, from: &RepoPath, file: &str) -> bool {
    let Ok(path) = path_in_repository(from, file) else { return false };
    let is_plain = is_literal(file) && !file.contains(PATTERN_CHARACTERS);
    is_plain && url_scheme(file).is_none() && PathCollector::new(index).has_file(&path) == Ok(false)
}
