//! Joining the objects of several sources, and leaving objects out.

use std::collections::BTreeMap;

use tiphys_params::Warning;

use crate::{Manifest, ObjectKey, Scope, Scopes};

/// Joins the objects of an application's sources, in order. If several sources render one object, the last wins, with a warning.
/// Duplicates within one source all stay. Objects without a namespace are treated as if they had `namespace`, that of the destination.
/// Objects without a name (`generateName`) are all different.
pub fn combine(sources: Vec<Vec<Manifest>>, namespace: &str) -> (Vec<Manifest>, Vec<Warning>) {
    let scopes = Scopes::of(sources.iter().flatten());
    let mut last_source: BTreeMap<ObjectKey, usize> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        for manifest in source.iter().filter(|manifest| !manifest.name().is_empty()) {
            last_source.insert(cluster_key(manifest, namespace, &scopes), index);
        }
    }
    let mut warnings = Vec::new();
    let mut kept = Vec::new();
    for (index, source) in sources.into_iter().enumerate() {
        for manifest in source {
            let key = cluster_key(&manifest, namespace, &scopes);
            match last_source.get(&key) {
                Some(&last) if last != index => warnings.push(Warning {
                    message: format!(
                        "{key} is rendered by source {} and by source {}; the one of source {} is used",
                        index + 1,
                        last + 1,
                        last + 1
                    ),
                    position: None,
                }),
                _ => kept.push(manifest),
            }
        }
    }
    (kept, warnings)
}

/// Returns the key that the object will have in the cluster.
fn cluster_key(manifest: &Manifest, namespace: &str, scopes: &Scopes) -> ObjectKey {
    let mut key = manifest.key();
    if scopes.scope(&key.group, &key.kind) == Scope::Cluster {
        key.namespace.clear();
    } else if key.namespace.is_empty() {
        namespace.clone_into(&mut key.namespace);
    }
    key
}

/// Returns the objects without Secrets.
pub fn skip_secrets(manifests: Vec<Manifest>) -> Vec<Manifest> {
    manifests.into_iter().filter(|manifest| manifest.group_kind() != ("", "Secret")).collect()
}

/// Returns a warning if an application rendered no objects, because a sync with pruning would then delete all of them.
pub fn nothing_rendered(application: &str, manifests: &[Manifest]) -> Option<Warning> {
    manifests.is_empty().then(|| Warning {
        message: format!("{application} rendered no objects: a sync with pruning would delete everything that it has deployed"),
        position: None,
    })
}

#[cfg(test)]
mod tests;
