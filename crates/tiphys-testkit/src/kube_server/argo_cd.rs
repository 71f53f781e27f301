//! The kinds of Argo CD, without their schemas.

use serde_json::{Value, json};

use super::KubeServer;
use crate::wait;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl KubeServer {
    /// Creates the kinds of Argo CD, and waits until the server serves them. As with Argo CD's own definitions, only `ApplicationSet` has a
    /// status subresource.
    pub fn serve_argo_cd(&self) {
        for (kind, plural, has_status) in [
            ("Application", "applications", false),
            ("ApplicationSet", "applicationsets", true),
            ("AppProject", "appprojects", false),
        ] {
            self.create(DEFINITIONS, &definition(kind, plural, has_status));
        }
        for plural in ["applications", "applicationsets", "appprojects"] {
            let path = format!("/apis/argoproj.io/v1alpha1/{plural}");
            wait::until(|| (self.status_of(&path) == 200).then_some(()));
        }
    }
}

fn definition(kind: &str, plural: &str, has_status: bool) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut version = json!({
        "name": "v1alpha1",
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": schema},
    });
    if has_status {
        version["subresources"] = json!({"status": {}});
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.argoproj.io"),
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": "argoproj.io",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_ascii_lowercase()},
            "versions": [version],
        },
    })
}
