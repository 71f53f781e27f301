//! The changes of a document that turn one source into another.

use serde::Serialize;
use serde_json::{Map, Value, json};
use tiphys_model::params::Parameter;
use tiphys_model::resources::ApplicationSource;
use tiphys_yaml::{Change, NewValue, Step};

/// Returns the changes that turn the blocks of `before` into those of `after`, for the source at this path. Changes are minimal, so that
/// everything else that a user wrote there stays.
///
/// Parameters are matched by name: removing one does not affect the others, and new ones are appended.
pub fn parameter_changes(
    source: &[Step],
    before: &ApplicationSource,
    after: &ApplicationSource,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let list = |source: &ApplicationSource| source.plugin.as_ref().and_then(|block| block.parameters.clone());
    match (list(before), list(after)) {
        (Some(old), Some(new)) => changes.extend(diff_parameters(&list_path(source), &old, &new)),
        (Some(_), None) => changes.push(Change::Remove { path: list_path(source) }),
        (None, Some(new)) => {
            changes.push(Change::Set { path: list_path(source), value: list_of(&new) });
        }
        (None, None) => {}
    }
    for block in BLOCKS {
        let mut path = [source, &[key(block.name)]].concat();
        diff_values(&mut path, &(block.value)(before), &(block.value)(after), &mut changes);
    }
    changes
}

/// Returns the changes of an override file that turn the source `before` into `after`. `document` is the current content of the file, `own`
/// the source without override files. A merge patch replaces lists as a whole, so a parameter list that is new to the file is written in
/// full. Of a `kustomize` or `helm` block, only the fields that change are written.
pub fn patch_changes(
    own: &ApplicationSource,
    document: &ApplicationSource,
    before: &ApplicationSource,
    after: &ApplicationSource,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let list = |source: &ApplicationSource| source.plugin.as_ref().and_then(|block| block.parameters.clone());
    if let Some(new) = list(after).filter(|new| list(before).as_ref() != Some(new)) {
        match list(document) {
            Some(old) => changes.extend(diff_parameters(&list_path(&[]), &old, &new)),
            None => changes.push(Change::Set { path: list_path(&[]), value: list_of(&new) }),
        }
    }
    for Block { name, value } in BLOCKS {
        let values = [&value(own), &value(document), &value(before), &value(after)];
        add_patch(&mut vec![key(name)], values, &mut changes);
    }
    changes
}

/// Adds the changes of a merge patch that turn `before` into `after`. Both must be objects.
fn add_patch(path: &mut Vec<Step>, [own, document, before, after]: [&Value; 4], changes: &mut Vec<Change>) {
    let entries = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (before, after) = (entries(before), entries(after));
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    for name in after.keys().chain(gone) {
        let (old, new) = (before.get(name), after.get(name));
        if old == new {
            continue;
        }
        let field = |value: &Value| value.get(name).cloned();
        path.push(key(name));
        match (field(document), new) {
            (known, Some(new @ Value::Object(_))) => {
                let none = Value::Null;
                let parts =
                    [&field(own).unwrap_or_default(), &known.unwrap_or_default(), old.unwrap_or(&none), new];
                add_patch(path, parts, changes);
            }
            (Some(known), Some(new)) => diff_values(path, &known, new, changes),
            (None, Some(new)) => {
                changes.push(Change::Set { path: path.clone(), value: new_value(new) });
            }
            // Argo CD keeps a list whose key is removed, but not in the values of a chart.
            (_, None)
                if field(own).is_some_and(|own| own.is_array()) && !path.contains(&key(VALUES_OBJECT)) =>
            {
                changes.push(Change::Set { path: path.clone(), value: NewValue::List(Vec::new()) });
            }
            // Without `null`, the source's own value would apply again.
            (_, None) if field(own).is_some() => {
                changes.push(Change::Set { path: path.clone(), value: NewValue::from(Value::Null) });
            }
            (Some(_), None) => changes.push(Change::Remove { path: path.clone() }),
            (None, None) => {}
        }
        path.pop();
    }
}

/// The field of a helm block with its inline values.
const VALUES_OBJECT: &str = "valuesObject";

/// A block with a field for each parameter.
struct Block {
    name: &'static str,
    /// Returns the fields that are set.
    value: fn(&ApplicationSource) -> Value,
}

/// Of a `plugin` block, only the dynamic parameters: its list of parameters is compared by name.
const BLOCKS: [Block; 3] = [
    Block { name: "plugin", value: dynamic_parameters },
    Block { name: "kustomize", value: |source| fields(source.kustomize.as_ref()) },
    Block { name: "helm", value: |source| fields(source.helm.as_ref()) },
];

fn dynamic_parameters(source: &ApplicationSource) -> Value {
    let list = source.plugin.as_ref().map(|block| &block.dynamic_parameters);
    match list.filter(|list| !list.is_empty()) {
        Some(list) => json!({"dynamicParameters": list}),
        None => Value::Object(Map::new()),
    }
}

fn fields(block: Option<&impl Serialize>) -> Value {
    match block {
        Some(block) => serde_json::to_value(block).unwrap_or_default(),
        None => Value::Object(Map::new()),
    }
}

fn list_of(parameters: &[Parameter]) -> NewValue {
    NewValue::List(parameters.iter().map(written).collect())
}

fn list_path(source: &[Step]) -> Vec<Step> {
    [source, &[key("plugin"), key("parameters")]].concat()
}

fn key(text: &str) -> Step {
    Step::Key(text.to_owned())
}

fn entry_path(list: &[Step], index: usize, field: &str) -> Vec<Step> {
    let mut path = list.to_vec();
    path.extend([Step::Index(index), key(field)]);
    path
}

/// Returns the changes between two lists. The names in both must have the same order.
fn diff_parameters(list: &[Step], old: &[Parameter], new: &[Parameter]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut gone = Vec::new();
    let mut rest = new.iter().peekable();
    for (index, parameter) in old.iter().enumerate() {
        match rest.next_if(|next| next.name == parameter.name) {
            Some(next) => diff_parameter(list, index, parameter, next, &mut changes),
            None => gone.push(index),
        }
    }
    // From the end, so that earlier indexes stay valid.
    let removed = gone.iter().rev().map(|index| {
        let mut path = list.to_vec();
        path.push(Step::Index(*index));
        Change::Remove { path }
    });
    changes.extend(removed);
    let kept = old.len() - gone.len();
    for (index, parameter) in rest.enumerate() {
        let mut path = list.to_vec();
        path.push(Step::Index(kept + index));
        changes.push(Change::Set { path, value: written(parameter) });
    }
    changes
}

fn diff_parameter(list: &[Step], index: usize, old: &Parameter, new: &Parameter, changes: &mut Vec<Change>) {
    if old == new {
        return;
    }
    let text = |value: &String| Value::String(value.clone());
    let items = |items: &Vec<String>| Value::Array(items.iter().map(text).collect());
    let map = |map: &std::collections::BTreeMap<String, String>| {
        Value::Object(map.iter().map(|(key, value)| (key.clone(), text(value))).collect())
    };
    let fields = [
        ("string", old.string.as_ref().map(text), new.string.as_ref().map(text)),
        ("array", old.array.as_ref().map(items), new.array.as_ref().map(items)),
        ("map", old.map.as_ref().map(map), new.map.as_ref().map(map)),
    ];
    for (field, old, new) in fields {
        let mut path = entry_path(list, index, field);
        match (old, new) {
            (Some(old), Some(new)) => diff_values(&mut path, &old, &new, changes),
            (Some(_), None) => changes.push(Change::Remove { path }),
            (None, Some(new)) => changes.push(Change::Set { path, value: NewValue::from(new) }),
            (None, None) => {}
        }
    }
}

/// Adds the smallest changes between two values: entries of objects, items of lists, else the whole value.
fn diff_values(path: &mut Vec<Step>, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in new {
                path.push(key(name));
                match old.get(name) {
                    Some(known) => diff_values(path, known, value, changes),
                    None => changes.push(Change::Set { path: path.clone(), value: new_value(value) }),
                }
                path.pop();
            }
            for name in old.keys().filter(|name| !new.contains_key(*name)) {
                let mut path = path.clone();
                path.push(key(name));
                changes.push(Change::Remove { path });
            }
        }
        (Value::Array(old), Value::Array(new)) => diff_items(path, old, new, changes),
        _ => changes.push(Change::Set { path: path.clone(), value: new_value(new) }),
    }
}

/// Adds the changes between two lists: changed, removed or appended items. For anything else, the list is replaced.
fn diff_items(path: &[Step], old: &[Value], new: &[Value], changes: &mut Vec<Change>) {
    let at = |index: usize| {
        let mut path = path.to_vec();
        path.push(Step::Index(index));
        path
    };
    let set = |index: usize| Change::Set { path: at(index), value: new_value(&new[index]) };
    if old.len() <= new.len() {
        let changed = (0..old.len()).filter(|index| old[*index] != new[*index]);
        changes.extend(changed.map(set));
        changes.extend((old.len()..new.len()).map(set));
        return;
    }
    let mut rest = new.iter().peekable();
    let gone: Vec<usize> =
        (0..old.len()).filter(|index| rest.next_if(|next| **next == old[*index]).is_none()).collect();
    if rest.peek().is_some() || new.is_empty() {
        changes.push(Change::Set { path: path.to_vec(), value: new_value(&Value::Array(new.to_vec())) });
    } else {
        changes.extend(gone.into_iter().rev().map(|index| Change::Remove { path: at(index) }));
    }
}

/// Returns a value with its fields in the usual order: `name` first, then `value`; in a reference to an object, its path last.
fn new_value(value: &Value) -> NewValue {
    match value {
        Value::Array(items) => NewValue::List(items.iter().map(new_value).collect()),
        Value::Object(map) if map.contains_key("name") => ordered(map, &["name", "value"]),
        Value::Object(map) => ordered(map, &[]),
        value => NewValue::from(value.clone()),
    }
}

/// Returns an object with these fields first.
fn ordered(map: &Map<String, Value>, first: &[&str]) -> NewValue {
    let rank = |key: &str| first.iter().position(|one| *one == key).unwrap_or(first.len());
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| rank(key));
    let fields = entries.into_iter().map(|(key, value)| match value {
        Value::Object(reference) if key == RESOURCE_REF => {
            (key.clone(), ordered(reference, &RESOURCE_REF_FIELDS))
        }
        value => (key.clone(), new_value(value)),
    });
    NewValue::Object(fields.collect())
}

/// The field of a dynamic parameter with its object, and the fields of the object in their order.
const RESOURCE_REF: &str = "resourceRef";
const RESOURCE_REF_FIELDS: [&str; 6] = ["group", "version", "kind", "namespace", "name", "path"];

/// Returns an entry of `parameters` with its fields in the usual order: `name` first.
fn written(parameter: &Parameter) -> NewValue {
    let text = |text: &String| NewValue::Text(text.clone());
    let mut fields = vec![("name".to_owned(), text(&parameter.name))];
    if let Some(value) = &parameter.string {
        fields.push(("string".to_owned(), text(value)));
    }
    if let Some(items) = &parameter.array {
        fields.push(("array".to_owned(), NewValue::List(items.iter().map(text).collect())));
    }
    if let Some(map) = &parameter.map {
        let entries = map.iter().map(|(key, value)| (key.clone(), text(value)));
        fields.push(("map".to_owned(), NewValue::Object(entries.collect())));
    }
    NewValue::Object(fields)
}
