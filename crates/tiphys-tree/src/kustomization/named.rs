//! The paths that a kustomization names, for those who follow them.

use tiphys_yaml::{Data, Node, names_equal};

use crate::kustomization::{FIELDS, NamedPath, items, paths};

/// Fields without paths.
const PLAIN: [&str; 16] = [
    "apiVersion",
    "kind",
    "metadata",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "vars",
    "sortOptions",
    "generatorOptions",
    "buildMetadata",
];

/// Fields with charts and with configurations of plugins, which may name further files and what is fetched.
const NOT_FOLLOWED: [&str; 6] =
    ["generators", "transformers", "validators", "helmCharts", "helmGlobals", "helmChartInflationGenerator"];

/// Returns the paths that a kustomization names, in its order. URLs and inline objects are among them, because kustomize looks for a file
/// first. The error is the reason why it may read more than these.
pub fn named(kustomization: &Node) -> Result<Vec<NamedPath<'_>>, String> {
    let Data::Mapping(entries) = &kustomization.data else {
        return Err("it is not an object".to_owned());
    };
    for entry in entries {
        let name = &entry.key.text;
        let is_one_of = |fields: &[&str]| fields.iter().any(|field| names_equal(name, field));
        if is_one_of(&NOT_FOLLOWED) && !is_empty(&entry.value) {
            return Err(format!("its field {name} may read any file"));
        }
        let is_object = |item: &Node| matches!(item.data, Data::Mapping(_) | Data::Null);
        let has_objects = FIELDS.iter().any(|(field, inner)| !inner.is_empty() && names_equal(name, field));
        if has_objects && !items(&entry.value).iter().all(is_object) {
            return Err(format!("an item of its field {name} is not an object"));
        }
        if !is_one_of(&FIELDS.map(|(field, _)| field)) && !is_one_of(&PLAIN) {
            return Err(format!("its field {name} is not known"));
        }
    }
    Ok(paths(kustomization))
}

fn is_empty(node: &Node) -> bool {
    match &node.data {
        Data::Null => true,
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
        _ => false,
    }
}
