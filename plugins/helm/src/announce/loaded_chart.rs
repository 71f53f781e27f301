//! Loads a chart with its subcharts, limited to what affects values, as helm's loader does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tiphys_go::versions::Version;
use tiphys_helm_values::{HelmVersion, Map};
use tiphys_yaml::{DecodeError, Error as YamlError, Node, Object, read_document};

use super::documents::Documents;
use super::values_text::{self, ValuesTextError};
use crate::chart::{self, ChartBounds, ChartFiles, Dependency, FileError, ListError, SUBCHARTS, Subchart};
use crate::dependencies::BuiltCharts;
use crate::value_files::joined;

/// Maximum nesting of charts, with the application's chart.
const DEPTH_MAX: usize = 10;

/// Input of loading.
pub(super) struct Loader<'a> {
    /// The repository's directory.
    pub(super) root: &'a Path,
    pub(super) bounds: ChartBounds,
    /// The helm version whose YAML rules apply.
    pub(super) version: HelmVersion,
    /// Dependencies built by an earlier run.
    pub(super) built: &'a dyn Fn() -> Option<BuiltCharts>,
    /// Returns directories and archives that replace the charts of dependencies.
    pub(super) local: &'a dyn Fn(&[&Dependency]) -> Vec<PathBuf>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct LoadedChart {
    /// Its directory in the repository; that of an archive is below the archive's path. Empty at the root.
    pub(super) place: String,
    /// The name in `Chart.yaml`.
    pub(super) name: String,
    /// The version in `Chart.yaml`; `None` if it is invalid.
    version: Option<Version>,
    /// The list of dependencies; `None` if the chart has none.
    pub(super) dependencies: Option<Vec<Dependency>>,
    pub(super) values: Map,
    /// The content of `values.yaml`, for its comments and the order of its keys.
    pub(super) values_text: Vec<u8>,
    /// The documents of `values.yaml`.
    pub(super) documents: Documents,
    /// `values.schema.json`, if it is JSON. Helm rejects an invalid one when it validates values.
    pub(super) schema: Option<serde_json::Value>,
    /// Bytes of its own values and schema.
    pub(super) bytes: usize,
    /// The charts in `charts`, sorted by file name, followed by those elsewhere in the repository.
    pub(super) subcharts: Vec<LoadedChart>,
}

/// Errors of loading a chart.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("Chart.yaml file is missing")]
    NoChart,
    /// `Chart.yaml` or `requirements.yaml` is not YAML.
    #[error("cannot load {name}: error converting YAML to JSON: yaml: {problem}")]
    Yaml {
        name: &'static str,
        /// Position and message.
        problem: String,
    },
    /// A field has the wrong type.
    #[error("cannot load {name}: error unmarshaling JSON")]
    Shape {
        name: &'static str,
        #[source]
        source: DecodeError,
    },
    /// A required field is missing.
    #[error("validation: chart.metadata.{field} is required")]
    Required { field: &'static str },
    /// Two dependencies would have their values under one key.
    #[error("validation: more than one dependency with name or alias {name:?}")]
    Twice { name: String },
    #[error("cannot load values.yaml: cannot unmarshal yaml document")]
    Values(#[source] ValuesTextError),
    #[error("error unpacking subchart {file} in {chart}")]
    Subchart {
        /// Its file or directory in `charts`.
        file: String,
        /// The parent chart.
        chart: String,
        #[source]
        source: Box<LoadError>,
    },
    #[error("charts are nested more than {DEPTH_MAX} deep; look for a link in a charts directory")]
    TooDeep,
    #[error("there are more than {max} charts, including subcharts; increase TIPHYS_HELM_CHARTS_MAX")]
    TooMany { max: usize },
    #[error(
        "the values and schemas of the chart and its subcharts have more than {max} bytes; increase \
         TIPHYS_HELM_CHARTS_BYTES_MAX"
    )]
    TooLarge { max: usize },
}

impl LoadError {
    /// Whether a limit is the cause. Helm may still load the chart.
    pub(super) fn exceeds_limit(&self) -> bool {
        match self {
            Self::TooMany { .. } | Self::TooLarge { .. } | Self::File(FileError::ValuesTooLarge { .. }) => {
                true
            }
            Self::Values(error) => error.exceeds_limit(),
            Self::Subchart { source, .. } => source.exceeds_limit(),
            _ => false,
        }
    }
}

impl Loader<'_> {
    /// Reads a chart's directory. If helm would build dependencies, those of an earlier build are used. Without one, dependencies with a
    /// relative `file://` URL are read where they are, if that is within the repository.
    pub(super) fn load(&self, folder: &Path) -> Result<LoadedChart, LoadError> {
        let mut loading = Loading { loader: self, charts: 0, bytes: 0 };
        loading.load(&ChartFiles::Folder(folder.to_path_buf()), self.shown(folder), 1)
    }

    /// Returns a directory's path in the repository.
    fn shown(&self, folder: &Path) -> String {
        folder.strip_prefix(self.root).unwrap_or(folder).to_string_lossy().into_owned()
    }
}

impl LoadedChart {
    /// Whether helm takes this chart for a dependency of its parent.
    pub(super) fn is_selected_by(&self, dependency: &Dependency) -> bool {
        dependency.takes(&self.name, self.version.as_ref())
    }

    /// Whether helm would build dependencies. It compares names only.
    fn has_missing_dependencies(&self) -> bool {
        let is_present = |one: &Dependency| self.subcharts.iter().any(|chart| chart.name == one.name);
        !self.dependencies.iter().flatten().all(is_present)
    }
}

/// State of loading.
struct Loading<'a> {
    loader: &'a Loader<'a>,
    charts: usize,
    /// Bytes of values and schemas so far.
    bytes: usize,
}

impl Loading<'_> {
    fn load(&mut self, files: &ChartFiles, place: String, depth: usize) -> Result<LoadedChart, LoadError> {
        self.charts += 1;
        if depth > DEPTH_MAX {
            return Err(LoadError::TooDeep);
        }
        if self.charts > self.loader.bounds.charts {
            return Err(LoadError::TooMany { max: self.loader.bounds.charts });
        }
        let mut chart = LoadedChart { place, ..metadata(files, self.loader.bounds)? };
        if let Some(text) = files.read_values("values.yaml", self.loader.bounds.bytes)? {
            self.count(&mut chart, text.len())?;
            chart.values = values_text::read(&text, self.loader.version).map_err(LoadError::Values)?;
            chart.values_text = text;
        }
        if let Some(text) = files.read_values("values.schema.json", self.loader.bounds.bytes)? {
            self.count(&mut chart, text.len())?;
            chart.schema = serde_json::from_slice(&text).ok();
        }
        for (file, subchart) in files.subcharts()? {
            self.load_subchart(&mut chart, file, subchart, depth)?;
        }
        // Helm builds missing dependencies of the chart itself, not of its subcharts.
        if let ChartFiles::Folder(folder) = files
            && depth == 1
            && chart.has_missing_dependencies()
        {
            match (self.loader.built)() {
                Some(built) => self.load_built(&mut chart, files, built, depth)?,
                None => self.load_beside(&mut chart, folder, depth)?,
            }
        }
        Ok(chart)
    }

    fn load_subchart(
        &mut self,
        chart: &mut LoadedChart,
        file: String,
        subchart: Subchart,
        depth: usize,
    ) -> Result<(), LoadError> {
        let place = below(&chart.place, &format!("{SUBCHARTS}/{file}"));
        let loaded = subchart.open().map_err(LoadError::from);
        let loaded = loaded.and_then(|files| self.load(&files, place, depth + 1));
        let fail = |source| LoadError::Subchart { file, chart: chart.name.clone(), source: Box::new(source) };
        let loaded = loaded.map_err(fail)?;
        chart.subcharts.push(loaded);
        Ok(())
    }

    /// Reads the chart's `charts` again, with the result of an earlier build.
    fn load_built(
        &mut self,
        chart: &mut LoadedChart,
        files: &ChartFiles,
        built: BuiltCharts,
        depth: usize,
    ) -> Result<(), LoadError> {
        let BuiltCharts { added, removed } = built;
        let mut all: BTreeMap<String, Subchart> = files.subcharts()?.into_iter().collect();
        all.retain(|file, _| !removed.contains(file));
        let packed = |(file, bytes): (String, Vec<u8>)| Some((file.clone(), Subchart::packed(&file, bytes)?));
        all.extend(added.into_iter().filter_map(packed));
        chart.subcharts.clear();
        (self.charts, self.bytes) = (1, chart.bytes);
        for (file, subchart) in all {
            self.load_subchart(chart, file, subchart, depth)?;
        }
        Ok(())
    }

    /// Adds dependencies elsewhere in the repository, and those in the caller's directories. Helm builds all of them if one is missing. Those in `charts` take precedence over
    /// built ones.
    fn load_beside(&mut self, chart: &mut LoadedChart, folder: &Path, depth: usize) -> Result<(), LoadError> {
        let is_present =
            |one: &Dependency| chart.subcharts.iter().any(|subchart| subchart.is_selected_by(one));
        let missing: Vec<&Dependency> =
            chart.dependencies.iter().flatten().filter(|dependency| !is_present(dependency)).collect();
        let local = (self.loader.local)(&missing);
        let beside: Vec<PathBuf> = missing
            .iter()
            .filter_map(|dependency| dependency.repository.strip_prefix("file://"))
            .filter(|path| !path.starts_with('/'))
            .map(|path| joined(folder, Path::new(path)))
            .filter(|path| path.starts_with(self.loader.root) && path.join("Chart.yaml").is_file())
            .collect();
        for path in beside.into_iter().chain(local) {
            let place = self.loader.shown(&path);
            let files = if path.is_dir() {
                ChartFiles::Folder(path)
            } else {
                Subchart::ArchiveFile(path, place.clone()).open()?
            };
            let loaded = self.load(&files, place, depth + 1)?;
            chart.subcharts.push(loaded);
        }
        Ok(())
    }

    fn count(&mut self, chart: &mut LoadedChart, bytes: usize) -> Result<(), LoadError> {
        chart.bytes += bytes;
        self.bytes += bytes;
        let max = self.loader.bounds.bytes;
        if self.bytes > max { Err(LoadError::TooLarge { max }) } else { Ok(()) }
    }
}

/// Returns a path below a directory, which is empty at the root.
pub(super) fn below(directory: &str, path: &str) -> String {
    if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") }
}

/// Reads a chart without values and subcharts.
fn metadata(files: &ChartFiles, bounds: ChartBounds) -> Result<LoadedChart, LoadError> {
    let name = chart::CHART;
    let text = files.read(name)?.ok_or(LoadError::NoChart)?;
    let own = document(name, &text)?;
    let mut chart = LoadedChart::default();
    let mut version = String::new();
    if let Some(node) = &own {
        let shape = |source| LoadError::Shape { name, source };
        let mut fields = Object::new(node, "").map_err(shape)?;
        let text = |found: Option<&str>| found.unwrap_or_default().to_owned();
        chart.name = fields.text("name").map(text).map_err(shape)?;
        version = fields.text("version").map(text).map_err(shape)?;
    }
    for (field, value) in [("name", &chart.name), ("version", &version)] {
        if value.is_empty() {
            return Err(LoadError::Required { field });
        }
    }
    chart.version = Version::parse(&version).ok();
    let name = chart::REQUIREMENTS;
    let more = match files.read(name)? {
        Some(text) => document(name, &text)?,
        None => None,
    };
    let lists = chart::lists(own.as_ref(), more.as_ref());
    let list = chart::dependencies(&lists, bounds.dependencies);
    chart.dependencies =
        list.map_err(|ListError { file, source }| LoadError::Shape { name: file, source })?;
    let mut names = BTreeSet::new();
    let twice =
        chart.dependencies.iter().flatten().map(Dependency::known_as).find(|name| !names.insert(*name));
    match twice {
        None => Ok(chart),
        Some(name) => Err(LoadError::Twice { name: name.to_owned() }),
    }
}

fn document(name: &'static str, text: &[u8]) -> Result<Option<Node>, LoadError> {
    let node = read_document(text).map_err(|error| LoadError::Yaml { name, problem: problem(&error) })?;
    Ok(node.map(Node::deduplicated))
}

/// Formats an error of the YAML reader as Go does.
pub(super) fn problem(error: &YamlError) -> String {
    let line = error.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
    format!("{line}{}", error.message)
}
