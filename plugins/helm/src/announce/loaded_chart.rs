//! A chart with its subcharts, as far as values go: what helm's loader reads, and in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tiphys_helm_values::{HelmVersion, Map};
use tiphys_versions::Version;
use tiphys_yaml::{DecodeError, Error as YamlError, Node, Object, read_document};

use super::values_text::{ValuesTextError, read as read_values};
use crate::chart::{self, ChartBounds, ChartFiles, Dependency, FileError, ListError, Subchart};
use crate::dependencies::KeptCharts;
use crate::value_files::joined;

/// Charts within charts, the application's own included.
const DEPTH_MAX: usize = 10;

/// What loading depends on.
pub(super) struct Loader<'a> {
    /// The repository's folder.
    pub(super) root: &'a Path,
    /// How much is looked at.
    pub(super) bounds: ChartBounds,
    /// Which helm reads values.
    pub(super) version: HelmVersion,
    /// Dependencies that an earlier run has built.
    pub(super) built: &'a dyn Fn() -> Option<KeptCharts>,
}

/// A chart.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadedChart {
    /// Its name in its own `Chart.yaml`.
    pub(super) name: String,
    /// Its version there; `None` if that is no version.
    version: Option<Version>,
    /// What its list of dependencies says; `None` if it has none.
    pub(super) dependencies: Option<Vec<Dependency>>,
    pub(super) values: Map,
    /// The text of `values.yaml`, for its comments and the order of its keys.
    pub(super) values_text: Vec<u8>,
    /// `values.schema.json`, if it is JSON. One that is not is helm's to refuse, which it only does where it checks the values.
    pub(super) schema: Option<serde_json::Value>,
    /// Bytes of its own values and schema.
    pub(super) bytes: usize,
    /// The charts of its folder `charts`, sorted by the names that their files have there, and then those beside it.
    pub(super) subcharts: Vec<LoadedChart>,
}

/// Why a chart cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// One of its files.
    #[error(transparent)]
    File(#[from] FileError),
    /// It has no `Chart.yaml`.
    #[error("Chart.yaml file is missing")]
    NoChart,
    /// `Chart.yaml`, or `requirements.yaml`, is not YAML.
    #[error("cannot load {name}: error converting YAML to JSON: yaml: {problem}")]
    Yaml {
        /// The file.
        name: &'static str,
        /// Where, and what is wrong.
        problem: String,
    },
    /// One of them has another shape.
    #[error("cannot load {name}: error unmarshaling JSON")]
    Shape {
        /// The file.
        name: &'static str,
        /// The field.
        #[source]
        source: DecodeError,
    },
    /// A field that every chart has.
    #[error("validation: chart.metadata.{field} is required")]
    Required {
        /// The field.
        field: &'static str,
    },
    /// Two lines of the list would have their values at one place.
    #[error("validation: more than one dependency with name or alias {name:?}")]
    Twice {
        /// The place.
        name: String,
    },
    /// The values.
    #[error("cannot load values.yaml: cannot unmarshal yaml document")]
    Values(#[source] ValuesTextError),
    /// A subchart.
    #[error("error unpacking subchart {file} in {chart}")]
    Subchart {
        /// Its file or folder in `charts`.
        file: String,
        /// The chart that has it.
        chart: String,
        /// Why.
        #[source]
        source: Box<LoadError>,
    },
    /// Too many charts within one another.
    #[error("more than {DEPTH_MAX} charts are within one another; look for a link among the folders charts")]
    TooDeep,
    /// Too many of them.
    #[error(
        "there are more than {max} charts with their subcharts; look at more with TIPHYS_HELM_CHARTS_MAX"
    )]
    TooMany {
        /// The bound.
        max: usize,
    },
    /// Too many values.
    #[error(
        "the values and schemas of the chart and its subcharts have more than {max} bytes; read more with \
         TIPHYS_HELM_CHARTS_BYTES_MAX"
    )]
    TooLarge {
        /// The bound.
        max: usize,
    },
}

impl LoadError {
    /// Whether helm may load the chart all the same.
    pub(super) fn is_past_bound(&self) -> bool {
        match self {
            Self::TooMany { .. } | Self::TooLarge { .. } | Self::File(FileError::ValuesTooLarge { .. }) => {
                true
            }
            Self::Values(error) => error.is_past_bound(),
            Self::Subchart { source, .. } => source.is_past_bound(),
            _ => false,
        }
    }
}

impl Loader<'_> {
    /// Reads a chart's folder. Where helm would build dependencies, those count that an earlier run has built; if it has built none, those
    /// with `file://` that are not in the folder `charts` are read where they are, if that is within the repository.
    pub(super) fn load(&self, folder: &Path) -> Result<LoadedChart, LoadError> {
        let mut loading = Loading { loader: self, charts: 0, bytes: 0 };
        loading.load(&ChartFiles::Folder(folder.to_path_buf()), 1)
    }
}

impl LoadedChart {
    /// Whether helm takes the chart for a line of the list of the chart that has it.
    pub(super) fn is_meant_by(&self, dependency: &Dependency) -> bool {
        dependency.takes(&self.name, self.version.as_ref())
    }

    /// Whether helm would build dependencies: it looks for names alone.
    fn has_missing_ones(&self) -> bool {
        let is_there = |one: &Dependency| self.subcharts.iter().any(|chart| chart.name == one.name);
        !self.dependencies.iter().flatten().all(is_there)
    }
}

/// A chart that is being loaded, and what was read so far.
struct Loading<'a> {
    loader: &'a Loader<'a>,
    /// Charts.
    charts: usize,
    /// Bytes of values and schemas.
    bytes: usize,
}

impl Loading<'_> {
    fn load(&mut self, files: &ChartFiles, depth: usize) -> Result<LoadedChart, LoadError> {
        self.charts += 1;
        if depth > DEPTH_MAX {
            return Err(LoadError::TooDeep);
        }
        if self.charts > self.loader.bounds.charts {
            return Err(LoadError::TooMany { max: self.loader.bounds.charts });
        }
        let mut chart = metadata(files, self.loader.bounds)?;
        if let Some(text) = files.read_values("values.yaml", self.loader.bounds.bytes)? {
            self.count(&mut chart, text.len())?;
            chart.values = read_values(&text, self.loader.version).map_err(LoadError::Values)?;
            chart.values_text = text;
        }
        if let Some(text) = files.read_values("values.schema.json", self.loader.bounds.bytes)? {
            self.count(&mut chart, text.len())?;
            chart.schema = serde_json::from_slice(&text).ok();
        }
        for (file, subchart) in files.subcharts()? {
            self.load_subchart(&mut chart, file, subchart, depth)?;
        }
        // Helm builds what is missing of the chart itself, and renders subcharts as they are.
        if let ChartFiles::Folder(folder) = files
            && depth == 1
            && chart.has_missing_ones()
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
        let loaded = subchart.open().map_err(LoadError::from).and_then(|files| self.load(&files, depth + 1));
        let fail = |source| LoadError::Subchart { file, chart: chart.name.clone(), source: Box::new(source) };
        let loaded = loaded.map_err(fail)?;
        chart.subcharts.push(loaded);
        Ok(())
    }

    /// Reads the chart's folder `charts` again, as it was with what an earlier run has built.
    fn load_built(
        &mut self,
        chart: &mut LoadedChart,
        files: &ChartFiles,
        built: KeptCharts,
        depth: usize,
    ) -> Result<(), LoadError> {
        let KeptCharts { came, went } = built;
        let mut all: BTreeMap<String, Subchart> = files.subcharts()?.into_iter().collect();
        all.retain(|file, _| !went.contains(file));
        let packed = |(file, bytes): (String, Vec<u8>)| Some((file.clone(), Subchart::packed(&file, bytes)?));
        all.extend(came.into_iter().filter_map(packed));
        chart.subcharts.clear();
        (self.charts, self.bytes) = (1, chart.bytes);
        for (file, subchart) in all {
            self.load_subchart(chart, file, subchart, depth)?;
        }
        Ok(())
    }

    /// Adds the dependencies that are elsewhere in the repository. Helm builds all of them as soon as one is missing, and what is in
    /// `charts` is taken before what is built.
    fn load_beside(&mut self, chart: &mut LoadedChart, folder: &Path, depth: usize) -> Result<(), LoadError> {
        let is_there = |one: &Dependency| chart.subcharts.iter().any(|subchart| subchart.is_meant_by(one));
        let missing: Vec<PathBuf> = chart
            .dependencies
            .iter()
            .flatten()
            .filter(|dependency| !is_there(dependency))
            .filter_map(|dependency| dependency.repository.strip_prefix("file://"))
            .filter(|path| !path.starts_with('/'))
            .map(|path| joined(folder, Path::new(path)))
            .filter(|path| path.starts_with(self.loader.root) && path.join("Chart.yaml").is_file())
            .collect();
        for path in missing {
            let loaded = self.load(&ChartFiles::Folder(path), depth + 1)?;
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

/// A chart without values and subcharts.
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

/// An error of the YAML reader as Go's has it.
pub(super) fn problem(error: &YamlError) -> String {
    let line = error.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
    format!("{line}{}", error.message)
}
