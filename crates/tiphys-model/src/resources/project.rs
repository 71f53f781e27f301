//! The `AppProject` resource: the fields that decide what an Application of the project may do.

mod read_only;

use tiphys_yaml::{DecodeError, Node, Object};

pub use read_only::{READ_ONLY_ANNOTATION, ReadOnlyKind, ReadOnlyLists};

use crate::resources::decode::{boolean, items, text};
use crate::resources::{DEFAULT_PROJECT, Metadata, ObjectRef, ResourceError};

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

/// `spec` of an `AppProject`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppProjectSpec {
    /// Patterns of the permitted repositories; a leading `!` denies. An empty list permits none.
    pub source_repos: Vec<String>,
    /// Patterns of the namespaces, besides the control plane's, in which Applications may use the project.
    pub source_namespaces: Vec<String>,
    /// The permitted clusters and namespaces. An empty list permits none.
    pub destinations: Vec<ProjectDestination>,
    /// The permitted cluster-scoped kinds. An empty list permits none.
    pub cluster_resource_whitelist: Vec<KindPattern>,
    /// The forbidden cluster-scoped kinds.
    pub cluster_resource_blacklist: Vec<KindPattern>,
    /// The permitted namespaced kinds. `None` permits all, an empty list none.
    pub namespace_resource_whitelist: Option<Vec<GroupKind>>,
    /// The forbidden namespaced kinds.
    pub namespace_resource_blacklist: Vec<GroupKind>,
    /// IDs of the `GnuPG` keys of which one must have signed the commit. An empty list requires no signature.
    pub signature_keys: Vec<String>,
    /// Whether only clusters of this project are permitted.
    pub permit_only_project_scoped_clusters: bool,
    /// The objects that dynamic parameters may read although the other fields do not permit them.
    pub read_only: ReadOnlyLists,
}

/// A permitted destination: patterns of a cluster and a namespace. A cluster is given by its server or by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectDestination {
    /// Pattern of the cluster's API server URL; empty if the cluster is given by its name.
    pub server: String,
    /// Pattern of the cluster's name; empty if the cluster is given by its server.
    pub name: String,
    /// Pattern of the namespace.
    pub namespace: String,
}

/// Patterns of an API group and a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupKind {
    /// Pattern of the API group; empty for the core group.
    pub group: String,
    /// Pattern of the kind.
    pub kind: String,
}

/// Patterns of an API group, a kind and a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindPattern {
    /// Pattern of the API group; empty for the core group.
    pub group: String,
    /// Pattern of the kind.
    pub kind: String,
    /// Pattern of the object's name. `None` for every name; Argo CD does not distinguish it from an empty string.
    pub name: Option<String>,
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
        let group_kinds = |spec: &mut Object<'_>, key| items(spec, key, GroupKind::decode);
        let kinds = |spec: &mut Object<'_>, key| items(spec, key, KindPattern::decode);
        Ok(Self {
            source_repos: spec.texts("sourceRepos")?.unwrap_or_default(),
            source_namespaces: spec.texts("sourceNamespaces")?.unwrap_or_default(),
            destinations: items(&mut spec, "destinations", ProjectDestination::decode)?.unwrap_or_default(),
            cluster_resource_whitelist: kinds(&mut spec, "clusterResourceWhitelist")?.unwrap_or_default(),
            cluster_resource_blacklist: kinds(&mut spec, "clusterResourceBlacklist")?.unwrap_or_default(),
            namespace_resource_whitelist: group_kinds(&mut spec, "namespaceResourceWhitelist")?,
            namespace_resource_blacklist: group_kinds(&mut spec, "namespaceResourceBlacklist")?
                .unwrap_or_default(),
            signature_keys: items(&mut spec, "signatureKeys", |key, path| {
                text(&mut Object::new(key, path)?, "keyID")
            })?
            .unwrap_or_default(),
            permit_only_project_scoped_clusters: boolean(&mut spec, "permitOnlyProjectScopedClusters")?,
            read_only: ReadOnlyLists::decode(&mut spec)?,
        })
    }
}

impl ProjectDestination {
    fn decode(node: &Node, path: String) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, path)?;
        Ok(Self {
            server: text(&mut object, "server")?,
            name: text(&mut object, "name")?,
            namespace: text(&mut object, "namespace")?,
        })
    }
}

impl GroupKind {
    fn decode(node: &Node, path: String) -> Result<Self, DecodeError> {
        let mut object = Object::new(node, path)?;
        Ok(Self { group: text(&mut object, "group")?, kind: text(&mut object, "kind")? })
    }
}

impl KindPattern {
    fn decode(node: &Node, path: String) -> Result<Self, DecodeError> {
        Self::decode_fields(&mut Object::new(node, path)?)
    }

    fn decode_fields(object: &mut Object<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            group: text(object, "group")?,
            kind: text(object, "kind")?,
            name: object.text("name")?.filter(|name| !name.is_empty()).map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests;
