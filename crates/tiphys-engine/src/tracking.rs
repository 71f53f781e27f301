//! Tracking: which application an object belongs to, recorded in an annotation or a label.

use std::fmt;

use serde_json::{Map, Value};

use crate::{Manifest, Ownership};

/// Annotation that names application and object: `<application>:<group>/<kind>:<namespace>/<name>`.
pub const TRACKING_ANNOTATION: &str = "argocd.argoproj.io/tracking-id";

/// Annotation with the ID of the Argo CD installation, for clusters that several installations share.
pub const INSTALLATION_ID_ANNOTATION: &str = "argocd.argoproj.io/installation-id";

/// Default label for the application's name.
pub const DEFAULT_LABEL_KEY: &str = "app.kubernetes.io/instance";

/// The label of early Argo CD versions, which is also set on pod templates.
const LEGACY_LABEL_KEY: &str = "applications.argoproj.io/app-name";

/// The maximum length of a label value in bytes.
const LABEL_BYTES_MAX: usize = 63;

/// A parsed value of [`TRACKING_ANNOTATION`].
pub(crate) struct TrackingId<'a> {
    pub(crate) application: &'a str,
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> TrackingId<'a> {
    /// Parses an annotation. Returns `None` if it is malformed or has no application name.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let application = parts.next().filter(|name| !name.is_empty())?;
        let (group, kind) = parts.next()?.split_once('/')?;
        let (namespace, name) = parts.next()?.split_once('/')?;
        Some(Self { application, group, kind, namespace, name })
    }
}

impl fmt::Display for TrackingId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { application, group, kind, namespace, name } = self;
        write!(f, "{application}:{group}/{kind}:{namespace}/{name}")
    }
}

/// How objects are tracked (`application.resourceTrackingMethod`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownTrackingMethod, parse_err_fn = unknown)]
pub enum TrackingMethod {
    /// By annotation.
    #[default]
    Annotation,
    /// By label.
    Label,
    /// By annotation, with an informational label.
    #[strum(to_string = "annotation+label")]
    AnnotationAndLabel,
    /// Not at all.
    None,
}

/// The string is not a tracking method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a tracking method; use annotation, label, annotation+label or none")]
pub struct UnknownTrackingMethod {
    /// The string.
    pub text: String,
}

fn unknown(text: &str) -> UnknownTrackingMethod {
    UnknownTrackingMethod { text: text.to_owned() }
}

/// How the objects of one application are tracked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// The tracking method.
    pub method: TrackingMethod,
    /// The label key.
    pub label_key: String,
    /// The instance name of the application, see [`instance_name`].
    pub instance_name: String,
    /// The destination's namespace, for objects without a namespace.
    pub namespace: String,
    /// The ID of the Argo CD installation; empty if it has none.
    pub installation_id: String,
}

/// The reason why tracking cannot be added to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmarkable {
    /// `metadata` is not an object.
    Metadata(&'static str),
    /// `metadata.labels`, `metadata.annotations` or a parent of the pod template's labels is not an object.
    NotAnObject(&'static str),
    /// A label or annotation has a value that is not a string.
    Value { field: &'static str, key: String },
    /// The value cannot be shortened to a valid label value.
    LabelValue(String),
}

/// Returns the name of an application in tracking, variables and override files: `<namespace>_<name>` outside the namespace of the control
/// plane.
pub fn instance_name(namespace: &str, name: &str, control_plane_namespace: &str) -> String {
    if namespace.is_empty() || namespace == control_plane_namespace {
        name.to_owned()
    } else {
        format!("{namespace}_{name}")
    }
}

impl Tracking {
    /// Returns the rules by which live objects are assigned to applications.
    pub fn ownership(&self) -> Ownership {
        Ownership {
            method: self.method,
            label_key: self.label_key.clone(),
            installation_id: self.installation_id.clone(),
        }
    }

    /// Adds tracking to an object, except custom resource definitions, because several applications may contain them.
    pub(crate) fn mark(&self, manifest: &mut Manifest) -> Result<(), Unmarkable> {
        if manifest.is_crd() || self.instance_name.is_empty() {
            return Ok(());
        }
        match self.method {
            TrackingMethod::None => Ok(()),
            TrackingMethod::Annotation => self.annotate(manifest),
            // With labels only, the value is the application's name, so it must not be cut. Kubernetes rejects long ones.
            TrackingMethod::Label => self.label(manifest, &self.instance_name),
            TrackingMethod::AnnotationAndLabel => {
                self.annotate(manifest)?;
                self.label(manifest, shortened_label(&self.instance_name)?)
            }
        }
    }

    fn annotate(&self, manifest: &mut Manifest) -> Result<(), Unmarkable> {
        let key = manifest.key();
        let namespace = if key.namespace.is_empty() { &self.namespace } else { &key.namespace };
        let id = TrackingId {
            application: &self.instance_name,
            group: &key.group,
            kind: &key.kind,
            namespace,
            name: &key.name,
        };
        let id = id.to_string();
        let annotations = string_map(manifest.object_mut(), "annotations")?;
        if self.installation_id.is_empty() {
            annotations.remove(INSTALLATION_ID_ANNOTATION);
        } else {
            annotations.insert(INSTALLATION_ID_ANNOTATION.to_owned(), self.installation_id.clone().into());
        }
        annotations.insert(TRACKING_ANNOTATION.to_owned(), id.into());
        Ok(())
    }

    fn label(&self, manifest: &mut Manifest, value: &str) -> Result<(), Unmarkable> {
        string_map(manifest.object_mut(), "labels")?.insert(self.label_key.clone(), value.into());
        if self.label_key == LEGACY_LABEL_KEY && has_pod_template(manifest.group_kind()) {
            let template = ["spec", "template"]
                .iter()
                .try_fold(manifest.object_mut(), |object, field| child(object, field, "spec.template"))?;
            string_map(template, "labels")?.insert(self.label_key.clone(), value.into());
        }
        Ok(())
    }
}

/// Returns whether the legacy label is set on the pod template of this kind.
fn has_pod_template((group, kind): (&str, &str)) -> bool {
    match group {
        "apps" | "extensions" => matches!(kind, "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet"),
        "batch" => kind == "Job",
        _ => false,
    }
}

/// Returns `metadata.labels` or `metadata.annotations`, created if absent or `null`. A `null` `metadata` is rejected, because Argo CD does
/// not track such an object and reports no error (see `docs/differences.md`).
fn string_map<'a>(
    object: &'a mut Map<String, Value>,
    field: &'static str,
) -> Result<&'a mut Map<String, Value>, Unmarkable> {
    let metadata = match object.entry("metadata").or_insert_with(|| Value::Object(Map::new())) {
        Value::Object(metadata) => metadata,
        Value::Null => return Err(Unmarkable::Metadata("null")),
        _ => return Err(Unmarkable::Metadata("not an object")),
    };
    let strings = child(metadata, field, field)?;
    match strings.iter().find(|(_, value)| !value.is_string()) {
        Some((key, _)) => Err(Unmarkable::Value { field, key: key.clone() }),
        None => Ok(strings),
    }
}

/// Returns a nested object, created if absent or `null`.
fn child<'a>(
    object: &'a mut Map<String, Value>,
    key: &str,
    called: &'static str,
) -> Result<&'a mut Map<String, Value>, Unmarkable> {
    let value = object.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().ok_or(Unmarkable::NotAnObject(called))
}

/// Returns a label value of at most 63 bytes. A cut value ends in a letter or digit.
fn shortened_label(value: &str) -> Result<&str, Unmarkable> {
    if value.len() <= LABEL_BYTES_MAX {
        return Ok(value);
    }
    let cut = &value[..value.floor_char_boundary(LABEL_BYTES_MAX)];
    let end = cut.rfind(|c: char| c.is_ascii_alphanumeric()).map(|index| index + 1);
    end.map(|end| &cut[..end]).ok_or_else(|| Unmarkable::LabelValue(value.to_owned()))
}

#[cfg(test)]
mod tests;
