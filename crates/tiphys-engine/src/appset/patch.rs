//! `templatePatch`: a strategic merge patch of an Application.

use serde_json::{Map, Value};
use tiphys_go::gotemplate::go_string;
use tiphys_go::strconv::quote;
use tiphys_model::resources::{
    APPLICATION, GoField, GoType, PatchStrategy, canonical, decode_fields, decode_value,
};
use tiphys_yaml::{Node, read_document, read_json};

/// A patch cannot be applied, in Argo CD's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatchError {
    message: String,
}

/// Applies a rendered `templatePatch` to a canonical Application. A patch that begins with `{` is JSON, any other the first document of YAML
/// 1.1. Its types are checked regardless of the letter case of keys; it is merged with regard to it. `spec.project` does not change.
pub fn apply_template_patch(application: Value, patch: &str) -> Result<Value, PatchError> {
    let (node, json) = if patch.trim_start().starts_with('{') {
        let node = read_json(patch.as_bytes())
            .map_err(|error| failed("invalid templatePatch", patch, &error.to_string()))?;
        (Some(node), patch.to_owned())
    } else {
        let node = read_document(patch.as_bytes())
            .map_err(|error| failed("error while converting template to json", patch, &error.to_string()))?
            .map(Node::deduplicated);
        let json = node.as_ref().map_or_else(|| "null".to_owned(), Node::to_json);
        (node, json)
    };
    let Some(node) = node else { return Ok(canonical(&APPLICATION, application)) };
    decode_fields(&APPLICATION, &node).map_err(|error| failed("invalid templatePatch", &json, &error.go))?;
    let (Value::Object(original), Value::Object(mut patch)) = (application, node.to_value()) else {
        return Err(failed("invalid templatePatch", &json, "expected an object"));
    };
    let project = original.get("spec").and_then(|spec| spec.get("project")).cloned();
    // The status is not kept, so there is nothing to merge it with.
    patch.remove("status");
    let merged = merge_objects(original, patch, &ROOT)
        .map_err(|error| failed("error while applying templatePatch template to json", &json, &error))?;
    let mut patched = decode_value(&APPLICATION, &Value::Object(merged))
        .map_err(|error| PatchError {
            message: format!("error while unmarhsalling patched application: {}", error.go),
        })?
        .value;
    patched["spec"]["project"] = project.unwrap_or_else(|| Value::from(""));
    Ok(patched)
}

static ROOT: GoType = GoType::Struct(&APPLICATION);

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList/";
const ELEMENT_ORDER: &str = "$setElementOrder/";

fn merge_objects(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    kind: &'static GoType,
) -> Result<Map<String, Value>, String> {
    match patch.get(DIRECTIVE) {
        None => {}
        Some(Value::String(directive)) if directive == "replace" => {
            patch.remove(DIRECTIVE);
            return Ok(patch);
        }
        Some(Value::String(directive)) if directive == "delete" => return Ok(Map::new()),
        Some(directive) => {
            let directive = go_string(directive);
            return Err(format!(
                "unknown patch type: {directive} in map: {}",
                go_string(&Value::from(patch))
            ));
        }
    }
    if let Some(retained) = patch.remove(RETAIN_KEYS) {
        let is_retained =
            |key: &str| retained.as_array().is_some_and(|keys| keys.iter().any(|retained| retained == key));
        let is_checked = |(key, value): &(&String, &Value)| !value.is_null() && !key.starts_with('$');
        if !retained.is_array() || !patch.iter().filter(is_checked).all(|(key, _)| is_retained(key)) {
            return Err("invalid patch format of retainKeys".to_owned());
        }
        original.retain(|key, _| is_retained(key));
    }
    for (key, value) in patch {
        if key.starts_with(ELEMENT_ORDER) {
            return Err(format!("{key} is not supported; write the list in its order"));
        }
        if let Some(key) = key.strip_prefix(DELETE_FROM_LIST) {
            if let (Some(Value::Array(items)), Value::Array(deleted)) = (original.get_mut(key), &value) {
                items.retain(|item| !deleted.contains(item));
            }
            continue;
        }
        let merged = match (original.remove(&key), value) {
            (_, Value::Null) => continue,
            (Some(Value::Object(original)), Value::Object(value)) => {
                let field = field(kind, &key)?;
                match field.patch {
                    PatchStrategy::Replace => Value::Object(value),
                    _ => Value::Object(merge_objects(original, value, field.kind.base())?),
                }
            }
            (Some(Value::Array(original)), Value::Array(value)) => match field(kind, &key)?.patch {
                PatchStrategy::Merge => Value::Array(merge_scalars(&original, &value)),
                // Templates have no owner references, so there is nothing to merge by key.
                PatchStrategy::Default | PatchStrategy::Replace | PatchStrategy::MergeBy(_) => {
                    Value::Array(value)
                }
            },
            (_, mut value) => {
                discard_nulls(&mut value);
                match without_directives(value) {
                    Some(value) => value,
                    None => continue,
                }
            }
        };
        original.insert(key, merged);
    }
    Ok(original)
}

/// Returns the field that tells how to merge. Free JSON has none, so objects and lists on both sides cannot be merged there.
fn field(kind: &'static GoType, key: &str) -> Result<&'static GoField, String> {
    let unknown = |name: &str| {
        let name = name.rsplit('.').next().unwrap_or(name);
        format!("unable to find api field in struct {name} for the json field {}", quote(key))
    };
    match kind {
        GoType::Struct(of) => of.field(key).ok_or_else(|| unknown(of.name)),
        GoType::Free(name) => Err(unknown(name)),
        _ => Err("merging an object in json but data type is not struct, instead is: map".to_owned()),
    }
}

/// Returns the items of both lists once each: those of the patch in its order, and the others before the first item of the patch that
/// follows them in the original.
fn merge_scalars(original: &[Value], patch: &[Value]) -> Vec<Value> {
    let unique = |items: &[Value]| {
        items.iter().fold(Vec::new(), |mut unique: Vec<Value>, item| {
            if !unique.contains(item) {
                unique.push(item.clone());
            }
            unique
        })
    };
    let mut others = unique(original)
        .into_iter()
        .filter(|item| !patch.contains(item))
        .collect::<Vec<_>>()
        .into_iter()
        .peekable();
    let place = |item: &Value| original.iter().position(|other| other == item);
    let mut merged = Vec::new();
    for item in unique(patch) {
        let end = place(&item);
        while let Some(other) = others.next_if(|other| end.is_some_and(|end| place(other) < Some(end))) {
            merged.push(other);
        }
        merged.push(item);
    }
    merged.extend(others);
    merged
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// Removes objects with a directive.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let entry = |(key, value)| without_directives(value).map(|value| (key, value));
            Some(Value::Object(map.into_iter().filter_map(entry).collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        value => Some(value),
    }
}

fn failed(prefix: &str, text: &str, reason: &str) -> PatchError {
    PatchError { message: format!("{prefix} {}: {reason}", quote(text)) }
}

#[cfg(test)]
mod tests;
