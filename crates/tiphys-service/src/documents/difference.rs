//! Differences of manifests.

use serde::Serialize;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, ObjectDiff};
use utoipa::ToSchema;

use crate::application_diff::{ApplicationDiff, ChangedSetting};

/// More lines than an object has.
const ALL_LINES: usize = 1 << 30;

/// The comparison of one application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DifferenceDocument {
    /// `NAMESPACE/NAME`.
    pub application: String,
    /// Why it could not be compared.
    pub error: Option<String>,
    /// Why it could not be rendered at the base. Then its objects count as added.
    pub base_error: Option<String>,
    /// The number of equal objects.
    pub equal: usize,
    /// The settings of the Application that differ.
    pub settings: Vec<SettingDocument>,
    /// The objects that differ. Values of Secrets are redacted.
    pub objects: Vec<ObjectDifferenceDocument>,
    /// Warnings about the rendering and the comparison.
    pub warnings: Vec<String>,
}

/// A setting of an Application that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SettingDocument {
    /// The path of the field.
    pub field: String,
    /// The old value; null if it is not set.
    pub before: Option<String>,
    /// The new value; null if it is not set.
    pub after: Option<String>,
}

/// An object that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ObjectDifferenceDocument {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty if the object has none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `added`, `removed` or `changed`.
    pub change: String,
    /// Whether only labels with versions and annotations with checksums differ.
    pub volatile: bool,
    /// The hunks of a unified diff of the object as YAML.
    pub patch: String,
    /// The same with all unchanged lines.
    #[serde(skip)]
    pub whole: String,
}

impl DifferenceDocument {
    /// Returns the number of objects that are `added`, `removed` or `changed`.
    pub fn count(&self, change: &str) -> usize {
        self.objects.iter().filter(|object| object.change == change).count()
    }
}

impl From<&ApplicationDiff> for DifferenceDocument {
    fn from(diff: &ApplicationDiff) -> Self {
        Self {
            application: diff.full_name(),
            error: diff.result.as_ref().err().map(|error| error.message().to_owned()),
            base_error: diff.base_error.clone(),
            equal: diff.result.as_ref().map_or(0, |comparison| comparison.equal),
            settings: diff.settings.iter().map(SettingDocument::from).collect(),
            objects: diff.objects().iter().map(ObjectDifferenceDocument::from).collect(),
            warnings: diff.warnings.iter().map(|warning| warning.message().to_owned()).collect(),
        }
    }
}

impl From<&ChangedSetting> for SettingDocument {
    fn from(ChangedSetting { field, before, after }: &ChangedSetting) -> Self {
        Self { field: (*field).to_owned(), before: before.clone(), after: after.clone() }
    }
}

impl From<&ObjectDiff> for ObjectDifferenceDocument {
    fn from(ObjectDiff { key, change }: &ObjectDiff) -> Self {
        Self {
            group: key.group.clone(),
            kind: key.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            change: change.word().to_owned(),
            volatile: change.is_volatile(),
            patch: change.hunks(DEFAULT_CONTEXT_LINES),
            whole: change.hunks(ALL_LINES),
        }
    }
}
