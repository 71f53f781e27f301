//! Compares rendered objects with live objects.

mod kinds;
mod left_out;
mod projection;
mod quantity;
mod secret;

use std::collections::HashMap;

use serde_json::{Map, Value};
use tiphys_model::params::Warning;
use tiphys_yaml::JsonPointer;

use super::mask::LAST_APPLIED_ANNOTATION;
use super::{Comparison, Ignored};
use crate::json_pointers::annotated_pointers;
use crate::{Manifest, ObjectKey, Ownership, Scope, Scopes};

pub use left_out::{LeftOut, LeftOutReason};

use kinds::KindRules;

/// A rendered object with its live counterpart. The rendered object has its final namespace.
#[derive(Clone, Debug)]
pub struct LivePair {
    /// The rendered object.
    pub rendered: Manifest,
    /// The live object, if it exists.
    pub live: Option<Manifest>,
}

/// The rules of a comparison with live objects.
#[derive(Clone, Copy, Debug)]
pub struct LiveRules<'a> {
    /// The instance name of the application.
    pub application: &'a str,
    /// Fields that are not compared.
    pub ignored: &'a Ignored,
    /// How live objects are assigned to applications.
    pub ownership: &'a Ownership,
}

/// The changes that a sync would make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveComparison {
    /// The differences. Live is the old side.
    pub comparison: Comparison,
    /// Objects that were not compared.
    pub left_out: Vec<LeftOut>,
    /// Warnings for the user.
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

/// Compares rendered with live objects by a three-way diff. A live field is compared only if it is rendered, or if it was applied before
/// (`kubectl.kubernetes.io/last-applied-configuration`) and is not rendered any more. Fields that only the server sets are not compared.
/// The live side contains only compared fields. If an object is rendered several times, the last one is used, as in Argo CD.
///
/// `removable` are the live objects that the application would prune if it did not render them (see [`Ownership::removed_by`]).
pub fn compare_live(pairs: &[LivePair], removable: &[Manifest], rules: &LiveRules<'_>) -> LiveComparison {
    let mut found = LiveComparison::default();
    let last: HashMap<ObjectKey, usize> =
        pairs.iter().enumerate().map(|(index, pair)| (pair.rendered.key(), index)).collect();
    for (index, LivePair { rendered, live }) in pairs.iter().enumerate() {
        if let Some(reason) = LeftOutReason::of_rendered(rendered) {
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
        if let Some(reason) = LeftOutReason::of_live(live) {
            found.left_out.push(LeftOut { key: live.key(), reason });
        } else {
            let fields = ComparedFields::of(live, &live.key(), rules.ignored, &mut found.warnings);
            found.comparison.note(Some(&Manifest::new(fields.0)), None);
        }
    }
    found
}

/// Returns the namespaces in which an object may be live, the most likely first. The empty string stands for cluster scope.
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
        let warnings = &mut self.warnings;
        let annotated = rendered.object().get("metadata").map(annotated_pointers).unwrap_or_default();
        let mut compared =
            |manifest: &Manifest| ComparedFields::of(manifest, &key, ignored, warnings).without(&annotated);
        let after = compared(rendered);
        let before = live.map(|live| {
            let applied = last_applied(live).map(|applied| compared(&applied));
            let rules = KindRules::of(rendered.group_kind());
            let applied = applied.as_ref().map(|applied| &applied.0);
            let mut shown = projection::project(&rules, &after.0, &compared(live).0, applied);
            // The API server returns one object in several versions, so the version is not a difference.
            if let Some(version) = after.0.get("apiVersion") {
                shown.insert("apiVersion".to_owned(), version.clone());
            }
            Manifest::new(shown)
        });
        self.comparison.note(before.as_ref(), Some(&Manifest::new(after.0)));
    }
}

/// The fields of an object that may be compared.
struct ComparedFields(Map<String, Value>);

impl ComparedFields {
    /// Returns the fields. `key` is passed separately because the last applied configuration may lack its own name.
    fn of(manifest: &Manifest, key: &ObjectKey, ignored: &Ignored, warnings: &mut Vec<Warning>) -> Self {
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
        ignored.remove_from(key, &mut object, warnings);
        Self(object)
    }

    fn without(self, pointers: &[JsonPointer]) -> Self {
        let mut object = Value::Object(self.0);
        for pointer in pointers {
            pointer.remove_from(&mut object);
        }
        let Value::Object(left) = object else { return Self(Map::new()) };
        Self(left)
    }
}

/// Returns the last configuration applied by `kubectl apply`, or by Argo CD with client-side apply.
fn last_applied(live: &Manifest) -> Option<Manifest> {
    let annotations = live.object().get("metadata")?.get("annotations")?;
    match serde_json::from_str(annotations.get(LAST_APPLIED_ANNOTATION)?.as_str()?) {
        Ok(Value::Object(applied)) => Some(Manifest::new(applied)),
        _ => None,
    }
}

/// Returns warnings about a live object.
fn warnings(rendered: &Manifest, live: &Manifest, rules: &LiveRules<'_>) -> Vec<Warning> {
    let mut messages = Vec::new();
    if let Some(owner) = rules.ownership.owner(live).filter(|owner| *owner != rules.application) {
        messages.push(format!("{} is tracked by another application, {owner}", live.key()));
    }
    if left_out::is_deleted(live) {
        messages.push(format!("{} is being deleted; a sync after that creates it again", live.key()));
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
