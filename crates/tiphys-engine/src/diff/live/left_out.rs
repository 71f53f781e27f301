//! Objects that are not compared with live objects.

use std::fmt;

use crate::{Manifest, ObjectKey};

/// An object that is not compared, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The object.
    pub key: ObjectKey,
    /// The reason.
    pub reason: LeftOutReason,
}

/// The reason why an object is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum LeftOutReason {
    /// A hook: every sync creates it again, and it may be deleted afterwards.
    #[strum(to_string = "is a hook")]
    Hook,
    /// The cluster generates the name, so the object cannot be found again.
    #[strum(to_string = "has no name of its own")]
    NoName,
    /// Not rendered any more, but not pruned by a sync (`Prune=false`).
    #[strum(to_string = "is not rendered, but has Prune=false")]
    NotPruned,
    /// Deliberately not rendered (`IgnoreExtraneous`).
    #[strum(to_string = "is not rendered, but has IgnoreExtraneous")]
    Extraneous,
    /// Not rendered any more, and deleted already: it disappears when its finalizers have run.
    #[strum(to_string = "is not rendered, and is being deleted already")]
    Deleted,
}

impl LeftOutReason {
    /// Returns why a rendered object is not compared; `None` if it is.
    pub fn of_rendered(manifest: &Manifest) -> Option<Self> {
        if is_hook(manifest) {
            Some(Self::Hook)
        } else if manifest.name().is_empty() {
            Some(Self::NoName)
        } else {
            None
        }
    }

    /// Returns why a live object that is not rendered is not reported as removed; `None` if it is. Its `metadata` is sufficient.
    pub fn of_live(manifest: &Manifest) -> Option<Self> {
        if is_hook(manifest) {
            Some(Self::Hook)
        } else if manifest.has_annotation_item("argocd.argoproj.io/compare-options", "IgnoreExtraneous") {
            Some(Self::Extraneous)
        } else if manifest.has_annotation_item("argocd.argoproj.io/sync-options", "Prune=false") {
            Some(Self::NotPruned)
        } else if is_deleted(manifest) {
            Some(Self::Deleted)
        } else {
            None
        }
    }
}

/// Returns whether an object is being deleted.
pub(super) fn is_deleted(manifest: &Manifest) -> bool {
    manifest.object().get("metadata").and_then(|metadata| metadata.get("deletionTimestamp")).is_some()
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key, self.reason)
    }
}

/// Returns whether the object is a hook of Argo CD or Helm. Helm 2's `crd-install` marks a definition to install first and is not a hook.
fn is_hook(manifest: &Manifest) -> bool {
    manifest.annotation("argocd.argoproj.io/hook").is_some()
        || manifest.annotation("helm.sh/hook").is_some_and(|hook| hook != "crd-install")
}

#[cfg(test)]
mod tests;
