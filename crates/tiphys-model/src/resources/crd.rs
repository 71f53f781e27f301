//! Argo CD's custom resource definitions with the fields of dynamic parameters.

use serde_json::{Value, json};

/// A custom resource definition of Argo CD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crd {
    /// `applications.argoproj.io`.
    Applications,
    /// `appprojects.argoproj.io`.
    AppProjects,
    /// `applicationsets.argoproj.io`: the template of a set, not those of its generators.
    ApplicationSets,
}

/// The schema of the only version in Argo CD's definitions.
const SPEC: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";

/// Returns the JSON patch (RFC 6902) that adds the fields to the schema. Without it, the API server removes them from objects.
pub fn crd_patch(crd: Crd) -> Value {
    let additions = match crd {
        Crd::Applications => source_additions(SPEC),
        Crd::ApplicationSets => source_additions(&format!("{SPEC}/template/properties/spec/properties")),
        Crd::AppProjects => vec![
            addition(&format!("{SPEC}/namespaceReadOnlyAllowlist"), &read_only_list(&["kind", "namespace"])),
            addition(&format!("{SPEC}/clusterReadOnlyAllowList"), &read_only_list(&["kind"])),
        ],
    };
    Value::Array(additions)
}

/// Adds `dynamicParameters` to both blocks of `source` and of `sources`.
fn source_additions(spec: &str) -> Vec<Value> {
    let sources = [format!("{spec}/source"), format!("{spec}/sources/items")];
    let blocks = sources.iter().flat_map(|source| ["helm", "plugin"].map(|block| (source, block)));
    let path = |(source, block)| format!("{source}/properties/{block}/properties/dynamicParameters");
    blocks.map(path).map(|path| addition(&path, &dynamic_parameters())).collect()
}

fn addition(path: &str, value: &Value) -> Value {
    json!({ "op": "add", "path": path, "value": value })
}

fn dynamic_parameters() -> Value {
    let string = || json!({ "type": "string" });
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "resourceRef"],
            "properties": {
                "name": string(),
                "forceString": { "type": "boolean" },
                "default": { "x-kubernetes-preserve-unknown-fields": true },
                "decode": { "type": "string", "enum": ["base64"] },
                "resourceRef": {
                    "type": "object",
                    "required": ["kind", "name"],
                    "properties": {
                        "group": string(), "version": string(), "kind": string(),
                        "namespace": string(), "name": string(), "path": string(),
                    },
                },
            },
        },
    })
}

fn read_only_list(required: &[&str]) -> Value {
    let mut properties = json!({
        "group": { "type": "string" },
        "kind": { "type": "string" },
        "name": { "type": "string" },
    });
    if required.contains(&"namespace") {
        properties["namespace"] = json!({ "type": "string" });
    }
    json!({
        "type": "array",
        "items": { "type": "object", "required": required, "properties": properties },
    })
}

#[cfg(test)]
mod tests;
