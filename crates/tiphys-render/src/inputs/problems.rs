//! What can be said of an application's sources without rendering: paths and value files that do not exist, and unknown plugins.

use tiphys_access::url_scheme;
use tiphys_api::{Application, ApplicationSource};
use tiphys_engine::{BuildEnvironment, SourcePlace, translate};
use tiphys_tree::RepoPath;

use super::paths::PathCollector;
use super::{Finder, IndexedRevision, Known, PATTERN_CHARACTERS, Reach};
use crate::renderer::{Renderer, rendered};

/// The reason why a source cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    /// The position of the source, from 1.
    pub position: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Renderer {
    /// Returns the problems of an application's sources, in their order. Repositories that no folder stands for are not looked at, and nothing
    /// is fetched or run.
    pub async fn source_problems(&self, application: &Application) -> Vec<SourceProblem> {
        let finder = Finder { renderer: self, application, reach: Reach::Copies };
        let (sources, place) = match tiphys_engine::sources(&application.spec) {
            Ok(sources) => sources,
            Err(error) => return vec![SourceProblem { position: 1, message: error.to_string() }],
        };
        let mut all = Vec::new();
        for (index, source) in rendered(&sources, place) {
            let messages = [finder.unknown_plugin(source), refused(source)]
                .into_iter()
                .flatten()
                .chain(Box::pin(finder.missing_files(source)).await);
            all.extend(messages.map(|message| SourceProblem { position: index + 1, message }));
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
            Ok(Known { source, .. }) => source,
            Err(reason) => return vec![reason],
        };
        let Some(helm) = &source.helm else { return Vec::new() };
        let mut is_missing = |file: &String| {
            let is_plain = !file.contains(['$', '\\']) && !file.contains(PATTERN_CHARACTERS);
            let from = if file.starts_with('/') { RepoPath::default() } else { app_path.clone() };
            let Ok(path) = from.join(file.trim_start_matches('/')) else { return false };
            is_plain && url_scheme(file).is_none() && collector.has_file(&path) == Ok(false)
        };
        let value_files = if helm.ignore_missing_value_files { &[] } else { helm.value_files.as_slice() };
        let mut problems = Vec::new();
        problems.extend(
            value_files
                .iter()
                .filter(|file| is_missing(file))
                .map(|file| format!("value file {file:?} does not exist")),
        );
        problems.extend(helm.file_parameters.iter().filter(|parameter| is_missing(&parameter.path)).map(
            |parameter| {
                format!("file {:?} of fileParameter {:?} does not exist", parameter.path, parameter.name)
            },
        ));
        problems
    }
}
