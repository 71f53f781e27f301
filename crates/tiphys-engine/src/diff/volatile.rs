//! Fields that change with every release of a chart.

use serde_json::Value;

use super::Change;

/// Labels with the version of a chart or of an application.
const VERSION_LABELS: [&str; 2] = ["app.kubernetes.io/version", "helm.sh/chart"];

/// The prefix of annotations with the checksum of another object.
const CHECKSUM_PREFIX: &str = "checksum/";

impl Change {
    /// Returns whether both sides have the object and only labels with versions and annotations with checksums differ, those of templates
    /// in the object included.
    pub fn is_volatile(&self) -> bool {
        match self {
            Self::Added { .. } | Self::Removed { .. } => false,
            Self::Changed { before, after } => lasting(before.value()) == lasting(after.value()),
        }
    }
}

/// Returns a value without the volatile fields of each `metadata` in it.
fn lasting(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(lasting).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let value = if key == "metadata" { lasting_metadata(value) } else { lasting(value) };
                (key.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

fn lasting_metadata(metadata: &Value) -> Value {
    let mut metadata = metadata.clone();
    for field in ["annotations", "labels"] {
        let Some(entries) = metadata.get_mut(field).and_then(Value::as_object_mut) else { continue };
        entries.retain(|key, _| match field {
            "labels" => !VERSION_LABELS.contains(&key.as_str()),
            _ => !key.starts_with(CHECKSUM_PREFIX),
        });
        if entries.is_empty() {
            metadata.as_object_mut().and_then(|metadata| metadata.remove(field));
        }
    }
    metadata
}

#[cfg(test)]
mod tests;
