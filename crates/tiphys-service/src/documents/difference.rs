//! Differences of manifests.

use serde::Serialize;
use serde_json::Value;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, ObjectDiff, Shown};
use utoipa::ToSchema;

use crate::application_diff::{ApplicationDiff, ChangedSetting, Presence};
use crate::error::ServiceError;
use crate::warning::Warning;

/// The comparison of one application.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DifferenceDocument {
    /// The name.
    pub application: String,
    /// The namespace; empty if its document has none.
    pub namespace: String,
    /// `added`, `removed`, `changed` or `equal`. Null if it could not be compared.
    pub change: Option<String>,
    /// Why it could not be compared.
    pub error: Option<String>,
    /// Why it could not be read or rendered at the base. Then its objects count as added.
    pub base_error: Option<String>,
    /// The number of equal objects. Null if it could not be compared.
    pub equal: Option<usize>,
    /// The number of changed lines that are left out on request. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored_lines: Option<usize>,
    /// The full name at the base if the application was renamed.
    pub renamed_from: Option<String>,
    /// The full name at the head if the application was renamed.
    pub renamed_to: Option<String>,
    /// The settings of the Application that differ.
    pub settings: Vec<SettingDocument>,
    /// The objects that differ. Values of Secrets are redacted. Null if the application could not be compared.
    pub objects: Option<Vec<ObjectDifferenceDocument>>,
    /// Warnings about the rendering and the comparison.
    pub warnings: Vec<String>,
}

/// A setting of an Application that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingDocument {
    /// The path of the field.
    pub field: String,
    /// The old value; null if it is not set.
    pub before: Option<String>,
    /// The new value; null if it is not set.
    pub after: Option<String>,
}

/// An object that differs.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
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
    /// The object of the old side; null if it has none.
    pub before: Option<Value>,
    /// The object of the new side; null if it has none.
    pub after: Option<Value>,
    /// Whether only labels with versions and annotations with checksums differ.
    pub volatile: bool,
    /// A unified diff of the object as YAML.
    pub patch: String,
}

impl DifferenceDocument {
    /// Describes a comparison. `patch` returns the diff of an object, `warning` the text of a warning.
    pub fn new(
        diff: &ApplicationDiff,
        patch: impl Fn(&ObjectDiff) -> String,
        warning: impl Fn(&Warning) -> String,
    ) -> Self {
        let comparison = diff.result.as_ref().ok();
        let change = match diff.presence {
            Presence::Added => "added",
            Presence::Removed => "removed",
            Presence::Both if diff.differs() => "changed",
            Presence::Both => "equal",
        };
        let object = |object: &ObjectDiff| ObjectDifferenceDocument::new(object, patch(object));
        Self {
            application: diff.name.clone(),
            namespace: diff.namespace.clone(),
            change: comparison.map(|_| change.to_owned()),
            error: diff.result.as_ref().err().map(ServiceError::message),
            base_error: diff.base_error.clone(),
            equal: comparison.map(|comparison| comparison.equal),
            ignored_lines: comparison.map(|comparison| comparison.ignored_lines).filter(|lines| *lines > 0),
            renamed_from: None,
            renamed_to: None,
            settings: diff.settings.iter().map(SettingDocument::from).collect(),
            objects: comparison.map(|comparison| comparison.objects.iter().map(object).collect()),
            warnings: diff.warnings.iter().map(warning).collect(),
        }
    }

    /// Returns the objects that differ; none if the application could not be compared.
    pub fn objects(&self) -> &[ObjectDifferenceDocument] {
        self.objects.as_deref().unwrap_or_default()
    }

    /// Returns the number of objects that are `added`, `removed` or `changed`.
    pub fn count(&self, change: &str) -> usize {
        self.objects().iter().filter(|object| object.change == change).count()
    }
}

impl From<&ApplicationDiff> for DifferenceDocument {
    /// Describes a comparison for a page, which has the names of objects above their hunks.
    fn from(diff: &ApplicationDiff) -> Self {
        let hunks = |object: &ObjectDiff| object.change.hunks(DEFAULT_CONTEXT_LINES);
        Self::new(diff, hunks, |warning| warning.message().to_owned())
    }
}

impl From<&ChangedSetting> for SettingDocument {
    fn from(ChangedSetting { field, before, after }: &ChangedSetting) -> Self {
        Self { field: (*field).to_owned(), before: before.clone(), after: after.clone() }
    }
}

impl ObjectDifferenceDocument {
    fn new(ObjectDiff { key, change }: &ObjectDiff, patch: String) -> Self {
        let value = |side: Option<&Shown>| side.map(|shown| shown.value().clone());
        Self {
            group: key.group.clone(),
            kind: key.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            change: change.word().to_owned(),
            before: value(change.before()),
            after: value(change.after()),
            volatile: change.is_volatile(),
            patch,
        }
    }
}
