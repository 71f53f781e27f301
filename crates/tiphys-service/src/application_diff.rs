//! The comparison of one application, as several use cases return it.

use serde_json::Value;
use tiphys_engine::diff::{Comparison, ObjectDiff, compare};
use tiphys_engine::{Deletion, Manifest};
use tiphys_model::params::SecretMasks;
use tiphys_render::RenderedApplication;
use tiphys_store::{SelectError, StoredApplication, TEMPLATE_MARK};
use tiphys_yaml::Node;

use crate::error::ServiceError;
use crate::warning::Warning;

/// The kind of the documents that are compared.
const APPLICATION_KIND: &str = "Application";

/// Namespace and name.
pub(crate) type Key = (String, String);

/// The comparison of one application.
#[derive(Debug)]
pub struct ApplicationDiff {
    /// The namespace; empty if its document has none.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// Which of the sides have the application.
    pub presence: Presence,
    /// The fate of its objects if it is deleted.
    pub deletion: Deletion,
    /// The settings of its document that differ. They decide where and how its objects are deployed.
    pub settings: Vec<ChangedSetting>,
    /// Warnings about its rendering and comparison.
    pub warnings: Vec<Warning>,
    /// Why it could not be read or rendered at the base of a comparison. Then its objects count as added.
    pub base_error: Option<String>,
    /// The differences, or why the application could not be compared.
    pub result: Result<Comparison, ServiceError>,
}

/// Compares the rendered objects of an application. None: a side does not have it. Values of Secrets are masked, also those that dynamic
/// parameters have brought into other objects.
pub(crate) fn compare_rendered(
    before: Option<&RenderedApplication>,
    after: Option<&RenderedApplication>,
) -> Comparison {
    let sides = [before, after];
    let masks = SecretMasks::of(sides.into_iter().flatten().map(|side| &side.redactor));
    let [before, after] = sides.map(|side| side.map_or(&[][..], |side| &side.manifests));
    compare(before, after).masked(&masks)
}

/// Which sides of a comparison have an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// Both, or the comparison is not one of revisions.
    #[default]
    Both,
    /// Only the new side.
    Added,
    /// Only the old side.
    Removed,
}

/// A setting of an Application that differs, besides its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSetting {
    /// The path of the field.
    pub field: &'static str,
    /// The old value: a string, or JSON of another value. None if it is not set.
    pub before: Option<String>,
    /// The new value.
    pub after: Option<String>,
}

/// The fields that are compared.
const SETTINGS: [&str; 6] = [
    "spec.project",
    "spec.destination.server",
    "spec.destination.name",
    "spec.destination.namespace",
    "spec.syncPolicy",
    "metadata.finalizers",
];

impl ChangedSetting {
    /// Compares the settings of two documents.
    pub(crate) fn all(before: &Node, after: &Node) -> Vec<Self> {
        let value = |node: &Node, field: &str| {
            let value = node.at(field.split('.'))?.to_value();
            match value {
                Value::Null => None,
                Value::String(text) => Some(text).filter(|text| !text.is_empty()),
                value => Some(value.to_string()),
            }
        };
        let changes =
            SETTINGS.map(|field| Self { field, before: value(before, field), after: value(after, field) });
        changes.into_iter().filter(|change| change.before != change.after).collect()
    }
}

impl ApplicationDiff {
    pub(crate) fn new(
        stored: &StoredApplication,
        presence: Presence,
        result: Result<Comparison, ServiceError>,
    ) -> Self {
        let metadata = &stored.application.metadata;
        Self {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            presence,
            deletion: Deletion::of(&stored.node),
            settings: Vec::new(),
            warnings: Vec::new(),
            base_error: None,
            result,
        }
    }

    /// Returns the entry for the documents of an error of the selection; `None` if it is about an argument.
    pub(crate) fn of_unusable(error: &SelectError, control_plane: &str) -> Option<Self> {
        Some(Self::unusable(unusable_key(error, control_plane)?.0, error))
    }

    /// Returns the entry for documents that cannot be used: of the application or other object with this namespace and name, or of a file.
    pub(crate) fn unusable(key: Option<(String, String)>, error: &SelectError) -> Self {
        let (namespace, name) = key.unwrap_or_else(|| {
            let place = match error {
                SelectError::Broken(broken) => Some(&broken.place),
                SelectError::Duplicate { places, .. } => places.first(),
                _ => None,
            };
            (String::new(), place.map_or_else(|| error.to_string(), |place| place.file.to_string()))
        });
        Self {
            namespace,
            name,
            presence: Presence::Both,
            deletion: Deletion::Unknown,
            settings: Vec::new(),
            warnings: Vec::new(),
            base_error: None,
            result: Err(ServiceError::selection(error)),
        }
    }

    /// Returns `namespace/name`, or the name alone.
    pub fn full_name(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// Returns the objects that differ; none if the application failed.
    pub fn objects(&self) -> &[ObjectDiff] {
        self.result.as_ref().map_or(&[], |comparison| &comparison.objects)
    }

    /// Returns the number of objects of the old side that Argo CD deletes if it deletes the application with its objects.
    pub fn deleted_objects(&self) -> usize {
        let before = self.objects().iter().filter_map(|object| object.change.before());
        let manifests = before.filter_map(|shown| shown.value().as_object().cloned()).map(Manifest::new);
        manifests.filter(|manifest| !manifest.survives_deletion()).count()
    }

    /// Returns whether the application was compared and differs between the sides.
    pub fn differs(&self) -> bool {
        let may_differ = self.presence != Presence::Both || self.base_error.is_some();
        self.result.is_ok() && (may_differ || !self.objects().is_empty() || !self.settings.is_empty())
    }
}

/// The namespace and name of what an unusable document defines, if they are known.
pub(crate) struct UnusableKey(pub(crate) Option<Key>);

/// Returns the key of the documents of an error. `None` if the error is about an argument.
pub(crate) fn unusable_key(error: &SelectError, control_plane: &str) -> Option<UnusableKey> {
    let namespace = |namespace: &str| if namespace.is_empty() { control_plane } else { namespace }.to_owned();
    let key = match error {
        SelectError::Broken(broken) => broken.object.as_ref().map(|object| {
            let is_application = object.kind == APPLICATION_KIND;
            let kind = if is_application { String::new() } else { format!("{} ", object.kind) };
            (namespace(&object.namespace), format!("{kind}{}", object.name))
        }),
        SelectError::Duplicate { name, .. } => {
            let (of_name, name) = name.split_once('/').unwrap_or(("", name));
            Some((namespace(of_name), name.to_owned()))
        }
        _ => return None,
    };
    // A name that is not rendered is none.
    Some(UnusableKey(key.filter(|(_, name)| !name.contains(TEMPLATE_MARK))))
}
