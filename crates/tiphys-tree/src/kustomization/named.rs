//! The paths that a kustomization names, for those who follow them.

use tiphys_yaml::{Data, Node, names_equal};

use crate::kustomization::{CHART_NAMES, FIELDS, NamedPath, chart_homes, items, paths, paths_in};

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

/// Fields whose items name files with the configuration of built-in plugins, which may name further files.
const CONFIGURATIONS: [&str; 3] = ["generators", "transformers", "validators"];

/// Fields with charts.
const CHARTS: [&str; 2] = ["helmCharts", "helmGlobals"];

/// The field of charts before version 4.
const NOT_FOLLOWED: &str = "helmChartInflationGenerator";

/// The group and version of a built-in plugin's configuration.
const BUILTIN: &str = "builtin";

/// Kinds of built-in plugins, with their fields that are paths or lists of paths. Other kinds are not followed.
const BUILTIN_KINDS: [(&str, &[&str]); 13] = [
    ("AnnotationsTransformer", &[]),
    ("ConfigMapGenerator", &["files", "envs", "env"]),
    ("HashTransformer", &[]),
    ("ImageTagTransformer", &[]),
    ("LabelTransformer", &[]),
    ("NamespaceTransformer", &[]),
    ("PatchJson6902Transformer", &["path"]),
    ("PatchStrategicMergeTransformer", &["paths"]),
    ("PatchTransformer", &["path"]),
    ("PrefixTransformer", &[]),
    ("ReplicaCountTransformer", &[]),
    ("SecretGenerator", &["files", "envs", "env"]),
    ("SuffixTransformer", &[]),
];

/// A chart of a kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalChart {
    /// The directories that kustomize takes it from, relative to the kustomization. If none exists, helm fetches it.
    pub folders: Vec<String>,
    /// The version as written; empty for the newest.
    pub version: String,
}

/// Returns the paths that a kustomization names, in its order, without those of [`configurations`] and [`charts`]. URLs and inline objects
/// are among them, because kustomize looks for a file first. The error is the reason why it may read more than these.
pub fn named(kustomization: &Node) -> Result<Vec<NamedPath<'_>>, String> {
    let Data::Mapping(entries) = &kustomization.data else {
        return Err("it is not an object".to_owned());
    };
    for entry in entries {
        let name = &entry.key.text;
        let is_one_of = |fields: &[&str]| fields.iter().any(|field| names_equal(name, field));
        if names_equal(name, NOT_FOLLOWED) && !is_empty(&entry.value) {
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
    let is_other = |path: &NamedPath<'_>| {
        let is_chart = path.inner.is_some_and(|inner| CHART_NAMES.contains(&inner) || inner == "chartHome");
        CONFIGURATIONS.contains(&path.field) || (CHARTS.contains(&path.field) && is_chart)
    };
    Ok(paths(kustomization).into_iter().filter(|path| !is_other(path)).collect())
}

/// Returns the items of the fields with configurations of built-in plugins: paths, or texts of several lines.
pub fn configurations(kustomization: &Node) -> impl Iterator<Item = NamedPath<'_>> {
    paths(kustomization).into_iter().filter(|path| CONFIGURATIONS.contains(&path.field))
}

/// Returns the paths that the configurations of built-in plugins name, relative to the kustomization. The error is the reason why kustomize
/// may read more than these.
pub fn configuration_paths(documents: &[Node]) -> Result<Vec<NamedPath<'_>>, String> {
    let mut found = Vec::new();
    for document in documents.iter().filter(|document| !document.is_null()) {
        let text_of = |field| document.get(field).and_then(Node::as_str).unwrap_or_default();
        let kind = text_of("kind");
        let known = BUILTIN_KINDS.iter().find(|(name, _)| *name == kind);
        // An annotation may make it a program.
        let is_plain = document.get("metadata").is_none_or(|metadata| metadata.get("annotations").is_none());
        let Some((field, inner)) = known.filter(|_| is_plain && text_of("apiVersion") == BUILTIN) else {
            return Err(format!("a plugin of kind {kind:?} may read any file"));
        };
        found.extend(paths_in(document, field, inner));
    }
    Ok(found)
}

/// Returns the charts of a kustomization.
pub fn charts(kustomization: &Node) -> Vec<LocalChart> {
    let paths = paths(kustomization);
    let homes = chart_homes(&paths);
    let items = kustomization.all(CHARTS[0]).flat_map(items);
    let chart = |item: &Node| {
        let text_of = |field| item.get(field).and_then(Node::as_str).unwrap_or_default();
        let (name, version) = (text_of("name"), text_of("version"));
        // Charts of repositories have a directory for each version.
        let own = |home: &&str| (!version.is_empty()).then(|| format!("{home}/{name}-{version}/{name}"));
        let folders = homes.iter().flat_map(|home| [format!("{home}/{name}")].into_iter().chain(own(home)));
        LocalChart { folders: folders.collect(), version: version.to_owned() }
    };
    items.map(chart).collect()
}

fn is_empty(node: &Node) -> bool {
    match &node.data {
        Data::Null => true,
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
        _ => false,
    }
}
