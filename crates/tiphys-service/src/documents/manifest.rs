//! Rendered manifests.

use serde::Serialize;
use tiphys_engine::Manifest;
use tiphys_engine::diff::{Shown, compare};
use utoipa::ToSchema;

/// A rendered object. Values of Secrets are redacted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ManifestDocument {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty if the object has none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The object as YAML with sorted keys.
    pub yaml: String,
}

impl ManifestDocument {
    /// Returns the objects in their order.
    pub fn all(manifests: &[Manifest]) -> Vec<Self> {
        // Redaction belongs to comparisons: it needs both sides of an object.
        let shown = compare(&[], manifests).objects;
        let document = |object: tiphys_engine::diff::ObjectDiff| Self {
            yaml: object.change.after().map(Shown::to_yaml).unwrap_or_default(),
            group: object.key.group,
            kind: object.key.kind,
            namespace: object.key.namespace,
            name: object.key.name,
        };
        shown.into_iter().map(document).collect()
    }
}
