//! The chart of a request with its subcharts, limited to what affects values.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_chart::{Chart, LoadError, LoadLimits};
use tiphys_helm_values::HelmVersion;
use tiphys_tree::read_bounded;

use super::AnnounceError;
use super::documents::Documents;
use crate::chart::{Content, Dependency, FilesError, add_built, files};
use crate::dependencies::{cached_charts, local_charts};
use crate::request::Request;
use crate::value_files::joined;

/// A chart, whose paths are those in the repository. That of an archive is the archive's.
#[derive(Debug)]
pub(super) struct LoadedChart {
    pub(super) chart: Chart,
    /// The files of each chart, by its path.
    parsed: BTreeMap<String, ParsedFiles>,
}

/// Files of a chart that announcements read in another way than helm.
#[derive(Debug)]
struct ParsedFiles {
    /// The documents of `values.yaml`.
    documents: Documents,
    /// `values.schema.json`, if it is JSON. Helm rejects an invalid one when it validates values.
    schema: Option<serde_json::Value>,
}

impl LoadedChart {
    /// Loads the chart of a request. Missing dependencies are read from the cache of fetched charts, and those with a relative `file://` URL
    /// where they are, if that is within the repository.
    pub(super) fn of(request: &Request, version: HelmVersion) -> Result<Self, AnnounceError> {
        let loader = Loader { request, version, limits: request.settings.chart_bounds.of_chart(version) };
        let chart = loader.load()?;
        let mut parsed = BTreeMap::new();
        add_parsed(&chart, &mut parsed);
        Ok(Self { chart, parsed })
    }

    pub(super) fn documents(&self, chart: &Chart) -> Option<&Documents> {
        Some(&self.parsed.get(&chart.path)?.documents)
    }

    pub(super) fn schema(&self, chart: &Chart) -> Option<&serde_json::Value> {
        self.parsed.get(&chart.path)?.schema.as_ref()
    }
}

fn add_parsed(chart: &Chart, parsed: &mut BTreeMap<String, ParsedFiles>) {
    let schema = chart.schema.as_ref().and_then(|schema| serde_json::from_slice(schema).ok());
    parsed.insert(chart.path.clone(), ParsedFiles { documents: Documents::default(), schema });
    chart.subcharts.iter().for_each(|subchart| add_parsed(subchart, parsed));
}

struct Loader<'a> {
    request: &'a Request,
    version: HelmVersion,
    limits: LoadLimits,
}

impl Loader<'_> {
    fn load(&self) -> Result<Chart, AnnounceError> {
        let Request { root, app_path, .. } = self.request;
        let mut files = files(root, app_path, Content::Values, self.limits)?;
        let mut chart = Chart::of_directory(files.clone(), self.version, self.limits)?;
        let place = self.place(app_path);
        if chart.missing_dependencies().next().is_none() {
            chart.move_below(&place);
            return Ok(chart);
        }
        if let Some(cached) = cached_charts(self.request) {
            add_built(&mut files, &cached);
            chart = Chart::of_directory(files, self.version, self.limits)?;
        }
        chart.move_below(&place);
        self.add_beside(&mut chart)?;
        Ok(chart)
    }

    /// Adds dependencies elsewhere in the repository, and those in the caller's directories. Helm builds all of them if one is missing.
    /// Those in `charts` take precedence over built ones.
    fn add_beside(&self, chart: &mut Chart) -> Result<(), AnnounceError> {
        let Request { root, app_path, .. } = self.request;
        let is_present =
            |one: &Dependency| chart.subcharts.iter().any(|subchart| subchart.is_selected_by(one));
        let listed = chart.metadata.dependencies.iter().flatten();
        let missing: Vec<&Dependency> = listed.filter(|dependency| !is_present(dependency)).collect();
        let beside = missing
            .iter()
            .filter_map(|dependency| dependency.repository.strip_prefix("file://"))
            .filter(|path| !path.starts_with('/'))
            .map(|path| joined(app_path, Path::new(path)))
            .filter(|path| path.starts_with(root) && path.join("Chart.yaml").is_file());
        let paths: Vec<PathBuf> = beside.chain(local_charts(self.request, &missing)).collect();
        for path in paths {
            let loaded = if path.is_dir() { self.load_directory(&path) } else { self.load_archive(&path) };
            let place = self.place(&path);
            let mut subchart = loaded?.map_err(|source| LoadError::Subchart {
                file: place.clone(),
                chart: chart.metadata.name.clone(),
                source: Box::new(source),
            })?;
            subchart.move_below(&place);
            chart.subcharts.push(subchart);
        }
        Ok(())
    }

    fn load_directory(&self, folder: &Path) -> Result<Result<Chart, LoadError>, FilesError> {
        let root = &self.request.root;
        let root = if folder.starts_with(root) { root } else { folder };
        let files = files(root, folder, Content::Values, self.limits)?;
        Ok(Chart::of_directory(files, self.version, self.limits))
    }

    fn load_archive(&self, path: &Path) -> Result<Result<Chart, LoadError>, FilesError> {
        let fail = |cause: io::Error| FilesError::Read { path: path.to_path_buf(), cause };
        let too_large = || FilesError::TooLarge(path.to_path_buf());
        let bytes = read_bounded(path, self.limits.bytes).map_err(fail)?.ok_or_else(too_large)?;
        Ok(Chart::of_archive(&bytes, self.version, self.limits))
    }

    /// Returns a path in the repository.
    fn place(&self, path: &Path) -> String {
        path.strip_prefix(&self.request.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Returns the path of a chart's `values.yaml` in the repository.
pub(super) fn values_file(chart: &Chart) -> String {
    let separator = if chart.path.is_empty() { "" } else { "/" };
    format!("{}{separator}values.yaml", chart.path)
}
