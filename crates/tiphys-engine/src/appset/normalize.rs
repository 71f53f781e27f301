//! Normalisation of the spec of an Application, as in Argo CD's `NormalizeApplicationSpec`.

use serde_json::{Map, Value};
use tiphys_model::resources::DEFAULT_PROJECT;

/// Normalises a canonical `spec`: an empty project becomes `default`; an empty sync policy vanishes, and so do
/// the `kustomize`, `helm` and `directory` blocks of the sources in use if they set nothing. An empty `plugin` block stays.
pub fn normalize_spec(spec: &mut Value) {
    let Some(spec) = spec.as_object_mut() else { return };
    if spec.get("project").is_none_or(|project| project.as_str() == Some("")) {
        spec.insert("project".to_owned(), Value::from(DEFAULT_PROJECT));
    }
    if spec.get("syncPolicy").is_some_and(is_empty_object) {
        spec.remove("syncPolicy");
    }
    match spec.get_mut("sources").and_then(Value::as_array_mut) {
        Some(sources) if !sources.is_empty() => sources.iter_mut().for_each(normalize_source),
        _ => spec.get_mut("source").into_iter().for_each(normalize_source),
    }
}

/// Fields of `kustomize` that Argo CD does not consider when it decides whether the block is empty.
const KUSTOMIZE_IGNORED: [&str; 5] = [
    "forceCommonLabels",
    "forceCommonAnnotations",
    "commonAnnotationsEnvsubst",
    "labelWithoutSelector",
    "labelIncludeTemplates",
];

fn normalize_source(source: &mut Value) {
    let Some(source) = source.as_object_mut() else { return };
    let is_ignored = |field: &String| KUSTOMIZE_IGNORED.contains(&field.as_str());
    if source.get("kustomize").and_then(Value::as_object).is_some_and(|block| block.keys().all(is_ignored)) {
        source.remove("kustomize");
    }
    for block in ["helm", "directory"] {
        if source.get(block).is_some_and(is_empty_object) {
            source.remove(block);
        }
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests;
