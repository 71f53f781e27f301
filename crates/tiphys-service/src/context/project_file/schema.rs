//! The JSON Schema of the project file for editors: draft 7, which the YAML support of common editors reads.

use serde_json::{Map, Value, json};
use tiphys_model::limits::{Limit, Unit};

use crate::context::options::{Setting, SettingKind};

/// Returns the JSON Schema of the project file.
pub fn project_file_schema() -> Value {
    let properties: Map<String, Value> =
        Setting::ALL.iter().map(|setting| (setting.key.to_owned(), property(setting))).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tiphys project file",
        "description": "The file .tiphys.yaml of a checkout: values for settings of tiphys. Relative paths are relative to the file. Options and environment variables override it.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": properties,
        "definitions": {
            "texts": {
                "type": ["string", "array", "null"],
                "minLength": 1,
                "items": {"type": "string", "minLength": 1},
            },
        },
    })
}

fn property(setting: &Setting) -> Value {
    let mut property = match setting.kind {
        SettingKind::Switch(_) => json!({"type": ["boolean", "null"]}),
        SettingKind::Word(_) => {
            let words = setting.words().into_iter().map(Value::from).chain([Value::Null]);
            json!({"type": ["string", "null"], "enum": words.collect::<Vec<_>>()})
        }
        SettingKind::Value(_) | SettingKind::Path(_) => json!({"type": ["string", "null"], "minLength": 1}),
        SettingKind::Values(_) | SettingKind::Paths(_) | SettingKind::Parsed { .. } => {
            json!({"allOf": [{"$ref": "#/definitions/texts"}]})
        }
        SettingKind::Limits => limits(),
    };
    let parts = [setting.summary, setting.details].into_iter().filter(|part| !part.is_empty());
    let consent = Some(setting.consent_text()).filter(|consent| !consent.is_empty());
    let consent = consent.map(|consent| match consent.as_str() {
        "yes" => "Needs consent".to_owned(),
        when => format!("Needs consent {when}"),
    });
    let parts: Vec<String> = parts.map(str::to_owned).chain(consent).collect();
    property["description"] = json!(parts.join(". ") + ".");
    property
}

fn limits() -> Value {
    let limit = |limit: &Limit| {
        let types = match limit.unit() {
            Unit::Count => json!("integer"),
            Unit::Bytes | Unit::Seconds => json!(["integer", "string"]),
        };
        (limit.name().to_owned(), json!({"description": format!("{}.", limit.help()), "type": types}))
    };
    let properties: Map<String, Value> = Limit::ALL.iter().map(limit).collect();
    json!({"type": ["object", "null"], "additionalProperties": false, "properties": properties})
}
