//! The YAML files of a chart, with Helm's error messages.

use tiphys_helm_values::{HelmVersion, Map, ValuesFileError};
use tiphys_yaml::{Node, Object, read_document};

use super::LoadError;
use crate::fields::{CHART_BASE, LOCK, METADATA, Struct, conform};
use crate::metadata::MetadataError;
use crate::{ChartFile, Metadata};

/// The metadata file.
pub(super) const CHART: &str = "Chart.yaml";

/// The file with the dependencies of charts with `apiVersion: v1`. Helm also reads it for others.
pub(super) const REQUIREMENTS: &str = "requirements.yaml";

/// The version of a chart without `apiVersion`.
const V1: &str = "v1";

/// The documents that Helm decodes into the metadata of one chart.
pub(super) struct MetadataDocuments {
    version: HelmVersion,
    documents: Vec<(&'static str, Node)>,
    api_version: String,
    /// Whether a file with metadata exists: an empty one and a lock file count.
    pub(super) exists: bool,
}

impl MetadataDocuments {
    pub(super) fn new(version: HelmVersion) -> Self {
        Self { version, documents: Vec::new(), api_version: String::new(), exists: false }
    }

    /// Adds a document over the ones before it.
    pub(super) fn add(&mut self, file: &'static str, text: &[u8]) -> Result<(), LoadError> {
        self.exists = true;
        if let Some(node) = typed_document(file, text, &METADATA, self.version)? {
            if let Some(api_version) = api_version(file, &node)? {
                self.api_version = api_version;
            }
            self.documents.push((file, node));
        }
        if file == CHART && self.api_version.is_empty() {
            V1.clone_into(&mut self.api_version);
        }
        Ok(())
    }

    /// Whether the chart has version 1 of the format.
    pub(super) fn is_v1(&self) -> bool {
        self.api_version == V1
    }

    pub(super) fn decode(self, dependencies_max: usize) -> Result<Metadata, LoadError> {
        if !self.exists {
            return Err(LoadError::NoChart);
        }
        let files: Vec<_> = self.documents.iter().map(|(file, node)| (*file, node)).collect();
        let metadata = Metadata::decode(&files, self.api_version, dependencies_max);
        metadata.map_err(|error| match error {
            MetadataError::Field(error) => LoadError::Field(error),
            MetadataError::Invalid(error) => LoadError::Invalid(error),
        })
    }
}

/// Checks the version of the format as Helm 4 does before it loads a chart. Subcharts are not checked.
pub(super) fn check_format(files: &[ChartFile], version: HelmVersion) -> Result<(), LoadError> {
    if version == HelmVersion::V3 {
        return Ok(());
    }
    let Some(file) = files.iter().find(|file| file.path == CHART) else { return Err(LoadError::NoChart) };
    let node = typed_document(CHART, &file.bytes, &CHART_BASE, version)?;
    let found = node.map(|node| api_version(CHART, &node)).transpose()?.flatten().unwrap_or_default();
    match found.as_str() {
        "" | V1 | "v2" => Ok(()),
        "v3" => Err(LoadError::Format3),
        _ => Err(LoadError::UnsupportedFormat),
    }
}

/// Checks a lock file. Its content has no effect.
pub(super) fn check_lock(file: &'static str, text: &[u8], version: HelmVersion) -> Result<(), LoadError> {
    typed_document(file, text, &LOCK, version).map(|_| ())
}

pub(super) fn read_values(text: &[u8], version: HelmVersion) -> Result<Map, LoadError> {
    tiphys_helm_values::read_values(text, version).map_err(|error| {
        let document = match (&error, version) {
            (ValuesFileError::Separator { .. }, _) => "error reading yaml document: ",
            (_, HelmVersion::V4) => "cannot unmarshal yaml document: ",
            (_, HelmVersion::V3) => "",
        };
        LoadError::File {
            file: "values.yaml",
            problem: format!("{document}{}", error.in_helm_words()),
            is_limit: error.is_limit(),
        }
    })
}

/// Reads a document whose fields have the types of a struct; `None` for an empty one.
fn typed_document(
    file: &'static str,
    text: &[u8],
    target: &'static Struct,
    version: HelmVersion,
) -> Result<Option<Node>, LoadError> {
    let node = read_document(super::without_bom(text)).map_err(|error| LoadError::File {
        file,
        problem: format!("error converting YAML to JSON: yaml: {}", error.in_go_words()),
        is_limit: error.is_limit(),
    })?;
    let Some(mut node) = node.map(Node::deduplicated) else { return Ok(None) };
    let problem = conform(&mut node, target, version).map_err(|problem| type_problem(&problem));
    problem.map_err(|problem| LoadError::File { file, problem, is_limit: false })?;
    Ok(Some(node))
}

fn api_version(file: &'static str, node: &Node) -> Result<Option<String>, LoadError> {
    let text = Object::new(node, "").and_then(|mut fields| Ok(fields.text("apiVersion")?.map(str::to_owned)));
    text.map_err(|source| LoadError::Field(crate::ListError { file, source }))
}

fn type_problem(problem: &str) -> String {
    format!("error unmarshaling JSON: while decoding JSON: {problem}")
}
