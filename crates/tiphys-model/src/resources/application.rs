//! The `Application` resource.

use crate::access::FileRepositories;
use serde_json::Value;
use tiphys_yaml::{DecodeError, Node, Object};

use crate::resources::dynamic_parameter::{self, DYNAMIC_PARAMETERS_ANNOTATION};
use crate::resources::fields::GoType::{Ignored, List, Named, Pointer, String as GoString, Struct};
use crate::resources::fields::application::{INFO, OPERATION, SOURCE_HYDRATOR, SYNC_POLICY};
use crate::resources::fields::{GoFields, GoType, GoValue, OPTIONAL_INT64, field, go_struct};
use crate::resources::refusals::refusals;
use crate::resources::{
    ApplicationSource, DEFAULT_PROJECT, Decoded, Findings, Metadata, ObjectRef, ResourceError,
};

go_struct! {
    /// An Application: sources, destination and project.
    pub struct Application = "v1alpha1.Application" {
        _ = field("kind", GoString).embedded_in("TypeMeta"),
        _ = field("apiVersion", GoString).embedded_in("TypeMeta"),
        /// Name, namespace, labels, annotations.
        pub metadata: Metadata = "metadata".always(),
        /// `spec` of the Application.
        pub spec: ApplicationSpec = "spec".always(),
        _ = field("status", Ignored("v1alpha1.ApplicationStatus")),
        _ = field("operation", Pointer(&Struct(&OPERATION))),
    }
    unwritten {
        /// The local repositories that its sources may use. The loader sets it according to the document's origin.
        pub file_repositories: FileRepositories,
    }
}

go_struct! {
    /// `spec` of an Application.
    pub struct ApplicationSpec = "v1alpha1.ApplicationSpec" {
        /// The single source, if set.
        pub source: Option<ApplicationSource> = "source",
        /// Destination cluster and namespace.
        pub destination: Destination = "destination".always(),
        /// Name of the project; empty means [`DEFAULT_PROJECT`], see [`ApplicationSpec::project_name`].
        pub project: String = "project".always(),
        /// The sync policy as written; tiphys does not use it.
        pub sync_policy: Option<Value> = "syncPolicy".of(Pointer(&Struct(&SYNC_POLICY))),
        /// Differences that Argo CD ignores.
        pub ignore_differences: Vec<IgnoreDifference> = "ignoreDifferences".of(IGNORE_DIFFERENCES),
        _ = field("info", List(&Struct(&INFO))),
        _ = field("revisionHistoryLimit", OPTIONAL_INT64),
        /// Multiple sources; they take precedence over `source` unless the list is empty.
        pub sources: Vec<ApplicationSource> = "sources".of(SOURCES),
        /// The source hydrator's block as written. Rendering rejects an Application that has one.
        pub source_hydrator: Option<Value> = "sourceHydrator".of(Pointer(&Struct(&SOURCE_HYDRATOR))),
    }
}

const IGNORE_DIFFERENCES: GoType = Named("v1alpha1.IgnoreDifferences", &Vec::<IgnoreDifference>::TYPE);

/// The type of `sources`.
pub(crate) const SOURCES: GoType = Named("v1alpha1.ApplicationSources", &Vec::<ApplicationSource>::TYPE);

go_struct! {
    /// The destination cluster, by URL or by name, and the default namespace.
    #[derive(Eq)]
    pub struct Destination = "v1alpha1.ApplicationDestination" {
        /// URL of the API server; empty if the cluster is given by name.
        pub server: String = "server",
        /// Namespace of objects without a namespace.
        pub namespace: String = "namespace",
        /// Name of the cluster; empty if it is given by URL.
        pub name: String = "name",
    }
}

go_struct! {
    /// One entry of `spec.ignoreDifferences`.
    #[derive(Eq)]
    pub struct IgnoreDifference = "v1alpha1.ResourceIgnoreDifferences" {
        /// API group; a glob pattern.
        pub group: String = "group",
        /// Kind; a glob pattern.
        pub kind: String = "kind".always(),
        /// Name; empty means any.
        pub name: String = "name",
        /// Namespace; empty means any.
        pub namespace: String = "namespace",
        /// Fields by JSON pointer (RFC 6901).
        pub json_pointers: Vec<String> = "jsonPointers",
        /// Fields by jq expression.
        pub jq_path_expressions: Vec<String> = "jqPathExpressions",
        /// Field managers whose fields are ignored.
        pub managed_fields_managers: Vec<String> = "managedFieldsManagers",
    }
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
        let mut application = Self::read(Object::new(node, "")?, findings)?;
        let Self { metadata, spec, .. } = &mut application;
        if let Some(value) = metadata.annotations.get(DYNAMIC_PARAMETERS_ANNOTATION) {
            let place = node.at(["metadata", "annotations", DYNAMIC_PARAMETERS_ANNOTATION]);
            dynamic_parameter::add_annotated(spec, value, place.unwrap_or(node), findings)?;
        }
        findings.refused = refusals(node, spec);
        findings.add_by_table(node);
        Ok(application)
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
}
