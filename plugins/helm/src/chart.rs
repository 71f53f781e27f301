//! Reads a chart's metadata: its dependencies, and those in its lock files.

mod cache;
mod files;

use std::io;
use std::path::{Path, PathBuf};

use tiphys_tree::read_bounded;
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use crate::failure::go_words;

pub(crate) use tiphys_chart::Dependency;
use tiphys_chart::{ListError, LoadLimits, dependencies};
use tiphys_helm_values::HelmVersion;

pub(crate) use cache::{ChartCache, ChartKey};
pub(crate) use files::{Content, FilesError, add_built, files};

/// The chart's metadata file.
pub(crate) const CHART: &str = "Chart.yaml";

/// The file with the dependencies of charts with `apiVersion: v1`. Helm also reads it for others.
pub(crate) const REQUIREMENTS: &str = "requirements.yaml";

/// The directory with a chart's subcharts.
pub(crate) const CHARTS: &str = "charts";

/// The suffix of packed charts.
pub(crate) const PACKED: &str = ".tgz";

/// The file that hides files of a chart from helm.
pub(crate) const HELM_IGNORE: &str = ".helmignore";

/// The lock files. If both exist, helm uses the last.
pub(crate) const LOCKS: [&str; 2] = ["Chart.lock", "requirements.lock"];

/// Maximum bytes of a packed chart: helm's limit of the unpacked size.
pub(crate) const PACKED_CHART_BYTES_MAX: u64 = 100 << 20;

/// Maximum size of `Chart.yaml` in bytes: helm's limit of one file of a chart.
pub(crate) const CHART_BYTES_MAX: u64 = 5 << 20;

/// Limits of what is read from charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChartBounds {
    /// Total number of charts of an announcement.
    pub(crate) charts: usize,
    /// Bytes of values and schemas of all these charts; counted once per alias.
    pub(crate) bytes: usize,
    /// Entries of one chart's list of dependencies.
    pub(crate) dependencies: usize,
}

impl ChartBounds {
    /// Returns the limits of a loaded chart.
    pub(crate) fn of_chart(self, version: HelmVersion) -> LoadLimits {
        let Self { charts, bytes, dependencies } = self;
        LoadLimits { charts, values_bytes: bytes, dependencies, ..LoadLimits::new(version) }
    }
}

/// Metadata of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chart {
    pub(crate) name: String,
    /// Its version; may be empty, which helm reports.
    pub(crate) version: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A lock file: the result of an earlier build of the dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) file: &'static str,
    /// The dependencies; `None` for an empty file, which helm treats as missing.
    pub(crate) dependencies: Option<Vec<Dependency>>,
    /// The digest of the list of dependencies; empty without one.
    pub(crate) digest: String,
}

/// Errors of a chart's metadata, in Argo CD's words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChartError {
    #[error("error retrieving helm dependency repos: error reading helm chart from {path}: open {path}: {}", go_words(cause), path = path.display())]
    Read {
        path: PathBuf,
        /// Part of the message.
        cause: io::Error,
    },
    #[error("error retrieving helm dependency repos: error reading helm chart from {path}: it has more than {bytes_max} bytes", path = path.display())]
    TooLarge { path: PathBuf, bytes_max: u64 },
    #[error(
        "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: \
         error converting YAML to JSON: yaml: {problem}"
    )]
    Yaml {
        /// Its name; not part of Argo CD's words.
        file: String,
        /// Line and message.
        problem: String,
    },
    /// A field has the wrong type.
    #[error(
        "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: \
         error unmarshaling JSON: {file}: {problem}"
    )]
    Shape {
        file: &'static str,
        /// The field; part of the message.
        problem: DecodeError,
    },
}

impl ChartError {
    /// Returns the file and its problem, without Argo CD's layers.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Read { path, cause } => format!("{}: {}", file_name(path), go_words(cause)),
            Self::TooLarge { path, bytes_max } => {
                format!("{} has more than {bytes_max} bytes", file_name(path))
            }
            Self::Yaml { file, problem } => format!("{file} is not valid YAML: {problem}"),
            Self::Shape { file, problem } => format!("{file}: {problem}"),
        }
    }
}

impl From<ListError> for ChartError {
    fn from(error: ListError) -> Self {
        Self::Shape { file: error.file, problem: error.source }
    }
}

impl Chart {
    /// Reads `Chart.yaml` of a directory. Too many dependencies are an error.
    pub(crate) fn read(folder: &Path, bounds: ChartBounds) -> Result<Self, ChartError> {
        Self::of(read(&folder.join(CHART))?.as_ref(), None, bounds)
    }

    /// Reads `Chart.yaml` of a directory, with the dependencies of `requirements.yaml` merged over its own.
    pub(crate) fn read_with_requirements(folder: &Path, bounds: ChartBounds) -> Result<Self, ChartError> {
        let chart = read(&folder.join(CHART))?;
        Self::of(chart.as_ref(), requirements(folder)?.as_ref(), bounds)
    }

    fn of(
        chart: Option<&Node>,
        requirements: Option<&Node>,
        bounds: ChartBounds,
    ) -> Result<Self, ChartError> {
        let dependencies = dependencies(&lists(chart, requirements), bounds.dependencies)?;
        let fields = |node| Object::new(node, "").map_err(|source| ListError { file: CHART, source });
        let mut fields = chart.map(fields).transpose()?;
        // Helm reports an invalid name or version.
        let mut text = |key| {
            fields.as_mut().and_then(|fields| fields.text(key).ok().flatten()).unwrap_or_default().to_owned()
        };
        let (name, version) = (text("name"), text("version"));
        Ok(Self { name, version, dependencies: dependencies.unwrap_or_default() })
    }
}

impl Lock {
    /// Reads the lock files of a chart's directory, in helm's order.
    pub(crate) fn read_all(folder: &Path, bounds: ChartBounds) -> Result<Vec<Self>, ChartError> {
        let mut locks = Vec::new();
        for file in LOCKS {
            let path = folder.join(file);
            if !path.is_file() {
                continue;
            }
            let Some(node) = &read(&path)? else {
                locks.push(Self { file, dependencies: None, digest: String::new() });
                continue;
            };
            let listed = dependencies(&[(file, node)], bounds.dependencies)?.unwrap_or_default();
            let digest = node.get("digest").and_then(Node::as_str).unwrap_or_default().to_owned();
            locks.push(Self { file, dependencies: Some(listed), digest });
        }
        Ok(locks)
    }
}

/// Returns the documents with a chart's dependencies, in the order in which helm reads them.
fn lists<'a>(chart: Option<&'a Node>, requirements: Option<&'a Node>) -> Vec<(&'static str, &'a Node)> {
    let files = [(CHART, chart), (REQUIREMENTS, requirements)];
    files.into_iter().filter_map(|(name, node)| Some((name, node?))).collect()
}

/// Reads `requirements.yaml`, if it exists.
fn requirements(folder: &Path) -> Result<Option<Node>, ChartError> {
    let path = folder.join(REQUIREMENTS);
    if path.is_file() { read(&path) } else { Ok(None) }
}

/// Reads a document; `None` if the file is empty.
fn read(path: &Path) -> Result<Option<Node>, ChartError> {
    let fail = |cause| ChartError::Read { path: path.to_path_buf(), cause };
    let too_large = || ChartError::TooLarge { path: path.to_path_buf(), bytes_max: CHART_BYTES_MAX };
    decode(&file_name(path), &read_bounded(path, CHART_BYTES_MAX).map_err(fail)?.ok_or_else(too_large)?)
}

/// Parses a document for typed decoding.
fn decode(file: &str, text: &[u8]) -> Result<Option<Node>, ChartError> {
    let document = read_document(text)
        .map_err(|error| ChartError::Yaml { file: file.to_owned(), problem: error.in_go_words() })?;
    Ok(document.map(Node::deduplicated))
}

/// Returns the name of a file or directory, for messages.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
