//! Which objects the generators of a set read, from its document.

use serde_json::Value;

use crate::object::Watched;

/// The Secret that a token without the name of a Secret is in.
const DEFAULT_SECRET: &str = "argocd-secret";

/// Generators that read no other objects.
const SELF_CONTAINED: [&str; 1] = ["list"];

/// Generators that read `ConfigMaps`; those of forges may name one with CA certificates.
const WITH_CONFIG_MAPS: [&str; 4] = ["plugin", "clusterDecisionResource", "scmProvider", "pullRequest"];

/// Whether a set cannot be generated without the objects of a kind. Every set is checked against the projects. Without cluster Secrets, its
/// destinations are not.
pub(crate) fn needs(kind: Watched, set: &Value) -> bool {
    let generators = &set["spec"]["generators"];
    match kind {
        Watched::Sets | Watched::Applications | Watched::Projects => true,
        Watched::Secrets => has_generator(generators, &|kind| !SELF_CONTAINED.contains(&kind)),
        Watched::ConfigMaps => has_generator(generators, &|kind| WITH_CONFIG_MAPS.contains(&kind)),
    }
}

/// Whether there is a generator of some kinds, nested ones included.
fn has_generator(generators: &Value, is_meant: &dyn Fn(&str) -> bool) -> bool {
    let entries = generators.as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    entries.into_iter().any(|(kind, block)| match kind.as_str() {
        "matrix" | "merge" => has_generator(&block["generators"], is_meant),
        "selector" => false,
        kind => is_meant(kind),
    })
}

/// Whether generators list the clusters of Argo CD.
pub(super) fn depends_on_clusters(generators: &Value) -> bool {
    blocks(generators, "clusters").next().is_some()
        || blocks(generators, "clusterDecisionResource").next().is_some()
}

/// Whether generators read a `ConfigMap`.
pub(crate) fn depends_on_config_map(generators: &Value, name: &str) -> bool {
    config_maps(generators).any(|config_map| config_map == name || is_template(config_map))
}

/// Whether the token of a plugin service is in a Secret. `config_map` finds the `ConfigMap` of a service.
pub(super) fn depends_on_secret<'a>(
    generators: &Value,
    name: &str,
    config_map: &dyn Fn(&str) -> Option<&'a Value>,
) -> bool {
    config_maps(generators).any(|map| {
        is_template(map)
            || config_map(map).is_some_and(|object| {
                let token = object["data"]["token"].as_str().unwrap_or_default();
                let secret = token.strip_prefix('$').and_then(|token| token.split_once(':'));
                secret.map_or(DEFAULT_SECRET, |(secret, _)| secret) == name
            })
    })
}

/// Returns the names of the `ConfigMaps` of plugin services, in both forms.
fn config_maps(generators: &Value) -> impl Iterator<Item = &str> {
    let references = blocks(generators, "plugin").map(|plugin| &plugin["configMapRef"]);
    references.filter_map(|reference| reference.as_str().or_else(|| reference["name"].as_str()))
}

fn is_template(text: &str) -> bool {
    text.contains("{{")
}

/// Returns the generators of a kind, nested ones included.
fn blocks<'a>(generators: &'a Value, kind: &'a str) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
    let entries = generators.as_array().into_iter().flatten();
    Box::new(entries.flat_map(move |entry| {
        let nested = ["matrix", "merge"].into_iter().filter_map(|kind| entry.get(kind));
        let nested = nested.flat_map(move |nested| blocks(&nested["generators"], kind));
        entry.get(kind).into_iter().chain(nested)
    }))
}
