//! Objects that are not compared with what is live.

use std::fmt;

use serde_json::Value;

use crate::{Manifest, ObjectKey};

/// An object that is not compared, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The object.
    pub key: ObjectKey,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why an object is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// A hook: it is made anew by each sync, and may be removed after it.
    Hook,
    /// The cluster is to name it: no sync finds it again.
    NoName,
    /// Not rendered any more, but a sync does not remove it (`Prune=false`).
    NotPruned,
    /// Not rendered any more, which is meant so (`IgnoreExtraneous`).
    Extraneous,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            LeftOutReason::Hook => "is a hook",
            LeftOutReason::NoName => "has no name of its own",
            LeftOutReason::NotPruned => "is not rendered, but says Prune=false",
            LeftOutReason::Extraneous => "is not rendered, but says IgnoreExtraneous",
        };
        write!(f, "{} {reason}", self.key)
    }
}

/// Why a rendered object is not compared.
pub(super) fn of_rendered(manifest: &Manifest) -> Option<LeftOutReason> {
    if is_hook(manifest) {
        Some(LeftOutReason::Hook)
    } else if manifest.name().is_empty() {
        Some(LeftOutReason::NoName)
    } else {
        None
    }
}

/// Why a live object that is not rendered does not count as removed.
pub(super) fn of_live(manifest: &Manifest) -> Option<LeftOutReason> {
    if is_hook(manifest) {
        Some(LeftOutReason::Hook)
    } else if says(manifest, "argocd.argoproj.io/compare-options", "IgnoreExtraneous") {
        Some(LeftOutReason::Extraneous)
    } else if says(manifest, "argocd.argoproj.io/sync-options", "Prune=false") {
        Some(LeftOutReason::NotPruned)
    } else {
        None
    }
}

/// Argo CD's hooks and Helm's. `crd-install` is Helm 2's mark of a definition that is to come first, and no hook.
fn is_hook(manifest: &Manifest) -> bool {
    annotation(manifest, "argocd.argoproj.io/hook").is_some()
        || annotation(manifest, "helm.sh/hook").is_some_and(|hook| hook != "crd-install")
}

/// Whether an annotation's list has an item.
fn says(manifest: &Manifest, key: &str, item: &str) -> bool {
    annotation(manifest, key).is_some_and(|list| list.split(',').any(|one| one.trim() == item))
}

fn annotation<'a>(manifest: &'a Manifest, key: &str) -> Option<&'a str> {
    manifest.object().get("metadata")?.get("annotations")?.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
