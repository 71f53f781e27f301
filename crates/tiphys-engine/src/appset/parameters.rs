//! Parameter sets: the data of templates.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// How strings are rendered, and how parameter sets are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateMode {
    /// Go templates, `goTemplate: true`.
    Go,
    /// fasttemplate.
    Fast,
}

/// The parameters of one Application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterSet {
    /// The parameters. All numbers are 64-bit floats in templates.
    pub values: Map<String, Value>,
    /// Objects that Go has as maps of strings, by path with dots: `values`, `metadata.labels`. Go templates treat their missing keys
    /// differently.
    pub string_maps: BTreeSet<String>,
}

impl ParameterSet {
    /// Returns the object at a path with dots. List items are steps, too.
    pub(crate) fn object_at(&self, path: &str) -> Option<&Map<String, Value>> {
        let mut steps = path.split('.');
        let first = self.values.get(steps.next()?)?;
        steps
            .try_fold(first, |value, step| match value {
                Value::Object(map) => map.get(step),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            })?
            .as_object()
    }
}
