//! What the plugin itself reads of a chart: the dependencies that `Chart.yaml` names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_yaml::{DecodeError, Object, read_document};

use crate::failure::go_words;

/// Bytes of a `Chart.yaml`, as many as helm reads of one file of a chart.
const CHART_BYTES_MAX: u64 = 5 << 20;

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

/// A dependency as `Chart.yaml` names it. Texts that are not there are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The chart's name.
    pub(crate) name: String,
    /// Where it is had: a URL, `@name`, `alias:name`, `file://…`, or nothing for one in `charts`.
    pub(crate) repository: String,
    /// The version or a range of them.
    pub(crate) version: String,
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
         error unmarshaling JSON: {0}"
    )]
    Shape(DecodeError),
}

impl Chart {
    /// Reads the `Chart.yaml` of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, ChartError> {
        Self::read_file(folder.join("Chart.yaml"))
    }

    /// Reads the `Chart.yaml` of a folder with the dependencies of `requirements.yaml`, if there is one: charts of the first version have
    /// them there, and helm reads the file for others, too.
    pub(crate) fn read_with_requirements(folder: &Path) -> Result<Self, ChartError> {
        let mut chart = Self::read(folder)?;
        let requirements = folder.join("requirements.yaml");
        if requirements.exists() {
            let dependencies = Self::read_file(requirements)?.dependencies;
            if !dependencies.is_empty() {
                chart.dependencies = dependencies;
            }
        }
        Ok(chart)
    }

    fn read_file(path: PathBuf) -> Result<Self, ChartError> {
        let fail = |cause| ChartError::Read { path: path.clone(), cause };
        if fs::metadata(&path).map_err(fail)?.len() > CHART_BYTES_MAX {
            return Err(ChartError::TooLarge { path, bytes_max: CHART_BYTES_MAX });
        }
        Self::decode(&fs::read(&path).map_err(fail)?)
    }

    fn decode(text: &[u8]) -> Result<Self, ChartError> {
        let document = read_document(text).map_err(|error| {
            let line = error.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
            ChartError::Yaml { problem: format!("{line}{}", error.message) }
        })?;
        match document {
            None => Ok(Self::default()),
            Some(node) => Self::of(&node).map_err(ChartError::Shape),
        }
    }

    fn of(node: &tiphys_yaml::Node) -> Result<Self, DecodeError> {
        let mut chart = Object::new(node, "Chart.yaml")?;
        // Helm says what is wrong with a name or a version.
        let mut text = |key| chart.text(key).ok().flatten().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        let place = chart.path_of("dependencies");
        let mut dependencies = Vec::new();
        for (index, item) in chart.list("dependencies")?.unwrap_or_default().iter().enumerate() {
            if item.is_null() {
                continue;
            }
            let mut dependency = Object::new(item, format!("{place}[{index}]"))?;
            let mut text = |key| Ok(dependency.text(key)?.unwrap_or_default().to_owned());
            dependencies.push(Dependency {
                name: text("name")?,
                repository: text("repository")?,
                version: text("version")?,
            });
        }
        Ok(Self { name, version, dependencies })
    }
}

#[cfg(test)]
mod tests;
