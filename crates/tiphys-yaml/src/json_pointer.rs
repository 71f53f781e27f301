//! JSON pointers (RFC 6901) that remove fields, as the `remove` operation of the JSON patch library that Argo CD uses.

use serde_json::Value;

/// A JSON pointer. `*` is an ordinary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPointer(Vec<String>);

impl JsonPointer {
    /// Parses a pointer; none if it does not begin with `/`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('/')?;
        Some(Self(rest.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// Removes the field, if it exists. List items are addressed by index; a negative index counts from the end.
    pub fn remove_from(&self, value: &mut Value) {
        let Some((last, way)) = self.0.split_last() else { return };
        let parent = way.iter().try_fold(value, |value, key| match value {
            Value::Object(fields) => fields.get_mut(key),
            Value::Array(items) => {
                let index = index(key, items.len())?;
                items.get_mut(index)
            }
            _ => None,
        });
        match parent {
            Some(Value::Object(fields)) => {
                fields.remove(last);
            }
            Some(Value::Array(items)) => {
                if let Some(index) = index(last, items.len()) {
                    items.remove(index);
                }
            }
            _ => {}
        }
    }
}

/// Parses a key as the index into a list of this length.
fn index(key: &str, length: usize) -> Option<usize> {
    let index = match key.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse().ok()?)?,
        None => key.parse().ok()?,
    };
    (index < length).then_some(index)
}

#[cfg(test)]
mod tests;
