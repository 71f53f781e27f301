//! Differences between two lists of manifests: added, removed and changed objects.
//!
//! The result may be shown to anyone: values of Secrets are redacted, see [`Shown`].

mod ignore;
mod live;
mod mask;
mod pairs;
mod text;
mod volatile;

use serde_json::Value;
use tiphys_model::params::SecretMasks;

use crate::{Manifest, ObjectKey};

pub use ignore::{IgnoreError, IgnoreProblem, Ignored, JqRemoval};
pub use live::{
    LeftOut, LeftOutReason, LiveComparison, LivePair, LiveRules, compare_live, possible_namespaces,
};
pub use mask::{LAST_APPLIED_ANNOTATION, Shown};
pub use text::{DEFAULT_CONTEXT_LINES, unified};

/// The differences between two lists of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The objects that differ: those of the new side in its order, then those that only the old side has, in its order.
    pub objects: Vec<ObjectDiff>,
    /// Number of objects that are equal on both sides.
    pub equal: usize,
    /// Number of changed lines that are left out.
    pub ignored_lines: usize,
}

/// An object that differs between the sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectDiff {
    /// The key. For an object with `generateName`, the name is that prefix followed by `*`.
    pub key: ObjectKey,
    /// The difference.
    pub change: Change,
}

/// A difference, redacted.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Change {
    /// Only the new side has the object.
    Added {
        /// The object.
        after: Shown,
    },
    /// Only the old side has the object.
    Removed {
        /// The object.
        before: Shown,
    },
    /// Both have it, with different content.
    Changed {
        /// The object of the old side.
        before: Shown,
        /// The object of the new side.
        after: Shown,
    },
}

/// Numbers of objects by kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects that only the new side has.
    pub added: usize,
    /// Objects that only the old side has.
    pub removed: usize,
    /// Objects on both sides with different content.
    pub changed: usize,
    /// Objects on both sides with the same content.
    pub equal: usize,
}

impl Counts {
    /// Returns whether any object differs.
    pub fn differ(self) -> bool {
        self.added + self.removed + self.changed > 0
    }

    /// Returns the sums of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            added: self.added + other.added,
            removed: self.removed + other.removed,
            changed: self.changed + other.changed,
            equal: self.equal + other.equal,
        }
    }
}

impl Change {
    /// Returns `added`, `removed` or `changed`.
    pub fn word(&self) -> &'static str {
        self.into()
    }

    /// Returns the object of the old side.
    pub fn before(&self) -> Option<&Shown> {
        match self {
            Self::Added { .. } => None,
            Self::Removed { before } | Self::Changed { before, .. } => Some(before),
        }
    }

    /// Returns the object of the new side.
    pub fn after(&self) -> Option<&Shown> {
        match self {
            Self::Removed { .. } => None,
            Self::Added { after } | Self::Changed { after, .. } => Some(after),
        }
    }

    /// Returns the difference as hunks of a unified diff of YAML.
    pub fn hunks(&self, context_lines: usize) -> String {
        let yaml = |side: Option<&Shown>| side.map(Shown::to_yaml).unwrap_or_default();
        unified(&yaml(self.before()), &yaml(self.after()), context_lines)
    }
}

impl Comparison {
    /// Returns the numbers of objects by kind of difference.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { equal: self.equal, ..Counts::default() };
        for object in &self.objects {
            match object.change {
                Change::Added { .. } => counts.added += 1,
                Change::Removed { .. } => counts.removed += 1,
                Change::Changed { .. } => counts.changed += 1,
            }
        }
        counts
    }

    /// Masks the values of Secrets that dynamic parameters have brought into objects of either side.
    #[must_use]
    pub fn masked(mut self, masks: &SecretMasks) -> Self {
        if masks.is_empty() {
            return self;
        }
        for ObjectDiff { key, change } in &mut self.objects {
            for text in [&mut key.namespace, &mut key.name] {
                *text = masks.mask(text).into_owned();
            }
            match change {
                Change::Added { after: shown } | Change::Removed { before: shown } => shown.mask(masks),
                Change::Changed { before, after } => {
                    before.mask(masks);
                    after.mask(masks);
                }
            }
        }
        self
    }

    /// Leaves out changed lines of objects that both sides have, if `is_ignored` accepts them: both sides get the new ones. An object that
    /// differs in nothing else is left out.
    pub fn ignore_lines(&mut self, is_ignored: &dyn Fn(&str) -> bool) {
        let mut ignored_lines = 0;
        self.objects.retain_mut(|ObjectDiff { change, .. }| {
            let Change::Changed { before, after } = change else { return true };
            let new = after.to_yaml();
            let (old, lines) = text::with_ignored(&before.to_yaml(), &new, is_ignored);
            ignored_lines += lines;
            if lines > 0 && old != new {
                before.set_yaml(&old);
            }
            lines == 0 || old != new
        });
        self.ignored_lines += ignored_lines;
    }

    /// Records the two sides of an object.
    fn note(&mut self, before: Option<&Manifest>, after: Option<&Manifest>) {
        let Some(either) = after.or(before) else { return };
        if before == after {
            self.equal += 1;
            return;
        }
        let key = pairs::shown_key(either);
        let change = match mask::shown(before, after) {
            (None, None) => return,
            (None, Some(after)) => Change::Added { after },
            (Some(before), None) => Change::Removed { before },
            (Some(before), Some(after)) if before == after => {
                self.equal += 1;
                return;
            }
            (Some(before), Some(after)) => Change::Changed { before, after },
        };
        self.objects.push(ObjectDiff { key, change });
    }
}

/// Compares two lists of rendered objects. Objects are matched by group, kind, namespace and name. Duplicates on one side are matched in
/// order: the first with the first of the other side, and so on.
pub fn compare(before: &[Manifest], after: &[Manifest]) -> Comparison {
    let mut comparison = Comparison::default();
    for (before, after) in pairs::pair(before, after) {
        comparison.note(before, after);
    }
    comparison
}

/// Returns a value as YAML.
fn yaml(value: &Value) -> String {
    tiphys_yaml::write_yaml(value)
}

#[cfg(test)]
mod tests;
