//! Argo CD's result for an override file: Go decodes the patched source on top of the old one.
//!
//! Go's decoder leaves fields alone that the input does not mention, adds to maps, and fills list items in place. That includes items that
//! an earlier, shorter list had cut off. The result is used only to warn about differences.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tiphys_model::resources::ApplicationSource;
use tiphys_yaml::names_equal;

/// How Go decodes a field on top of its old value.
enum Merge {
    /// The value is replaced.
    Whole,
    /// Map entries are added or replaced, never removed.
    Entries,
    /// Decoded field by field.
    Fields(&'static [(&'static str, Merge)]),
    /// Decoded item by item.
    Items(&'static Merge),
}

use Merge::{Entries, Fields, Items, Whole};

const NAME_AND_VALUE: Merge = Fields(&[("name", Whole), ("value", Whole)]);

const PARAMETER: Merge =
    Fields(&[("name", Whole), ("string", Whole), ("array", Items(&Whole)), ("map", Entries)]);

const JSONNET_VARIABLE: Merge = Fields(&[("name", Whole), ("value", Whole), ("code", Whole)]);

const PATCH_TARGET: Merge = Fields(&[
    ("group", Whole),
    ("version", Whole),
    ("kind", Whole),
    ("name", Whole),
    ("namespace", Whole),
    ("annotationSelector", Whole),
    ("labelSelector", Whole),
]);

const PATCH: Merge =
    Fields(&[("path", Whole), ("patch", Whole), ("target", PATCH_TARGET), ("options", Entries)]);

const HELM: Merge = Fields(&[
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
    ("dynamicParameters", Whole),
]);

const KUSTOMIZE: Merge = Fields(&[
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

const DIRECTORY: Merge = Fields(&[
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

const SOURCE: Merge = Fields(&[
    ("repoURL", Whole),
    ("path", Whole),
    ("targetRevision", Whole),
    ("helm", HELM),
    ("kustomize", KUSTOMIZE),
    ("directory", DIRECTORY),
    (
        "plugin",
        Fields(&[
            ("name", Whole),
            ("env", Items(&NAME_AND_VALUE)),
            ("parameters", Items(&PARAMETER)),
            ("dynamicParameters", Whole),
        ]),
    ),
    ("chart", Whole),
    ("ref", Whole),
    ("name", Whole),
    ("tagPrefix", Whole),
]);

/// A source as Go's decoder keeps it in memory.
pub(super) struct Memory(Cell);

enum Cell {
    Whole(Value),
    Entries(BTreeMap<String, Value>),
    Fields(BTreeMap<&'static str, Cell>),
    /// `items` also contains items beyond `length`: Go truncates a slice without clearing its memory.
    Items {
        items: Vec<Cell>,
        length: usize,
    },
}

impl Memory {
    /// Returns the source before the first file.
    pub(super) fn of(value: &Value) -> Self {
        let mut memory = Self(Cell::empty(&SOURCE));
        memory.decode(value);
        memory
    }

    /// Decodes a patched source on top of this one.
    pub(super) fn decode(&mut self, value: &Value) {
        self.0.decode(value, &SOURCE);
    }

    /// Returns the source as JSON, which is the target of the next patch.
    pub(super) fn to_value(&self) -> Value {
        // Empty fields are omitted, as in Argo CD.
        serde_json::to_value(self.to_source()).unwrap_or_default()
    }

    /// Returns the source. It can be decoded because the plain merge of the same file succeeded.
    pub(super) fn to_source(&self) -> ApplicationSource {
        serde_json::from_value(self.0.to_value()).unwrap_or_default()
    }
}

impl Cell {
    fn empty(merge: &Merge) -> Self {
        match merge {
            Whole => Self::Whole(Value::Null),
            Entries => Self::Entries(BTreeMap::new()),
            Fields(_) => Self::Fields(BTreeMap::new()),
            Items(_) => Self::Items { items: Vec::new(), length: 0 },
        }
    }

    fn decode(&mut self, value: &Value, merge: &Merge) {
        match (self, value, merge) {
            // `null` sets nothing.
            (_, Value::Null, _) => {}
            (Self::Whole(cell), value, _) => *cell = value.clone(),
            (Self::Entries(cell), Value::Object(map), _) => {
                cell.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            (Self::Fields(cell), Value::Object(map), Fields(fields)) => {
                for (key, value) in map {
                    let Some((name, merge)) = fields.iter().find(|(name, _)| names_equal(name, key)) else {
                        continue;
                    };
                    if !value.is_null() {
                        cell.entry(name).or_insert_with(|| Self::empty(merge)).decode(value, merge);
                    }
                }
            }
            (Self::Items { items, length }, Value::Array(values), Items(merge)) => {
                // Go allocates a new slice for an empty list only; otherwise it reuses the memory.
                if values.is_empty() {
                    items.clear();
                }
                for (index, value) in values.iter().enumerate() {
                    if index == items.len() {
                        items.push(Self::empty(merge));
                    }
                    items[index].decode(value, merge);
                }
                *length = values.len();
            }
            // The plain merge already rejected values of another type.
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
    /// Converts an item. The first `null` decoded into an item yields an empty string.
    fn item(&self) -> Value {
        match self {
            Self::Whole(Value::Null) => Value::String(String::new()),
            _ => self.to_value(),
        }
    }
}
