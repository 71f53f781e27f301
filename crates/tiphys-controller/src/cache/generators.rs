//! Which objects the generators of a set read, from its document.

use serde_json::Value;

/// The Secret that a token without the name of a Secret is in.
const DEFAULT_SECRET: &str = "argocd-secret";

/// Whether generators list the clusters of Argo CD.
pub(super) fn depends_on_clusters(generators: &Value) -> bool {
    blocks(generators, "clusters").next().is_some()
        || blocks(generators, "clusterDecisionResource").next().is_some()
}

/// Whether generators read a `ConfigMap`.
pub(super) fn depends_on_config_map(generators: &Value, name: &str) -> bool {
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
