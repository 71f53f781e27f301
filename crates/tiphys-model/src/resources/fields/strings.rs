//! A walk over the strings of a value: every string and every key of a map, in the order in which Argo CD renders them.

use serde_json::{Map, Number, Value};
use tiphys_yaml::Step;

use super::{FieldPath, GoStruct, GoType};

/// A string that [`map_strings`] visits.
#[derive(Clone, Copy, Debug)]
pub struct StringSite<'a> {
    /// Path of the string, or of the value of the key.
    pub path: &'a [Step],
    /// The string.
    pub text: &'a str,
    /// Whether it is the key of a map.
    pub is_key: bool,
}

/// The error of a callback of [`map_strings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringError<E> {
    /// Path of the string, or of the value of the key.
    pub path: FieldPath,
    /// Whether the string is inside of free JSON such as `valuesObject`.
    pub is_in_free_json: bool,
    /// The callback's error.
    pub source: E,
}

/// Replaces every string and every key of a map by the callback's result. Field names and times are not visited. Free JSON is decoded and
/// encoded as in Argo CD: its numbers become 64-bit floats, and `null` members of its objects vanish. If two keys become equal, the last
/// one counts. The result may contain empty strings; see [`super::canonical`].
pub fn map_strings<E>(
    kind: &'static GoStruct,
    value: &mut Value,
    rewrite: &mut dyn FnMut(StringSite<'_>) -> Result<String, E>,
) -> Result<(), StringError<E>> {
    Walk { path: Vec::new(), is_in_free_json: false, rewrite }.fields(kind, value)
}

struct Walk<'a, E> {
    path: Vec<Step>,
    is_in_free_json: bool,
    rewrite: &'a mut dyn FnMut(StringSite<'_>) -> Result<String, E>,
}

impl<E> Walk<'_, E> {
    fn fields(&mut self, kind: &'static GoStruct, value: &mut Value) -> Result<(), StringError<E>> {
        for field in kind.fields {
            if let Some(value) = value.get_mut(field.name) {
                self.path.push(Step::Key(field.name.to_owned()));
                self.value(&field.kind, value)?;
                self.path.pop();
            }
        }
        Ok(())
    }

    fn value(&mut self, kind: &'static GoType, value: &mut Value) -> Result<(), StringError<E>> {
        match (kind.base(), value) {
            (GoType::String | GoType::IntOrString, Value::String(text)) => *text = self.text(text, false)?,
            (GoType::Struct(of), value) => self.fields(of, value)?,
            (GoType::List(item), Value::Array(items)) => {
                self.items(items, |walk, value| walk.value(item, value))?;
            }
            (GoType::Map(inner), Value::Object(map)) => {
                self.map(map, |walk, value| walk.value(inner, value))?;
            }
            (GoType::Free(_), value) => {
                self.is_in_free_json = true;
                self.free(value)?;
                self.is_in_free_json = false;
            }
            _ => {}
        }
        Ok(())
    }

    fn free(&mut self, value: &mut Value) -> Result<(), StringError<E>> {
        match value {
            Value::String(text) => *text = self.text(text, false)?,
            Value::Number(number) => *number = as_float(number),
            Value::Array(items) => self.items(items, Self::free)?,
            Value::Object(map) => {
                map.retain(|_, value| !value.is_null());
                self.map(map, Self::free)?;
            }
            Value::Null | Value::Bool(_) => {}
        }
        Ok(())
    }

    fn items(
        &mut self,
        items: &mut [Value],
        mut visit: impl FnMut(&mut Self, &mut Value) -> Result<(), StringError<E>>,
    ) -> Result<(), StringError<E>> {
        for (index, value) in items.iter_mut().enumerate() {
            self.path.push(Step::Index(index));
            visit(self, value)?;
            self.path.pop();
        }
        Ok(())
    }

    fn map(
        &mut self,
        map: &mut Map<String, Value>,
        mut visit: impl FnMut(&mut Self, &mut Value) -> Result<(), StringError<E>>,
    ) -> Result<(), StringError<E>> {
        for (key, mut value) in std::mem::take(map) {
            self.path.push(Step::Key(key.clone()));
            visit(self, &mut value)?;
            let key = self.text(&key, true)?;
            self.path.pop();
            map.insert(key, value);
        }
        Ok(())
    }

    fn text(&mut self, text: &str, is_key: bool) -> Result<String, StringError<E>> {
        (self.rewrite)(StringSite { path: &self.path, text, is_key }).map_err(|source| StringError {
            path: FieldPath(self.path.clone()),
            is_in_free_json: self.is_in_free_json,
            source,
        })
    }
}

/// Returns a number as Go encodes it after decoding it as a 64-bit float: without a decimal point, it is an integer.
fn as_float(number: &Number) -> Number {
    /// 2^63, the first float that is not an [`i64`].
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "it is in range and has no fraction")]
        Some(value) if value.fract() == 0.0 && value.abs() < LIMIT => Number::from(value as i64),
        Some(value) => Number::from_f64(value).unwrap_or_else(|| number.clone()),
        None => number.clone(),
    }
}
