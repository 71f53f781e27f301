//! Differences of manifests: two lists of objects become what was added, removed and changed.
//!
//! What is in the answer may be shown to anybody: the values of Secrets are masked, see [`Shown`].

mod ignore;
mod live;
mod mask;
mod pairs;
mod text;

use serde_json::Value;

use crate::{Manifest, ObjectKey};

pub use ignore::{IgnoreError, IgnoreProblem, Ignored};
pub use live::{
    LeftOut, LeftOutReason, LiveComparison, LivePair, LiveRules, compare_live, possible_namespaces,
};
pub use mask::Shown;
pub use text::{DEFAULT_CONTEXT_LINES, unified};

/// What two lists of objects differ in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The objects that differ: those of the new side in its order, then those that only the old side has, in its order.
    pub objects: Vec<ObjectDiff>,
    /// Number of objects that are equal on both sides.
    pub equal: usize,
}

/// An object that is not the same on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectDiff {
    /// The object. An object that the cluster is to name has its `generateName` with a `*` for its name.
    pub key: ObjectKey,
    /// What differs.
    pub change: Change,
}

/// What differs, as it may be shown.
#[derive(Clone, Debug, PartialEq)]
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
        /// The old side's.
        before: Shown,
        /// The new side's.
        after: Shown,
    },
}

/// How many objects differ in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Only on the new side.
    pub added: usize,
    /// Only on the old side.
    pub removed: usize,
    /// On both, with different content.
    pub changed: usize,
    /// On both, with the same content.
    pub equal: usize,
}

impl Counts {
    /// Whether anything differs.
    pub fn differ(self) -> bool {
        self.added + self.removed + self.changed > 0
    }

    /// Both together.
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
    /// `added`, `removed` or `changed`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Added { .. } => "added",
            Self::Removed { .. } => "removed",
            Self::Changed { .. } => "changed",
        }
    }

    /// The old side's object.
    pub fn before(&self) -> Option<&Shown> {
        match self {
            Self::Added { .. } => None,
            Self::Removed { before } | Self::Changed { before, .. } => Some(before),
        }
    }

    /// The new side's object.
    pub fn after(&self) -> Option<&Shown> {
        match self {
            Self::Removed { .. } => None,
            Self::Added { after } | Self::Changed { after, .. } => Some(after),
        }
    }

    /// The difference as the hunks of a unified diff of YAML.
    pub fn hunks(&self, context_lines: usize) -> String {
        let yaml = |side: Option<&Shown>| side.map(Shown::to_yaml).unwrap_or_default();
        unified(&yaml(self.before()), &yaml(self.after()), context_lines)
    }
}

impl Comparison {
    /// Whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.objects.is_empty()
    }

    /// How many objects differ in which way.
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

    /// Notes the two sides of an object.
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

/// Compares what was rendered with what was rendered. Objects are the same by group, kind, namespace and name; of several of one
/// name on a side, the first is compared with the first of the other, and so on.
pub fn compare(before: &[Manifest], after: &[Manifest]) -> Comparison {
    let mut comparison = Comparison::default();
    for (before, after) in pairs::of(before, after) {
        comparison.note(before, after);
    }
    comparison
}

/// A value as YAML.
fn yaml(value: &Value) -> String {
    tiphys_yaml::write_yaml(value)
}

#[cfg(test)]
mod tests;
