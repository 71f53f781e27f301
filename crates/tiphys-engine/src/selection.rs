//! Joining the objects of several sources, and leaving objects out.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_model::params::Warning;

use crate::{Manifest, ObjectKey, Scope, Scopes};

/// Joins the objects of an application's sources, in order. If several sources render one object, only those of the last stay. Duplicates
/// within one source all stay, and the last is applied last. Each object that occurs several times has the warning of Argo CD's
/// condition `RepeatedResourceWarning`. Objects without a name (`generateName`) are all different.
pub fn combine(sources: Vec<Vec<Manifest>>, namespace: &str) -> (Vec<Manifest>, Vec<Warning>) {
    let scopes = Scopes::of(sources.iter().flatten());
    let mut occurrences: BTreeMap<ObjectKey, Vec<usize>> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        for manifest in source.iter().filter(|manifest| !manifest.name().is_empty()) {
            occurrences.entry(key_in_cluster(manifest, namespace, &scopes)).or_default().push(index);
        }
    }
    let repeated = |(key, indexes): (&ObjectKey, &Vec<usize>)| {
        (indexes.len() > 1).then(|| Warning { message: repeated(key, indexes), position: None })
    };
    let warnings = occurrences.iter().filter_map(repeated).collect();
    let mut kept = Vec::new();
    for (index, source) in sources.into_iter().enumerate() {
        kept.extend(source.into_iter().filter(|manifest| {
            let last = occurrences.get(&key_in_cluster(manifest, namespace, &scopes));
            last.and_then(|indexes| indexes.last()).is_none_or(|last| *last == index)
        }));
    }
    (kept, warnings)
}

/// Returns the warning about an object that occurs in the sources with these indexes, with the words of Argo CD.
fn repeated(ObjectKey { group, kind, namespace, name }: &ObjectKey, indexes: &[usize]) -> String {
    let sources: BTreeSet<usize> = indexes.iter().map(|index| index + 1).collect();
    let place = if sources.len() > 1 {
        let numbers: Vec<String> = sources.iter().map(usize::to_string).collect();
        format!(", in sources {}", numbers.join(", "))
    } else {
        String::new()
    };
    format!(
        "Resource {group}/{kind}/{namespace}/{name} appeared {} times among application resources{place}; the last one is used",
        indexes.len()
    )
}

/// Returns the key that an object will have in the cluster. `namespace` is that of the destination, for namespaced objects without one. As
/// in Argo CD, kinds of unknown scope are namespaced.
pub fn key_in_cluster(manifest: &Manifest, namespace: &str, scopes: &Scopes) -> ObjectKey {
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
