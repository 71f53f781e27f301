//! What Argo CD makes of an override file: the patched source decoded by Go on top of the old one.
//!
//! Go's decoder leaves alone what the text does not mention, adds to maps, and fills a list's items in place, those that an earlier,
//! shorter list had cut off included. This is kept only to tell people where it matters.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_api::ApplicationSource;
use tiphys_yaml::names_equal;

/// How Go decodes a value on top of another.
enum Shape {
    /// Replaced, whatever it is.
    Whole,
    /// Entries are added or replaced, never removed.
    Entries,
    /// Field by field.
    Fields(&'static [(&'static str, Shape)]),
    /// Item by item.
    Items(&'static Shape),
}

use Shape::{Entries, Fields, Items, Whole};

const NAME_AND_VALUE: Shape = Fields(&[("name", Whole), ("value", Whole)]);

const PARAMETER: Shape =
    Fields(&[("name", Whole), ("string", Whole), ("array", Items(&Whole)), ("map", Entries)]);

const JSONNET_VARIABLE: Shape = Fields(&[("name", Whole), ("value", Whole), ("code", Whole)]);

const PATCH_TARGET: Shape = Fields(&[
    ("group", Whole),
    ("version", Whole),
    ("kind", Whole),
    ("name", Whole),
    ("namespace", Whole),
    ("annotationSelector", Whole),
    ("labelSelector", Whole),
]);

const PATCH: Shape =
    Fields(&[("path", Whole), ("patch", Whole), ("target", PATCH_TARGET), ("options", Entries)]);

const HELM: Shape = Fields(&[
    ("valueFiles", Items(&Whole)),
    ("parameters", Items(&Fields(&[("name", Whole), ("value", Whole), ("forceString", Whole)]))),
    ("releaseName", Whole),
    ("values", Whole),
    ("fileParameters", Items(&Fields(&[("name", Whole), ("path", Whole)]))),
    ("version", Whole),
    ("passCredentials", Whole),
    ("ignoreMissingValueFiles", Whole),
    ("skipCrds", Whole),
    ("valuesObject", Whole),
    ("namespace", Whole),
    ("kubeVersion", Whole),
    ("apiVersions", Items(&Whole)),
    ("skipTests", Whole),
    ("skipSchemaValidation", Whole),
]);

const KUSTOMIZE: Shape = Fields(&[
    ("namePrefix", Whole),
    ("nameSuffix", Whole),
    ("images", Items(&Whole)),
    ("commonLabels", Entries),
    ("version", Whole),
    ("commonAnnotations", Entries),
    ("forceCommonLabels", Whole),
    ("forceCommonAnnotations", Whole),
    ("namespace", Whole),
    ("commonAnnotationsEnvsubst", Whole),
    ("replicas", Items(&Fields(&[("name", Whole), ("count", Whole)]))),
    ("patches", Items(&PATCH)),
    ("components", Items(&Whole)),
    ("ignoreMissingComponents", Whole),
    ("labelWithoutSelector", Whole),
    ("kubeVersion", Whole),
    ("apiVersions", Items(&Whole)),
    ("labelIncludeTemplates", Whole),
]);

const DIRECTORY: Shape = Fields(&[
    ("recurse", Whole),
    (
        "jsonnet",
        Fields(&[
            ("extVars", Items(&JSONNET_VARIABLE)),
            ("tlas", Items(&JSONNET_VARIABLE)),
            ("libs", Items(&Whole)),
        ]),
    ),
    ("exclude", Whole),
    ("include", Whole),
    ("disableExtensionFilter", Whole),
]);

const SOURCE: Shape = Fields(&[
    ("repoURL", Whole),
    ("path", Whole),
    ("targetRevision", Whole),
    ("helm", HELM),
    ("kustomize", KUSTOMIZE),
    ("directory", DIRECTORY),
    (
        "plugin",
        Fields(&[("name", Whole), ("env", Items(&NAME_AND_VALUE)), ("parameters", Items(&PARAMETER))]),
    ),
    ("chart", Whole),
    ("ref", Whole),
    ("name", Whole),
    ("tagPrefix", Whole),
]);

/// A source as it stands in Go's memory.
pub(super) struct Memory(Cell);

enum Cell {
    Whole(Value),
    Entries(BTreeMap<String, Value>),
    Fields(BTreeMap<&'static str, Cell>),
    /// `items` holds those beyond `length` too: they are cut off, not gone.
    Items {
        items: Vec<Cell>,
        length: usize,
    },
}

impl Memory {
    /// A source before the first file.
    pub(super) fn of(value: &Value) -> Self {
        let mut memory = Self(Cell::empty(&SOURCE));
        memory.decode(value);
        memory
    }

    /// Decodes a patched source on top of this one.
    pub(super) fn decode(&mut self, value: &Value) {
        self.0.decode(value, &SOURCE);
    }

    /// The source as JSON, which the next patch is applied to.
    pub(super) fn to_value(&self) -> Value {
        // Empty fields are left out, as Argo CD leaves them out.
        serde_json::to_value(self.to_source()).unwrap_or_default()
    }

    /// The source. What cannot be decoded was refused before, by the plain merge of the same file.
    pub(super) fn to_source(&self) -> ApplicationSource {
        serde_json::from_value(self.0.to_value()).unwrap_or_default()
    }
}

impl Cell {
    fn empty(shape: &Shape) -> Self {
        match shape {
            Whole => Self::Whole(Value::Null),
            Entries => Self::Entries(BTreeMap::new()),
            Fields(_) => Self::Fields(BTreeMap::new()),
            Items(_) => Self::Items { items: Vec::new(), length: 0 },
        }
    }

    fn decode(&mut self, value: &Value, shape: &Shape) {
        match (self, value, shape) {
            // `null` sets nothing.
            (_, Value::Null, _) => {}
            (Self::Whole(cell), value, _) => *cell = value.clone(),
            (Self::Entries(cell), Value::Object(map), _) => {
                cell.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            (Self::Fields(cell), Value::Object(map), Fields(fields)) => {
                for (key, value) in map {
                    let Some((name, shape)) = fields.iter().find(|(name, _)| names_equal(name, key)) else {
                        continue;
                    };
                    if !value.is_null() {
                        cell.entry(name).or_insert_with(|| Self::empty(shape)).decode(value, shape);
                    }
                }
            }
            (Self::Items { items, length }, Value::Array(values), Items(shape)) => {
                // An empty list is a new one; any other reuses the old one's memory.
                if values.is_empty() {
                    items.clear();
                }
                for (index, value) in values.iter().enumerate() {
                    if index == items.len() {
                        items.push(Self::empty(shape));
                    }
                    items[index].decode(value, shape);
                }
                *length = values.len();
            }
            // Another type than the field's was refused by the plain merge.
            _ => {}
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Whole(value) => value.clone(),
            Self::Entries(map) => {
                Value::Object(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            Self::Fields(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, cell)| ((*name).to_owned(), cell.to_value()))
                    .collect::<Map<_, _>>(),
            ),
            Self::Items { items, length } => Value::Array(items[..*length].iter().map(Self::item).collect()),
        }
    }
    /// An item that `null` was decoded into for the first time is an empty text.
    fn item(&self) -> Value {
        match self {
            Self::Whole(Value::Null) => Value::String(String::new()),
            _ => self.to_value(),
        }
    }
}
