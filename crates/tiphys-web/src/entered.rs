//! Values entered into a form, and the actions of row buttons.
//!
//! The name of a control is the JSON Pointer of its value: `/replicas`, `/hosts/0`, `/limits/0/key`, `/limits/0/value`. Prefixes mark
//! further controls of a field: `set:` whether a list or a map is set, `empty:` that an empty string is a value, `lines:` that strings have
//! several lines. The value of a choice starts with `=`, which distinguishes an empty string from no choice. Buttons have the name `op`;
//! their value is an action and a pointer: `add:/hosts`.

use tiphys_model::params::{Field, Input, Parameter, ParameterValue, Shape};

use crate::posted::{Posted, with_line_feeds};

/// The entered value of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) entered: Entered,
    /// Whether strings are entered in text areas even if they have one line.
    pub(crate) several_lines: bool,
}

/// An incomplete value: keys of maps may be duplicate, and stay in the order in which they were entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Not set, so that the default applies.
    Nothing,
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, String)>),
}

/// A control of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlPosition {
    /// The only or the first control.
    First,
    /// The item or the value of a row.
    Row(usize),
    /// The key of a row.
    Key(usize),
    /// The button that adds a row.
    Add,
    /// The button that sets a list or a map.
    Set,
}

/// The name of a field's controls.
pub(crate) fn pointer(field: &Field) -> String {
    format!("/{}", field.name.replace('~', "~0").replace('/', "~1"))
}

impl Draft {
    /// Returns the set value.
    pub(crate) fn of_value(field: &Field) -> Self {
        let entered = match field.counting_value() {
            None => Entered::Nothing,
            Some(ParameterValue::String(text)) => Entered::Text(text),
            Some(ParameterValue::Array(list)) => Entered::List(list),
            Some(ParameterValue::Map(map)) => Entered::Map(map.into_iter().collect()),
        };
        Self { entered, several_lines: false }
    }

    /// Returns the posted value, or the set one if the page did not contain the field.
    pub(crate) fn of_post(field: &Field, posted: &Posted) -> Self {
        let at = pointer(field);
        let originals = originals(field);
        let text = |name: &str| posted.get(name).map(|text| restored(text, field.input, &originals));
        let chosen = |name: &str| text_of_control(field.input, text(name)?);
        let entered = match field.shape {
            Shape::Single => {
                let Some(text) = text(&at) else { return Self::of_value(field) };
                match text_of_control(field.input, text) {
                    // No choice, or an empty input.
                    None => Entered::Nothing,
                    Some(text)
                        if text.is_empty()
                            && is_typed(field.input)
                            && posted.get(&format!("empty:{at}")).is_none() =>
                    {
                        Entered::Nothing
                    }
                    Some(text) => Entered::Text(text),
                }
            }
            Shape::List | Shape::Map => match (posted.get(&format!("set:{at}")), field.shape) {
                (None, _) => return Self::of_value(field),
                (Some("yes"), Shape::List) => {
                    let rows = (0..).map_while(|row| {
                        let name = format!("{at}/{row}");
                        posted.get(&name).map(|_| chosen(&name).unwrap_or_default())
                    });
                    Entered::List(rows.collect())
                }
                (Some("yes"), _) => {
                    let rows = (0..).map_while(|row| {
                        let key = text(&format!("{at}/{row}/key"))?;
                        Some((key, chosen(&format!("{at}/{row}/value")).unwrap_or_default()))
                    });
                    Entered::Map(rows.collect())
                }
                _ => Entered::Nothing,
            },
        };
        Self { entered, several_lines: posted.get(&format!("lines:{at}")).is_some() }
    }

    /// Applies a row button if it is one of this field, and returns the control that gets the focus.
    pub(crate) fn follow(&mut self, field: &Field, op: &str) -> Option<ControlPosition> {
        let (word, place) = op.split_once(':')?;
        let rest = place.strip_prefix(pointer(field).as_str())?;
        if word == "remove" {
            let row = rest.strip_prefix('/')?.parse().ok()?;
            return self.remove(row);
        }
        if !rest.is_empty() {
            return None;
        }
        match (word, &mut self.entered) {
            ("add", Entered::List(list)) => {
                list.push(String::new());
                Some(ControlPosition::Row(list.len() - 1))
            }
            ("add", Entered::Map(map)) => {
                map.push((String::new(), String::new()));
                Some(ControlPosition::Key(map.len() - 1))
            }
            ("set", Entered::Nothing) => {
                self.entered = match (&field.default, field.shape) {
                    (Some(ParameterValue::Array(list)), _) => Entered::List(list.clone()),
                    (Some(ParameterValue::Map(map)), _) => Entered::Map(map.clone().into_iter().collect()),
                    (_, Shape::Map) => Entered::Map(Vec::new()),
                    _ => Entered::List(Vec::new()),
                };
                Some(self.first_row())
            }
            ("unset", entered) => {
                *entered = Entered::Nothing;
                Some(if field.shape == Shape::Single { ControlPosition::First } else { ControlPosition::Set })
            }
            ("lines", _) => {
                self.several_lines = true;
                Some(self.first_row())
            }
            _ => None,
        }
    }

    fn remove(&mut self, row: usize) -> Option<ControlPosition> {
        let left = match &mut self.entered {
            Entered::List(list) if row < list.len() => {
                list.remove(row);
                list.len()
            }
            Entered::Map(map) if row < map.len() => {
                map.remove(row);
                map.len()
            }
            _ => return None,
        };
        // The next row, else the last one.
        let Some(last) = left.checked_sub(1) else { return Some(ControlPosition::Add) };
        Some(self.control_of(row.min(last)))
    }

    fn first_row(&self) -> ControlPosition {
        match &self.entered {
            Entered::Nothing | Entered::Text(_) => ControlPosition::First,
            Entered::List(list) if list.is_empty() => ControlPosition::Add,
            Entered::Map(map) if map.is_empty() => ControlPosition::Add,
            Entered::List(_) | Entered::Map(_) => self.control_of(0),
        }
    }

    fn control_of(&self, row: usize) -> ControlPosition {
        if matches!(self.entered, Entered::Map(_)) {
            ControlPosition::Key(row)
        } else {
            ControlPosition::Row(row)
        }
    }

    /// Returns the value that would be set. The last of duplicate keys is used.
    pub(crate) fn value(&self) -> Option<ParameterValue> {
        match &self.entered {
            Entered::Nothing => None,
            Entered::Text(text) => Some(ParameterValue::String(text.clone())),
            Entered::List(list) => Some(ParameterValue::Array(list.clone())),
            Entered::Map(map) => Some(ParameterValue::Map(map.iter().cloned().collect())),
        }
    }
}

/// A parameter with this value.
pub(crate) fn parameter(name: &str, value: ParameterValue) -> Parameter {
    let parameter = Parameter { name: name.to_owned(), ..Parameter::default() };
    match value {
        ParameterValue::String(text) => Parameter { string: Some(text), ..parameter },
        ParameterValue::Array(list) => Parameter { array: Some(list), ..parameter },
        ParameterValue::Map(map) => Parameter { map: Some(map), ..parameter },
    }
}

/// Whether a single value is typed and not chosen.
pub(crate) fn is_typed(input: Input) -> bool {
    matches!(input, Input::Text | Input::Number)
}

/// Returns the value of a control's string. The value of a choice has a prefix.
fn text_of_control(input: Input, text: String) -> Option<String> {
    if is_typed(input) { Some(text) } else { text.strip_prefix('=').map(str::to_owned) }
}

/// Reverts the browser's change of line breaks, so that an unchanged string stays the same.
fn restored(text: &str, input: Input, originals: &[String]) -> String {
    let (sign, plain) = match text.strip_prefix('=') {
        Some(plain) if !is_typed(input) => ("=", plain),
        _ => ("", text),
    };
    let same = originals.iter().find(|original| with_line_feeds(original) == plain);
    format!("{sign}{}", same.map_or(plain, String::as_str))
}

/// The strings of a field whose line breaks a browser changes.
fn originals(field: &Field) -> Vec<String> {
    let values = [field.counting_value(), field.default.clone()];
    let held = values.into_iter().flatten().flat_map(|value| match value {
        ParameterValue::String(text) => vec![text],
        ParameterValue::Array(list) => list,
        ParameterValue::Map(map) => map.into_iter().flat_map(|(key, value)| [key, value]).collect(),
    });
    held.chain(field.choices.iter().cloned()).filter(|text| text.contains('\r')).collect()
}

#[cfg(test)]
mod tests;
