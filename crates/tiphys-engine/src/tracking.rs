//! The mark that tells which application an object belongs to.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::{Manifest, Ownership};

/// Annotation that names application and object: `<application>:<group>/<kind>:<namespace>/<name>`.
pub const TRACKING_ANNOTATION: &str = "argocd.argoproj.io/tracking-id";

/// Annotation that names the Argo CD installation, where several share a cluster.
pub const INSTALLATION_ID_ANNOTATION: &str = "argocd.argoproj.io/installation-id";

/// Label that holds the application's name, unless settings name another.
pub const DEFAULT_LABEL_KEY: &str = "app.kubernetes.io/instance";

/// The label of early Argo CD versions, which is set on the templates of workloads too.
const LEGACY_LABEL_KEY: &str = "applications.argoproj.io/app-name";

/// The longest value of a label, in bytes.
const LABEL_BYTES_MAX: usize = 63;

/// The value of [`TRACKING_ANNOTATION`], taken apart.
pub(crate) struct TrackingId<'a> {
    pub(crate) application: &'a str,
    pub(crate) group: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> TrackingId<'a> {
    /// Reads an annotation; one that names no application is none.
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

/// How objects are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrackingMethod {
    /// By annotation.
    #[default]
    Annotation,
    /// By label.
    Label,
    /// By both; only the annotation decides.
    AnnotationAndLabel,
    /// Not at all.
    None,
}

/// A text that is no tracking method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no tracking method; use annotation, label, annotation+label or none")]
pub struct UnknownTrackingMethod {
    /// The text.
    pub text: String,
}

/// What the marks of one application are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// How.
    pub method: TrackingMethod,
    /// Key of the label.
    pub label_key: String,
    /// The application, see [`instance_name`].
    pub instance_name: String,
    /// The destination's namespace: that of objects which name none.
    pub namespace: String,
    /// The Argo CD installation; empty if it has no name.
    pub installation_id: String,
}

/// An object that cannot be marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmarkable {
    /// `metadata` is there and no object.
    Metadata(&'static str),
    /// `metadata.labels` or `metadata.annotations` is no object.
    NotAnObject(&'static str),
    /// One of their values is no text.
    Value { field: &'static str, key: String },
    /// A label's value cannot be shortened so that it is still one.
    LabelValue(String),
}

impl FromStr for TrackingMethod {
    type Err = UnknownTrackingMethod;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "annotation" => Ok(Self::Annotation),
            "label" => Ok(Self::Label),
            "annotation+label" => Ok(Self::AnnotationAndLabel),
            "none" => Ok(Self::None),
            _ => Err(UnknownTrackingMethod { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for TrackingMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Annotation => "annotation",
            Self::Label => "label",
            Self::AnnotationAndLabel => "annotation+label",
            Self::None => "none",
        })
    }
}

/// The name by which an application is known in marks, variables and override files: `<namespace>_<name>` outside the control
/// plane's namespace.
pub fn instance_name(namespace: &str, name: &str, control_plane_namespace: &str) -> String {
    if namespace.is_empty() || namespace == control_plane_namespace {
        name.to_owned()
    } else {
        format!("{namespace}_{name}")
    }
}

impl Tracking {
    /// How live objects say which application they belong to.
    pub fn ownership(&self) -> Ownership {
        Ownership {
            method: self.method,
            label_key: self.label_key.clone(),
            installation_id: self.installation_id.clone(),
        }
    }

    /// Marks an object. Custom resource definitions are never marked: several applications may bring one.
    pub(crate) fn mark(&self, manifest: &mut Manifest) -> Result<(), Unmarkable> {
        if manifest.is_crd() || self.instance_name.is_empty() {
            return Ok(());
        }
        match self.method {
            TrackingMethod::None => Ok(()),
            TrackingMethod::Annotation => self.annotate(manifest),
            // The label alone is the application's name, so that it must not be cut; Kubernetes refuses a long one.
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
        let annotations = texts_of(manifest.object_mut(), "annotations")?;
        if self.installation_id.is_empty() {
            annotations.remove(INSTALLATION_ID_ANNOTATION);
        } else {
            annotations.insert(INSTALLATION_ID_ANNOTATION.to_owned(), self.installation_id.clone().into());
        }
        annotations.insert(TRACKING_ANNOTATION.to_owned(), id.into());
        Ok(())
    }

    fn label(&self, manifest: &mut Manifest, value: &str) -> Result<(), Unmarkable> {
        texts_of(manifest.object_mut(), "labels")?.insert(self.label_key.clone(), value.into());
        if self.label_key == LEGACY_LABEL_KEY && has_pod_template(manifest.group_kind()) {
            let template = ["spec", "template"]
                .iter()
                .try_fold(manifest.object_mut(), |object, field| child(object, field, "spec.template"))?;
            texts_of(template, "labels")?.insert(self.label_key.clone(), value.into());
        }
        Ok(())
    }
}

/// The workloads whose pods bear the legacy label.
fn has_pod_template((group, kind): (&str, &str)) -> bool {
    match group {
        "apps" | "extensions" => matches!(kind, "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet"),
        "batch" => kind == "Job",
        _ => false,
    }
}

/// `metadata.labels` or `metadata.annotations`, made if absent or `null`. A `metadata` that is `null` is refused: Argo CD loses the
/// mark there without a word (`spec/cmp.md` 14, row 6.6).
fn texts_of<'a>(
    object: &'a mut Map<String, Value>,
    field: &'static str,
) -> Result<&'a mut Map<String, Value>, Unmarkable> {
    let metadata = match object.entry("metadata").or_insert_with(|| Value::Object(Map::new())) {
        Value::Object(metadata) => metadata,
        Value::Null => return Err(Unmarkable::Metadata("null")),
        _ => return Err(Unmarkable::Metadata("no object")),
    };
    let texts = child(metadata, field, field)?;
    match texts.iter().find(|(_, value)| !value.is_string()) {
        Some((key, _)) => Err(Unmarkable::Value { field, key: key.clone() }),
        None => Ok(texts),
    }
}

/// An object inside another, made if absent or `null`.
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

/// A label's value of at most 63 bytes that ends in a letter or a digit, if it has to be cut.
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
