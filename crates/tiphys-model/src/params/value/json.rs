//! Serialization of parameters as JSON, for types that embed them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Parameter;

impl Serialize for Parameter {
    /// Writes keys in byte order: `name` always, values only if set. Argo CD writes the same form.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(array) = &self.array {
            map.serialize_entry("array", array)?;
        }
        if let Some(values) = &self.map {
            map.serialize_entry("map", values)?;
        }
        map.serialize_entry("name", &self.name)?;
        if let Some(string) = &self.string {
            map.serialize_entry("string", string)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ParameterVisitor)
    }
}

struct ParameterVisitor;

impl<'de> Visitor<'de> for ParameterVisitor {
    type Value = Parameter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a parameter: an object with `name` and `string`, `array` or `map`")
    }

    fn visit_unit<E>(self) -> Result<Parameter, E> {
        Ok(Parameter::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parameter, A::Error> {
        let mut parameter = Parameter::default();
        while let Some(key) = entries.next_key::<String>()? {
            let is = |field| tiphys_yaml::names_equal(&key, field);
            if is("name") {
                if let Some(name) = entries.next_value::<Option<String>>()? {
                    parameter.name = name;
                }
            } else if is("string") {
                parameter.string = entries.next_value()?;
            } else if is("array") {
                let items: Option<Vec<Option<String>>> = entries.next_value()?;
                let before = parameter.array.take().unwrap_or_default();
                let items = items.unwrap_or_default().into_iter().enumerate();
                parameter.array = Some(
                    items
                        .map(|(index, item)| item.or_else(|| before.get(index).cloned()).unwrap_or_default())
                        .collect(),
                );
            } else if is("map") {
                match entries.next_value::<Option<BTreeMap<String, Option<String>>>>()? {
                    None => parameter.map = Some(BTreeMap::new()),
                    Some(values) => parameter
                        .map
                        .get_or_insert_default()
                        .extend(values.into_iter().map(|(key, value)| (key, value.unwrap_or_default()))),
                }
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(parameter)
    }
}
