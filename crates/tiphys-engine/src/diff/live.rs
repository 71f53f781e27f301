//! What was rendered against what is live.

mod kinds;
mod left_out;
mod projection;
mod quantity;
mod secret;

use std::collections::HashMap;

use serde_json::{Map, Value};
use tiphys_params::Warning;

use super::mask::LAST_APPLIED_ANNOTATION;
use super::{Comparison, Ignored, ignore};
use crate::{Manifest, ObjectKey, Ownership, Scope, Scopes};

pub use left_out::{LeftOut, LeftOutReason};

use kinds::KindRules;

/// An object that was rendered, with the namespace that it goes to, and what is live of it.
#[derive(Clone, Debug)]
pub struct LivePair {
    /// As it was rendered.
    pub rendered: Manifest,
    /// As it is in the cluster.
    pub live: Option<Manifest>,
}

/// What a comparison with live objects goes by.
#[derive(Clone, Copy, Debug)]
pub struct LiveRules<'a> {
    /// The application, by its instance name.
    pub application: &'a str,
    /// Fields that do not count.
    pub ignored: &'a Ignored,
    /// How live objects say which application they belong to.
    pub ownership: &'a Ownership,
}

/// What a sync would change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveComparison {
    /// What differs; live is the old side.
    pub comparison: Comparison,
    /// Objects that were not compared.
    pub left_out: Vec<LeftOut>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

/// Fields of `metadata` that only the server sets.
const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Compares what was rendered with what is live, in three ways: a live field counts only if it was rendered, or if it was applied before
/// (`kubectl.kubernetes.io/last-applied-configuration`) and is not rendered any more. What only the server sets does not count. The live
/// side is shown without what does not count. Of an object that was rendered several times the last one counts, as for Argo CD.
///
/// `removable` are the live objects that the application would remove if it did not render them (see [`Ownership::removed_by`]).
pub fn compare_live(pairs: &[LivePair], removable: &[Manifest], rules: &LiveRules<'_>) -> LiveComparison {
    let mut found = LiveComparison::default();
    let last: HashMap<ObjectKey, usize> =
        pairs.iter().enumerate().map(|(index, pair)| (pair.rendered.key(), index)).collect();
    for (index, LivePair { rendered, live }) in pairs.iter().enumerate() {
        if let Some(reason) = left_out::of_rendered(rendered) {
            found.left_out.push(LeftOut { key: super::pairs::shown_key(rendered), reason });
            continue;
        }
        if last.get(&rendered.key()).is_some_and(|last| *last != index) {
            found.warnings.push(Warning {
                message: format!("{} is rendered more than once; the last one counts", rendered.key()),
                position: None,
            });
            continue;
        }
        found.warnings.extend(live.iter().flat_map(|live| warnings(rendered, live, rules)));
        found.note(rendered, live.as_ref(), rules.ignored);
    }
    for live in removable.iter().filter(|live| !last.contains_key(&live.key())) {
        match left_out::of_live(live) {
            Some(reason) => found.left_out.push(LeftOut { key: live.key(), reason }),
            None => found
                .comparison
                .note(Some(&Manifest::new(Counting::of(live, &live.key(), rules.ignored).0)), None),
        }
    }
    found
}

/// The namespaces in which an object may be live, the most likely first. The empty one stands for none.
pub fn possible_namespaces<'a>(
    manifest: &'a Manifest,
    destination: &'a str,
    scopes: &Scopes,
) -> Vec<&'a str> {
    let (group, kind) = manifest.group_kind();
    let namespace = if manifest.namespace().is_empty() { destination } else { manifest.namespace() };
    match scopes.scope(group, kind) {
        Scope::Cluster => vec![""],
        Scope::Namespaced => vec![namespace],
        Scope::Unknown if namespace.is_empty() => vec![""],
        Scope::Unknown => vec![namespace, ""],
    }
}

impl LiveComparison {
    /// Compares one object.
    fn note(&mut self, rendered: &Manifest, live: Option<&Manifest>, ignored: &Ignored) {
        let key = rendered.key();
        let counting = |manifest: &Manifest| Counting::of(manifest, &key, ignored);
        let after = counting(rendered);
        let before = live.map(|live| {
            let applied = last_applied(live).map(|applied| counting(&applied));
            let rules = KindRules::of(rendered.group_kind());
            let applied = applied.as_ref().map(|applied| &applied.0);
            let mut shown = projection::of(&rules, &after.0, &counting(live).0, applied);
            // One object may be read in several versions: which one it was is nothing of the object.
            if let Some(version) = after.0.get("apiVersion") {
                shown.insert("apiVersion".to_owned(), version.clone());
            }
            Manifest::new(shown)
        });
        self.comparison.note(before.as_ref(), Some(&Manifest::new(after.0)));
    }
}

/// The fields of an object that can count.
struct Counting(Map<String, Value>);

impl Counting {
    /// Of what is said of the object of a key: what was applied need not name itself.
    fn of(manifest: &Manifest, key: &ObjectKey, ignored: &Ignored) -> Self {
        let mut object = manifest.object().clone();
        object.remove("status");
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            for field in SERVER_METADATA {
                metadata.remove(field);
            }
            if let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
                && annotations.remove(LAST_APPLIED_ANNOTATION).is_some()
                && annotations.is_empty()
            {
                metadata.remove("annotations");
            }
        }
        if (key.group.as_str(), key.kind.as_str()) == ("", "Secret") {
            secret::normalize(&mut object);
        }
        for pointer in ignored.pointers(key) {
            ignore::remove(&mut object, pointer);
        }
        Self(object)
    }
}

/// The object as it was last applied by `kubectl apply`, or by Argo CD on the client's side.
fn last_applied(live: &Manifest) -> Option<Manifest> {
    let annotations = live.object().get("metadata")?.get("annotations")?;
    match serde_json::from_str(annotations.get(LAST_APPLIED_ANNOTATION)?.as_str()?) {
        Ok(Value::Object(applied)) => Some(Manifest::new(applied)),
        _ => None,
    }
}

/// What a person should know of an object that is live.
fn warnings(rendered: &Manifest, live: &Manifest, rules: &LiveRules<'_>) -> Vec<Warning> {
    let mut messages = Vec::new();
    if let Some(owner) = rules.ownership.owner(live).filter(|owner| *owner != rules.application) {
        messages.push(format!("{} is tracked by another application, {owner}", live.key()));
    }
    let version = |manifest: &Manifest| {
        manifest.object().get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (was, is) = (version(live), version(rendered));
    if was != is {
        messages.push(format!(
            "{} is live as {was} and rendered as {is}: fields that the versions call differently differ",
            live.key()
        ));
    }
    messages.into_iter().map(|message| Warning { message, position: None }).collect()
}

#[cfg(test)]
mod tests;
