//! Where a document sets a parameter: an Application's source, or an override file.

use std::collections::BTreeMap;

use tiphys_yaml::{Data, Entry, Node, Position, names_equal};

/// The fields of a kustomize block and the parameters that they become ([`crate::translate`]).
const KUSTOMIZE_FIELDS: [(&str, &str); 5] = [
    ("version", "version"),
    ("namePrefix", "name-prefix"),
    ("nameSuffix", "name-suffix"),
    ("images", "images"),
    ("commonLabels", "labels"),
];

/// Where a source's document sets parameters, by their names: the entry of `plugin.parameters`, of several of one name the last, which
/// counts; else the field of the `kustomize` block that becomes the parameter. Field names are taken in any letter case, as Argo CD
/// takes them.
pub fn parameter_places(source: &Node) -> BTreeMap<&str, Position> {
    let mut places = BTreeMap::new();
    if let Some(block) = field(source, "kustomize") {
        for (key, name) in KUSTOMIZE_FIELDS {
            places.extend(field(&block.value, key).map(|entry| (name, entry.key.position)));
        }
    }
    let listed = field(source, "plugin").and_then(|plugin| field(&plugin.value, "parameters"));
    if let Some(Data::Sequence(items)) = listed.map(|list| &list.value.data) {
        let named = |item| Some((field(item, "name")?.value.as_str()?, item.position));
        places.extend(items.iter().filter_map(named));
    }
    places
}

/// The source at this index of an Application's document, from 0: an item of `spec.sources`, else `spec.source`.
pub fn source_node(application: &Node, index: usize) -> Option<&Node> {
    let spec = &field(application, "spec")?.value;
    match field(spec, "sources").map(|sources| &sources.value.data) {
        Some(Data::Sequence(items)) if !items.is_empty() => items.get(index),
        _ => field(spec, "source").map(|source| &source.value),
    }
}

/// The field that counts: of several the last.
fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Entry> {
    let Data::Mapping(entries) = &node.data else { return None };
    entries.iter().rfind(|entry| names_equal(&entry.key.text, name))
}

#[cfg(test)]
mod tests;
