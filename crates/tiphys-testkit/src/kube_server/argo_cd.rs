//! The kinds of Argo CD.

use std::fs;

use serde_json::{Value, json};

use super::KubeServer;
use crate::wait;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

impl KubeServer {
    /// Creates the kinds of Argo CD, and waits until the server serves them: by the definitions in the YAML file that the variable `CRDS` names,
    /// else without schemas. As with Argo CD's own definitions, only `ApplicationSet` has a status subresource.
    pub fn serve_argo_cd(&self) {
        #[expect(clippy::disallowed_methods, reason = "the developer names the file")]
        let definitions = match std::env::var_os("CRDS") {
            Some(file) => {
                let text = fs::read_to_string(file).expect("CRDS names a file");
                text.split("\n---").map(str::to_owned).collect()
            }
            None => definitions_without_schemas(),
        };
        for definition in definitions.iter().filter(|text| text.contains("CustomResourceDefinition")) {
            let answer = self.client.send("POST", DEFINITIONS, "application/yaml", definition.as_bytes());
            answer.expect_status(201);
        }
        self.wait_for_argo_cd();
    }

    /// Waits until the server serves the kinds.
    pub(super) fn wait_for_argo_cd(&self) {
        for plural in ["applications", "applicationsets", "appprojects"] {
            let path = format!("/apis/argoproj.io/v1alpha1/{plural}");
            wait::until(|| (self.status_of(&path) == 200).then_some(()));
        }
    }
}

fn definitions_without_schemas() -> Vec<String> {
    [
        ("Application", "applications", false),
        ("ApplicationSet", "applicationsets", true),
        ("AppProject", "appprojects", false),
    ]
    .map(|(kind, plural, has_status)| definition(kind, plural, has_status).to_string())
    .into()
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
