//! Rendered manifests.

use serde::Serialize;
use tiphys_engine::diff::Shown;
use tiphys_render::RenderedApplication;
use utoipa::ToSchema;

use crate::application_diff::compare_rendered;

/// A rendered object. Values of Secrets are redacted, also those that dynamic parameters have brought into other objects.
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
    pub fn all(rendered: &RenderedApplication) -> Vec<Self> {
        // Redaction belongs to comparisons: it needs both sides of an object.
        let shown = compare_rendered(None, Some(rendered)).objects;
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
