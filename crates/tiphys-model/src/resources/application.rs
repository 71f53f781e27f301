//! The `Application` resource.

use crate::access::FileRepositories;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::decode::{items, raw_object, text};
use crate::resources::dynamic_parameter::{self, DYNAMIC_PARAMETERS_ANNOTATION};
use crate::resources::refusals::refusals;
use crate::resources::{
    ApplicationSource, DEFAULT_PROJECT, Decoded, Findings, Metadata, ObjectRef, ResourceError,
};

/// An Application: sources, destination and project. Status and operation are omitted, because tiphys does not use them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Application {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// `spec` of the Application.
    pub spec: ApplicationSpec,
    /// The local repositories that its sources may use. Not a field of the document: the loader sets it according to the document's origin.
    #[serde(skip)]
    pub file_repositories: FileRepositories,
}

/// `spec` of an Application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ApplicationSpec {
    /// The single source, if set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ApplicationSource>,
    /// Multiple sources; they take precedence over `source` unless the list is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ApplicationSource>,
    /// Destination cluster and namespace.
    pub destination: Destination,
    /// Name of the project; empty means [`DEFAULT_PROJECT`], see [`ApplicationSpec::project_name`].
    pub project: String,
    /// The sync policy as written; tiphys does not use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_policy: Option<Value>,
    /// Differences that Argo CD ignores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_differences: Vec<IgnoreDifference>,
    /// The source hydrator's block as written. Rendering rejects an Application that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_hydrator: Option<Value>,
}

/// The destination cluster, by URL or by name, and the default namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Destination {
    /// URL of the API server; empty if the cluster is given by name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// Name of the cluster; empty if it is given by URL.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Namespace of objects without a namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
}

/// One entry of `spec.ignoreDifferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct IgnoreDifference {
    /// API group; a glob pattern.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Kind; a glob pattern.
    pub kind: String,
    /// Name; empty means any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Namespace; empty means any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Fields by JSON pointer (RFC 6901).
    #[serde(rename = "jsonPointers", skip_serializing_if = "Vec::is_empty")]
    pub json_pointers: Vec<String>,
    /// Fields by jq expression.
    #[serde(rename = "jqPathExpressions", skip_serializing_if = "Vec::is_empty")]
    pub jq_path_expressions: Vec<String>,
    /// Field managers whose fields are ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managed_fields_managers: Vec<String>,
}

impl Application {
    /// Whether a source is a local repository (`file://`).
    pub fn names_file_repository(&self) -> bool {
        let spec = &self.spec;
        spec.source.iter().chain(&spec.sources).any(|source| {
            source.repo_url.trim().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
        })
    }

    /// Decodes an Application from YAML by Go's rules: of a duplicate key, the last value counts. Fields that Argo CD does not have are
    /// ignored. Both are recorded as findings.
    pub fn decode(node: &Node) -> Result<Decoded<Self>, ResourceError> {
        let mut findings = Findings::default();
        findings.add_repeated_keys(node);
        Self::decode_fields(&node.clone().deduplicated(), &mut findings)
            .map(|value| Decoded { value, findings: findings.sorted() })
            .map_err(|source| ResourceError { object: ObjectRef::of(node), source: Box::new(source) })
    }

    fn decode_fields(node: &Node, findings: &mut Findings) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, "")?;
        // Read these keys so that they do not count as unknown.
        for key in ["apiVersion", "kind", "operation", "status"] {
            object.get(key);
        }
        let metadata = match object.object("metadata")? {
            Some(metadata) => Metadata::decode(metadata)?,
            None => Metadata::default(),
        };
        let mut spec = match object.object("spec")? {
            Some(spec) => ApplicationSpec::decode(spec, findings)?,
            None => ApplicationSpec::default(),
        };
        findings.add_unknown(&object);
        if let Some(value) = metadata.annotations.get(DYNAMIC_PARAMETERS_ANNOTATION) {
            let place = node.at(["metadata", "annotations", DYNAMIC_PARAMETERS_ANNOTATION]);
            dynamic_parameter::add_annotated(&mut spec, value, place.unwrap_or(node), findings)?;
        }
        findings.refused = refusals(node, &spec);
        findings.add_by_table(node);
        Ok(Self { metadata, spec, file_repositories: FileRepositories::default() })
    }
}

impl ApplicationSpec {
    /// Returns the sources in use, in order: `sources` unless it is empty, else `source`.
    pub fn effective_sources(&self) -> &[ApplicationSource] {
        if self.sources.is_empty() { self.source.as_slice() } else { &self.sources }
    }

    /// Returns the project's name; [`DEFAULT_PROJECT`] if empty.
    pub fn project_name(&self) -> &str {
        if self.project.is_empty() { DEFAULT_PROJECT } else { &self.project }
    }

    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        // `info` and `revisionHistoryLimit` are known fields that tiphys does not use.
        for key in ["info", "revisionHistoryLimit"] {
            object.get(key);
        }
        let spec = Self {
            source: match object.object("source")? {
                Some(source) => Some(ApplicationSource::decode_object(source, findings)?),
                None => None,
            },
            sources: items(&mut object, "sources", |node, path| {
                ApplicationSource::decode_object(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            destination: match object.object("destination")? {
                Some(destination) => Destination::decode(destination, findings)?,
                None => Destination::default(),
            },
            project: text(&mut object, "project")?,
            sync_policy: raw_object(&mut object, "syncPolicy")?,
            ignore_differences: items(&mut object, "ignoreDifferences", |node, path| {
                IgnoreDifference::decode(Object::new(node, path)?, findings)
            })?
            .unwrap_or_default(),
            source_hydrator: raw_object(&mut object, "sourceHydrator")?,
        };
        findings.add_unknown(&object);
        Ok(spec)
    }
}

impl Destination {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let destination = Self {
            server: text(&mut object, "server")?,
            name: text(&mut object, "name")?,
            namespace: text(&mut object, "namespace")?,
        };
        findings.add_unknown(&object);
        Ok(destination)
    }
}

impl IgnoreDifference {
    fn decode(mut object: Object<'_>, findings: &mut Findings) -> Result<Self, DecodeError> {
        let entry = Self {
            group: text(&mut object, "group")?,
            kind: text(&mut object, "kind")?,
            name: text(&mut object, "name")?,
            namespace: text(&mut object, "namespace")?,
            json_pointers: object.texts("jsonPointers")?.unwrap_or_default(),
            jq_path_expressions: object.texts("jqPathExpressions")?.unwrap_or_default(),
            managed_fields_managers: object.texts("managedFieldsManagers")?.unwrap_or_default(),
        };
        findings.add_unknown(&object);
        Ok(entry)
    }
}
