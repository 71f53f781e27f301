//! The `AppProject` resource: the fields that decide what an Application of the project may do.

mod read_only;

use tiphys_yaml::{DecodeError, Node, Object};

pub use read_only::{READ_ONLY_ANNOTATION, ReadOnlyKind, ReadOnlyLists};

use crate::resources::fields::{GoFields, go_struct};
use crate::resources::{DEFAULT_PROJECT, Findings, Metadata, ObjectRef, ResourceError};

/// An `AppProject`. Its rules are evaluated by [`ProjectRules`](crate::project_rules::ProjectRules).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppProject {
    /// Name, namespace, labels, annotations.
    pub metadata: Metadata,
    /// Permissions and restrictions.
    pub spec: AppProjectSpec,
    /// The read-only lists of the annotation [`READ_ONLY_ANNOTATION`].
    pub annotated_read_only: ReadOnlyLists,
}

// The fields that tiphys does not use are missing, so unknown ones are not reported.
go_struct! {
    /// `spec` of an `AppProject`.
    #[derive(Eq)]
    pub struct AppProjectSpec = "v1alpha1.AppProjectSpec" {
        /// Patterns of the permitted repositories; a leading `!` denies. An empty list permits none.
        pub source_repos: Vec<String> = "sourceRepos",
        /// The permitted clusters and namespaces. An empty list permits none.
        pub destinations: Vec<ProjectDestination> = "destinations",
        /// The permitted cluster-scoped kinds. An empty list permits none.
        pub cluster_resource_whitelist: Vec<KindPattern> = "clusterResourceWhitelist",
        /// The forbidden namespaced kinds.
        pub namespace_resource_blacklist: Vec<GroupKind> = "namespaceResourceBlacklist",
        /// The permitted namespaced kinds. `None` permits all, an empty list none.
        pub namespace_resource_whitelist: Option<Vec<GroupKind>> = "namespaceResourceWhitelist",
        /// The `GnuPG` keys of which one must have signed the commit. An empty list requires no signature.
        pub signature_keys: Vec<SignatureKey> = "signatureKeys",
        /// The forbidden cluster-scoped kinds.
        pub cluster_resource_blacklist: Vec<KindPattern> = "clusterResourceBlacklist",
        /// Patterns of the namespaces, besides the control plane's, in which Applications may use the project.
        pub source_namespaces: Vec<String> = "sourceNamespaces",
        /// Whether only clusters of this project are permitted.
        pub permit_only_project_scoped_clusters: bool = "permitOnlyProjectScopedClusters",
    }
    unwritten {
        /// The objects that dynamic parameters may read although the other fields do not permit them.
        pub read_only: ReadOnlyLists,
    }
}

go_struct! {
    /// A permitted destination: patterns of a cluster and a namespace. A cluster is given by its server or by its name.
    #[derive(Eq)]
    pub struct ProjectDestination = "v1alpha1.ApplicationDestination" {
        /// Pattern of the cluster's API server URL; empty if the cluster is given by its name.
        pub server: String = "server",
        /// Pattern of the namespace.
        pub namespace: String = "namespace",
        /// Pattern of the cluster's name; empty if the cluster is given by its server.
        pub name: String = "name",
    }
}

go_struct! {
    /// Patterns of an API group and a kind.
    #[derive(Eq)]
    pub struct GroupKind = "v1.GroupKind" {
        /// Pattern of the API group; empty for the core group.
        pub group: String = "group",
        /// Pattern of the kind.
        pub kind: String = "kind",
    }
}

go_struct! {
    /// Patterns of an API group, a kind and a name.
    #[derive(Eq)]
    pub struct KindPattern = "v1alpha1.ClusterResourceRestrictionItem" {
        /// Pattern of the API group; empty for the core group.
        pub group: String = "group",
        /// Pattern of the kind.
        pub kind: String = "kind",
        /// Pattern of the object's name. `None` for every name; Argo CD does not distinguish it from an empty string.
        pub name: Option<String> = "name",
    }
}

go_struct! {
    /// A `GnuPG` key.
    #[derive(Eq)]
    pub struct SignatureKey = "v1alpha1.SignatureKey" {
        /// Its ID.
        pub key_id: String = "keyID",
    }
}

impl AppProject {
    /// Returns the project `default` as Argo CD creates it: it permits every repository, destination and kind.
    pub fn shipped_default() -> Self {
        let all = || "*".to_owned();
        Self {
            metadata: Metadata { name: DEFAULT_PROJECT.to_owned(), ..Metadata::default() },
            spec: AppProjectSpec {
                source_repos: vec![all()],
                destinations: vec![ProjectDestination {
                    server: all(),
                    name: String::new(),
                    namespace: all(),
                }],
                cluster_resource_whitelist: vec![KindPattern { group: all(), kind: all(), name: None }],
                ..AppProjectSpec::default()
            },
            annotated_read_only: ReadOnlyLists::default(),
        }
    }

    /// Decodes an `AppProject` from YAML by Go's rules: of a duplicate key, the last value counts.
    pub fn decode(node: &Node) -> Result<Self, ResourceError> {
        Self::decode_fields(&node.clone().deduplicated())
            .map_err(|source| ResourceError { object: ObjectRef::of(node), source: Box::new(source) })
    }

    fn decode_fields(node: &Node) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, "")?;
        let metadata = object.object("metadata")?.map(Metadata::decode).transpose()?.unwrap_or_default();
        let spec = object.object("spec")?.map(AppProjectSpec::decode).transpose()?.unwrap_or_default();
        let annotated_read_only = ReadOnlyLists::of_annotation(&metadata, node)?;
        Ok(Self { metadata, spec, annotated_read_only })
    }
}

impl AppProjectSpec {
    fn decode(mut spec: Object<'_>) -> Result<Self, DecodeError> {
        let read_only = ReadOnlyLists::decode(&mut spec)?;
        Ok(Self { read_only, ..Self::read_fields(&mut spec, &mut Findings::default())? })
    }
}

#[cfg(test)]
mod tests;
