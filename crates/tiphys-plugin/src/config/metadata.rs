//! `metadata`: Kubernetes' `ObjectMeta`. Argo CD checks its types, although only the name is used.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_go::gotemplate::is_rfc3339;
use tiphys_yaml::{Data, DecodeError, Node, Object};

/// `metadata` of a plugin's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `name`; empty if absent.
    pub name: String,
    /// `labels`.
    pub labels: BTreeMap<String, String>,
    /// `annotations`.
    pub annotations: BTreeMap<String, String>,
}

/// Type of a field that is checked and not stored.
#[derive(Clone, Copy)]
enum FieldType {
    Text,
    Boolean,
    Integer,
    Time,
    Texts,
    Anything,
    /// A list of objects with these fields.
    Objects(&'static [(&'static str, FieldType)]),
}

const OWNER_REFERENCE: &[(&str, FieldType)] = &[
    ("apiVersion", FieldType::Text),
    ("kind", FieldType::Text),
    ("name", FieldType::Text),
    ("uid", FieldType::Text),
    ("controller", FieldType::Boolean),
    ("blockOwnerDeletion", FieldType::Boolean),
];

const MANAGED_FIELDS: &[(&str, FieldType)] = &[
    ("manager", FieldType::Text),
    ("operation", FieldType::Text),
    ("apiVersion", FieldType::Text),
    ("time", FieldType::Time),
    ("fieldsType", FieldType::Text),
    ("fieldsV1", FieldType::Anything),
    ("subresource", FieldType::Text),
];

/// The other fields of `ObjectMeta`.
const CHECKED_ONLY: &[(&str, FieldType)] = &[
    ("generateName", FieldType::Text),
    ("namespace", FieldType::Text),
    ("selfLink", FieldType::Text),
    ("uid", FieldType::Text),
    ("resourceVersion", FieldType::Text),
    ("generation", FieldType::Integer),
    ("creationTimestamp", FieldType::Time),
    ("deletionTimestamp", FieldType::Time),
    ("deletionGracePeriodSeconds", FieldType::Integer),
    ("ownerReferences", FieldType::Objects(OWNER_REFERENCE)),
    ("finalizers", FieldType::Texts),
    ("managedFields", FieldType::Objects(MANAGED_FIELDS)),
];

impl Metadata {
    pub(super) fn decode(object: &mut Object<'_>) -> Result<Self, DecodeError> {
        let metadata = Self {
            name: object.text("name")?.unwrap_or_default().to_owned(),
            labels: object.text_map("labels")?.unwrap_or_default(),
            annotations: object.text_map("annotations")?.unwrap_or_default(),
        };
        check_fields(object, CHECKED_ONLY)?;
        Ok(metadata)
    }

    /// Returns the stored fields as JSON without empty maps.
    pub(super) fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("name".to_owned(), Value::from(self.name.clone()));
        for (key, map) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            if !map.is_empty() {
                out.insert(key.to_owned(), serde_json::json!(map));
            }
        }
        Value::Object(out)
    }
}

fn check_fields(object: &mut Object<'_>, types: &[(&'static str, FieldType)]) -> Result<(), DecodeError> {
    for (key, expected) in types {
        match expected {
            FieldType::Anything => {}
            FieldType::Text => drop(object.text(key)?),
            FieldType::Boolean => drop(object.boolean(key)?),
            FieldType::Texts => drop(object.texts(key)?),
            FieldType::Integer => check_each(object, key, "an integer", is_integer)?,
            FieldType::Time => check_each(object, key, "a time such as `2024-01-02T03:04:05Z`", |node| {
                node.as_str().is_some_and(is_rfc3339)
            })?,
            FieldType::Objects(types) => {
                let path = object.path_of(key);
                for (index, item) in object.list(key)?.unwrap_or_default().iter().enumerate() {
                    check_fields(&mut Object::new(item, format!("{path}[{index}]"))?, types)?;
                }
            }
        }
    }
    Ok(())
}

fn check_each(
    object: &mut Object<'_>,
    key: &'static str,
    expected: &str,
    is_valid: impl Fn(&Node) -> bool,
) -> Result<(), DecodeError> {
    match object.all(key).into_iter().find(|node| !node.is_null() && !is_valid(node)) {
        None => Ok(()),
        Some(node) => Err(DecodeError::mismatch(node, &object.path_of(key), expected)),
    }
}

/// Whether Go decodes the number into an `int64`. This includes an integer written with a fraction, because the conversion from YAML to
/// JSON omits it.
fn is_integer(node: &Node) -> bool {
    const INT64_END: f64 = 9_223_372_036_854_775_808.0;
    match node.data {
        Data::Integer(_) => true,
        Data::Float(ref number) => {
            number.value().fract() == 0.0 && (-INT64_END..INT64_END).contains(&number.value())
        }
        _ => false,
    }
}
