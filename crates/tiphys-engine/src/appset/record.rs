//! The record of a set's parameters: a `ConfigMap` with one entry for each Application.

use serde_json::{Map, Value, json};

use super::Generated;

/// Label of records, so that they are not taken for the `ConfigMaps` of users.
const RECORD_LABEL: &str = "tiphys/record";

/// Annotation of the record of a set whose parameters are too large.
const TOO_LARGE_ANNOTATION: &str = "tiphys/too-large";

/// Bytes of the data of a `ConfigMap`; the API server permits 1 MiB.
const DATA_BYTES_MAX: usize = 1_000_000;

/// Value of [`RECORD_LABEL`].
const PARAMETERS: &str = "parameters";

/// The parameters of one Application of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterRecord {
    /// Name of the Application.
    pub application: String,
    /// Path of the generator in the set, such as `spec.generators[0].matrix`.
    pub generator: String,
    /// The parameters.
    pub parameters: Map<String, Value>,
}

impl ParameterRecord {
    /// Returns the name of a set's `ConfigMap`, which is in the namespace of the set.
    pub fn config_map_name(set: &str) -> String {
        format!("{set}-parameters")
    }

    /// Returns the `ConfigMap` of a set in canonical form, without what only a server knows. Kubernetes removes it with the set. If the parameters
    /// are too large, it says so and has none, so that it does not keep those of before.
    pub fn config_map(set: &Value, generated: &Generated) -> Value {
        let metadata = &set["metadata"];
        let entry = |one: &super::GeneratedApplication| {
            let application = one.application.value();
            let name = application["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let content = json!({"generator": one.generator, "parameters": one.parameters.values});
            (name, Value::from(content.to_string()))
        };
        let mut data: Map<String, Value> = generated.applications.iter().map(entry).collect();
        let bytes = data.iter().map(|(name, entry)| name.len() + entry.as_str().map_or(0, str::len));
        let is_too_large = bytes.sum::<usize>() > DATA_BYTES_MAX;
        if is_too_large {
            data.clear();
        }
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": Self::config_map_name(metadata["name"].as_str().unwrap_or_default()),
                "namespace": metadata["namespace"],
                "labels": {RECORD_LABEL: PARAMETERS},
                "annotations": {TOO_LARGE_ANNOTATION: is_too_large.to_string()},
                "ownerReferences": [{
                    "apiVersion": set["apiVersion"], "kind": set["kind"], "name": metadata["name"], "uid": metadata["uid"],
                }],
            },
            "data": data,
        })
    }

    /// Whether the metadata of a `ConfigMap` is that of a record.
    pub fn is_record(metadata: &Value) -> bool {
        metadata["labels"][RECORD_LABEL] == PARAMETERS
    }

    /// Whether a record has no parameters because they are too large.
    pub fn is_too_large(config_map: &Value) -> bool {
        config_map["metadata"]["annotations"][TOO_LARGE_ANNOTATION] == "true"
    }

    /// Reads a `ConfigMap`, by the names of the Applications. The error is the name of an invalid entry.
    pub fn read(config_map: &Value) -> Result<Vec<Self>, String> {
        let read = |(application, entry): (&String, &Value)| {
            let content: Value = serde_json::from_str(entry.as_str()?).ok()?;
            Some(Self {
                application: application.clone(),
                generator: content["generator"].as_str()?.to_owned(),
                parameters: content["parameters"].as_object()?.clone(),
            })
        };
        let entries = config_map["data"].as_object().into_iter().flatten();
        entries.map(|entry| read(entry).ok_or_else(|| entry.0.clone())).collect()
    }
}
