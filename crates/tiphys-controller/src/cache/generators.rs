//! Which objects the generators of a set read, from its document.

use serde_json::Value;
use tiphys_model::access::SecretReference;

use crate::object::Watched;

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

/// Whether generators ask plugin services, whose number of questions is limited for each service, and no other servers.
pub(crate) fn only_waits_for_services(generators: &Value) -> bool {
    let found = generators_in(generators);
    found.iter().any(|(kind, _)| *kind == "plugin")
        && found.iter().all(|(kind, _)| ["plugin", "list", "clusters"].contains(kind))
}

/// Whether generators list the clusters of Argo CD.
pub(super) fn depends_on_clusters(generators: &Value) -> bool {
    any_generator(generators, &|kind, _| matches!(kind, "clusters" | "clusterDecisionResource"))
}

/// Whether generators ask the plugin service of a `ConfigMap`.
pub(crate) fn asks_plugin(generators: &Value, name: &str) -> bool {
    any_config_map(generators, &|kind, map| kind == "plugin" && (map == name || is_template(map)))
}

/// Whether generators read a `ConfigMap`.
pub(super) fn depends_on_config_map(generators: &Value, name: &str) -> bool {
    any_config_map(generators, &|_, config_map| config_map == name || is_template(config_map))
        || objects_of_forges(generators).contains(&(Watched::ConfigMaps, name))
}

/// Whether the token of a plugin service or a forge is in a Secret. `config_map` finds the `ConfigMap` of a service.
pub(super) fn depends_on_secret<'a>(
    generators: &Value,
    name: &str,
    config_map: &dyn Fn(&str) -> Option<&'a Value>,
) -> bool {
    let is_token = any_config_map(generators, &|_, map| {
        is_template(map)
            || config_map(map).is_some_and(|object| {
                let token = object["data"]["token"].as_str().and_then(SecretReference::parse);
                token.is_some_and(|token| token.secret == name)
            })
    });
    is_token || objects_of_forges(generators).contains(&(Watched::Secrets, name))
}

/// Returns the Secrets with tokens and the `ConfigMaps` with CA certificates that generators of forges name.
pub(crate) fn objects_of_forges(generators: &Value) -> Vec<(Watched, &str)> {
    let is_of_forges = |kind: &str| ["scmProvider", "pullRequest"].contains(&kind);
    let of_forges = generators_in(generators).into_iter().filter(|(kind, _)| is_of_forges(kind));
    let blocks = of_forges.flat_map(|(_, block)| block.as_object().into_iter().flatten());
    let named = blocks.flat_map(|(_, forge)| {
        let token = (Watched::Secrets, &forge["tokenRef"]["secretName"]);
        [token, (Watched::ConfigMaps, &forge["caRef"]["configMapName"])]
    });
    named.filter_map(|(kind, name)| Some((kind, name.as_str()?))).collect()
}

/// Whether a condition holds for the kind of a generator and the name of its `ConfigMap`, in both forms.
fn any_config_map(generators: &Value, condition: &dyn Fn(&str, &str) -> bool) -> bool {
    any_generator(generators, &|kind, block| {
        let reference = &block["configMapRef"];
        let name = reference.as_str().or_else(|| reference["name"].as_str());
        name.is_some_and(|name| condition(kind, name))
    })
}

/// Whether a matrix decides the value, so that any may be meant.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{")
}
