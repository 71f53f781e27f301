//! References of dynamic parameters.

use serde::Serialize;
use utoipa::ToSchema;

use crate::context::cluster_references::ClusterReference;
use crate::context::projects::ProjectRule;

/// The object and field that a dynamic parameter reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferenceDocument {
    /// URL or name of the destination cluster.
    pub cluster: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Version of the API. The cluster's preferred one if null.
    pub version: Option<String>,
    /// Kind.
    pub kind: String,
    /// Namespace; null for a cluster-scoped kind.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// Path of the field in kubectl's `JSONPath`. If null, the value is whether the object exists.
    pub path: Option<String>,
    /// The rule that permits reading the object; null if it is not permitted, or not known.
    pub permitted_by: Option<RuleDocument>,
}

/// An entry of a list of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RuleDocument {
    /// The project.
    pub project: String,
    /// The name of the list.
    pub list: String,
    /// The index of the entry, from 0; null for an absent list that permits everything.
    pub index: Option<usize>,
}

impl From<&ClusterReference> for ReferenceDocument {
    fn from(read: &ClusterReference) -> Self {
        let reference = &read.reference;
        let given = |field: &str| Some(field.to_owned()).filter(|field| !field.is_empty());
        Self {
            cluster: read.cluster.clone(),
            group: reference.group.clone(),
            version: given(&reference.version),
            kind: reference.kind.clone(),
            namespace: given(&reference.namespace),
            name: reference.name.clone(),
            path: given(&reference.path),
            permitted_by: read.permitted_by.as_ref().ok().map(RuleDocument::from),
        }
    }
}

impl From<&ProjectRule> for RuleDocument {
    fn from(rule: &ProjectRule) -> Self {
        Self { project: rule.project.clone(), list: rule.list.to_owned(), index: rule.index }
    }
}
