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
        Watched::Secrets => any_generator(generators, &|kind, _| !SELF_CONTAINED.contains(&kind)),
        Watched::ConfigMaps => any_generator(generators, &|kind, _| WITH_CONFIG_MAPS.contains(&kind)),
    }
}

/// Returns the kind and the block of each generator, those of `matrix` and `merge` instead of these.
pub(crate) fn generators_in(generators: &Value) -> Vec<(&str, &Value)> {
    let entries = generators.as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    let found = entries.map(|(kind, block)| match kind.as_str() {
        "matrix" | "merge" => generators_in(&block["generators"]),
        "selector" => Vec::new(),
        kind => vec![(kind, block)],
    });
    found.flatten().collect()
}

/// Whether a condition holds for the kind and the block of a generator.
pub(crate) fn any_generator(generators: &Value, condition: &dyn Fn(&str, &Value) -> bool) -> bool {
    generators_in(generators).into_iter().any(|(kind, block)| condition(kind, block))
}

/// Whether generators list the clusters of Argo CD.
pub(super) fn depends_on_clusters(generators: &Value) -> bool {
    any_generator(generators, &|kind, _| matches!(kind, "clusters" | "clusterDecisionResource"))
}

/// Whether generators read a `ConfigMap`.
pub(crate) fn depends_on_config_map(generators: &Value, name: &str) -> bool {
    any_config_map(generators, &|config_map| config_map == name || is_template(config_map))
}

/// Whether the token of a plugin service is in a Secret. `config_map` finds the `ConfigMap` of a service.
pub(super) fn depends_on_secret<'a>(
    generators: &Value,
    name: &str,
    config_map: &dyn Fn(&str) -> Option<&'a Value>,
) -> bool {
    any_config_map(generators, &|map| {
        is_template(map)
            || config_map(map).is_some_and(|object| {
                let token = object["data"]["token"].as_str().unwrap_or_default();
                let secret = token.strip_prefix('$').and_then(|token| token.split_once(':'));
                secret.map_or(DEFAULT_SECRET, |(secret, _)| secret) == name
            })
    })
}

/// Whether a condition holds for the name of the `ConfigMap` of a plugin service, in both forms.
fn any_config_map(generators: &Value, condition: &dyn Fn(&str) -> bool) -> bool {
    any_generator(generators, &|kind, block| {
        let reference = &block["configMapRef"];
        let name = reference.as_str().or_else(|| reference["name"].as_str());
        kind == "plugin" && name.is_some_and(condition)
    })
}

/// Whether a matrix decides the value, so that any may be meant.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{")
}
