//! What the plugin itself reads of a chart: the dependencies that it names, and those that its lock files name.

mod dependency;
mod files;

use std::io;
use std::path::{Path, PathBuf};

use tiphys_tree::read_bounded;
use tiphys_yaml::{DecodeError, Node, Object, read_document};

use crate::failure::go_words;

pub(crate) use dependency::{Dependency, ListError, dependencies};
pub(crate) use files::{ChartFiles, FileError, PACKED_CHART_BYTES_MAX, Subchart};

/// The chart's own file.
pub(crate) const CHART: &str = "Chart.yaml";

/// The file with the dependencies of charts of the first version. Helm reads it for others, too.
pub(crate) const REQUIREMENTS: &str = "requirements.yaml";

/// The lock files. Of two helm uses the last.
const LOCKS: [&str; 2] = ["Chart.lock", "requirements.lock"];

/// Bytes of a `Chart.yaml`, as many as helm reads of one file of a chart.
const CHART_BYTES_MAX: u64 = 5 << 20;

/// How much of charts is looked at, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChartBounds {
    /// Charts of an announcement in all.
    pub(crate) charts: usize,
    /// Bytes of values and schemas of all these charts, one that has several aliases counted for each.
    pub(crate) bytes: usize,
    /// Lines of one chart's list of dependencies.
    pub(crate) dependencies: usize,
}

/// A chart's own file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chart {
    /// Its name.
    pub(crate) name: String,
    /// Its version; empty if it has none, which helm says.
    pub(crate) version: String,
    /// Its dependencies, in order.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A lock file: what an earlier build found for the dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    /// The file.
    pub(crate) file: &'static str,
    /// The dependencies; `None` if there is nothing in the file, which makes helm do as if it were not there.
    pub(crate) dependencies: Option<Vec<Dependency>>,
}

/// Why a chart's own file cannot be used, in Argo CD's words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChartError {
    /// It is not there.
    #[error("error retrieving helm dependency repos: error reading helm chart from {path}: open {path}: {}", go_words(cause), path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer; it is part of the text.
        cause: io::Error,
    },
    /// It is too large.
    #[error("error retrieving helm dependency repos: error reading helm chart from {path}: it has more than {bytes_max} bytes", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        bytes_max: u64,
    },
    /// It is not YAML.
    #[error(
        "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: \
         error converting YAML to JSON: yaml: {problem}"
    )]
    Yaml {
        /// The line and what is wrong there.
        problem: String,
    },
    /// It has another shape.
    #[error(
        "error retrieving helm dependency repos: error unmarshalling the helm chart while getting helm dependency repos: \
         error unmarshaling JSON: {file}: {problem}"
    )]
    Shape {
        /// The file.
        file: &'static str,
        /// The field; it is part of the text.
        problem: DecodeError,
    },
}

impl From<ListError> for ChartError {
    fn from(error: ListError) -> Self {
        Self::Shape { file: error.file, problem: error.source }
    }
}

impl Chart {
    /// Reads the `Chart.yaml` of a folder. A list of dependencies past the bound is refused.
    pub(crate) fn read(folder: &Path, bounds: ChartBounds) -> Result<Self, ChartError> {
        Self::of(read(&folder.join(CHART))?.as_ref(), None, bounds)
    }

    /// Reads the `Chart.yaml` of a folder, and the dependencies of a `requirements.yaml` over its own.
    pub(crate) fn read_with_requirements(folder: &Path, bounds: ChartBounds) -> Result<Self, ChartError> {
        let chart = read(&folder.join(CHART))?;
        Self::of(chart.as_ref(), requirements(folder)?.as_ref(), bounds)
    }

    /// Both of [`Self::read`] and [`Self::read_with_requirements`], in this order, with one look at each file.
    pub(crate) fn read_both(folder: &Path, bounds: ChartBounds) -> Result<(Self, Self), ChartError> {
        let chart = read(&folder.join(CHART))?;
        let own = Self::of(chart.as_ref(), None, bounds)?;
        let whole = match requirements(folder)? {
            None => own.clone(),
            Some(requirements) => Self::of(chart.as_ref(), Some(&requirements), bounds)?,
        };
        Ok((own, whole))
    }

    /// Reads the `Chart.yaml` of a packed chart; `None` if there is none that can be read, which is helm's to say.
    pub(crate) fn read_packed(archive: &Path, bounds: ChartBounds) -> Option<Self> {
        let text = ChartFiles::chart_of_archive(archive).ok()?.read(CHART).ok()??;
        Self::of(decode(&text).ok()?.as_ref(), None, bounds).ok()
    }

    fn of(
        chart: Option<&Node>,
        requirements: Option<&Node>,
        bounds: ChartBounds,
    ) -> Result<Self, ChartError> {
        let dependencies = dependencies(&lists(chart, requirements), bounds.dependencies)?;
        let fields = |node| Object::new(node, "").map_err(|source| ListError { file: CHART, source });
        let mut fields = chart.map(fields).transpose()?;
        // Helm says what is wrong with a name or a version.
        let mut text = |key| {
            fields.as_mut().and_then(|fields| fields.text(key).ok().flatten()).unwrap_or_default().to_owned()
        };
        let (name, version) = (text("name"), text("version"));
        Ok(Self { name, version, dependencies: dependencies.unwrap_or_default() })
    }
}

impl Lock {
    /// Reads the lock files of a chart's folder, in the order in which helm does.
    pub(crate) fn read_all(folder: &Path, bounds: ChartBounds) -> Result<Vec<Self>, ChartError> {
        let mut locks = Vec::new();
        for file in LOCKS {
            let path = folder.join(file);
            if !path.is_file() {
                continue;
            }
            let dependencies = match &read(&path)? {
                None => None,
                Some(node) => Some(dependencies(&[(file, node)], bounds.dependencies)?.unwrap_or_default()),
            };
            locks.push(Self { file, dependencies });
        }
        Ok(locks)
    }
}

/// The documents with a chart's list of dependencies, in the order in which helm reads them.
pub(crate) fn lists<'a>(
    chart: Option<&'a Node>,
    requirements: Option<&'a Node>,
) -> Vec<(&'static str, &'a Node)> {
    let files = [(CHART, chart), (REQUIREMENTS, requirements)];
    files.into_iter().filter_map(|(name, node)| Some((name, node?))).collect()
}

/// The document of a `requirements.yaml`, if there is one.
fn requirements(folder: &Path) -> Result<Option<Node>, ChartError> {
    let path = folder.join(REQUIREMENTS);
    if path.is_file() { read(&path) } else { Ok(None) }
}

/// The document of a file; `None` if it is empty.
fn read(path: &Path) -> Result<Option<Node>, ChartError> {
    let fail = |cause| ChartError::Read { path: path.to_path_buf(), cause };
    let too_large = || ChartError::TooLarge { path: path.to_path_buf(), bytes_max: CHART_BYTES_MAX };
    decode(&read_bounded(path, CHART_BYTES_MAX).map_err(fail)?.ok_or_else(too_large)?)
}

/// A document as typed values are read from it.
fn decode(text: &[u8]) -> Result<Option<Node>, ChartError> {
    let document = read_document(text).map_err(|error| {
        let line = error.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
        ChartError::Yaml { problem: format!("{line}{}", error.message) }
    })?;
    Ok(document.map(Node::deduplicated))
}

#[cfg(test)]
mod tests;
