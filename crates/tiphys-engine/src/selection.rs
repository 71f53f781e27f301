//! Joining what several sources rendered, and leaving objects out.

use std::collections::BTreeMap;

use tiphys_params::Warning;

use crate::{Manifest, ObjectKey, Scope, Scopes};

/// Joins the objects of an application's sources, in their order. Of one object that several sources rendered the last stays,
/// with a warning; objects of one source are never joined. `namespace` is the destination's: an object that names none is the
/// same as one that names it. Objects without a name (`generateName`) are all different.
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
                        "{key} is rendered by source {} and by source {}; the one of source {} is kept",
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

/// What the object will be in the cluster.
fn cluster_key(manifest: &Manifest, namespace: &str, scopes: &Scopes) -> ObjectKey {
    let mut key = manifest.key();
    if scopes.scope(&key.group, &key.kind) == Scope::Cluster {
        key.namespace.clear();
    } else if key.namespace.is_empty() {
        namespace.clone_into(&mut key.namespace);
    }
    key
}

/// The objects without the Secrets among them.
pub fn skip_secrets(manifests: Vec<Manifest>) -> Vec<Manifest> {
    manifests.into_iter().filter(|manifest| manifest.group_kind() != ("", "Secret")).collect()
}

/// A warning if an application rendered nothing. Nothing looks at whether that was meant: with pruning on, it deletes all.
pub fn nothing_rendered(application: &str, manifests: &[Manifest]) -> Option<Warning> {
    manifests.is_empty().then(|| Warning {
        message: format!("{application} rendered no objects: a sync with pruning would delete everything that it has deployed"),
        position: None,
    })
}

#[cfg(test)]
mod tests;
