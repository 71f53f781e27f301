//! A value that a browser has entered for one parameter, and the change that it asks for.

use serde_json::{Value, json};
use tiphys_service::documents::ParameterDocument;
use tiphys_service::params::EditedValue;
use tiphys_yaml::read_document;

use super::control::Control;
use crate::posted::{Posted, with_line_feeds};

/// A value as its controls have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// A single control.
    Text(String),
    /// A list.
    List(Vec<String>),
    /// A map, in the order of its rows. Keys may be duplicate.
    Map(Vec<(String, String)>),
}

impl Entered {
    /// Returns the empty value of a control.
    pub(crate) fn empty(control: Control) -> Self {
        match control {
            Control::List | Control::JsonList => Self::List(Vec::new()),
            Control::Map => Self::Map(Vec::new()),
            _ => Self::Text(String::new()),
        }
    }
}

/// The requested change of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// None.
    Unchanged,
    /// It is not set any more, so that the layer below is effective.
    Reset,
    /// It is null.
    Null,
    /// It is set.
    Set,
}

/// One parameter of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) control: Control,
    pub(crate) edited: Edited,
    /// The value in the controls. None without a value.
    pub(crate) entered: Option<Entered>,
    /// Whether the value changed in the files after the page was loaded, and the browser changed it too.
    pub(crate) is_conflict: bool,
}

/// The prefix of the control that has the state of a parameter without a value in other controls.
pub(crate) const STATE: &str = "state:";

/// The prefix of the control that has the hash of the value when the page was loaded.
pub(crate) const WAS: &str = "was:";

/// The prefix of the control that shows that a list or a map was posted, which may have no rows.
pub(crate) const ROWS: &str = "rows:";

/// The name of all buttons of the form.
pub(crate) const OPERATION: &str = "op";

/// Returns the name of a parameter's controls.
pub(crate) fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the name of the parameter with these controls.
pub(crate) fn name_of(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace("~1", "/").replace("~0", "~")
}

/// Returns the pointers of parameters whose posted value is not the one that the page was loaded with.
pub(crate) fn lost(posted: &Posted) -> impl Iterator<Item = &str> {
    let loaded = posted.pairs().iter().filter_map(|(name, was)| Some((name.strip_prefix(WAS)?, was)));
    loaded
        .filter(|(at, was)| {
            let controls = [Control::Text, Control::List, Control::Map];
            let mut values =
                controls.into_iter().filter_map(|control| entered(control, at, posted)).peekable();
            let has_state = posted.get(&format!("{STATE}{at}")).is_some();
            let is_same = |value: Entered| {
                hash(Some(&value)) == **was || (**was == hash(None) && value == Entered::Text(String::new()))
            };
            has_state || (values.peek().is_some() && !values.any(is_same))
        })
        .map(|(at, _)| at)
}

impl Draft {
    /// Returns the draft of a page that is loaded.
    pub(crate) fn of(parameter: &ParameterDocument) -> Self {
        let control = Control::of(parameter);
        let entered = control.shown(parameter);
        Self { control, edited: Edited::Unchanged, entered, is_conflict: false }
    }

    /// Returns the draft of a posted form. A parameter that the form lacks is unchanged.
    pub(crate) fn posted(parameter: &ParameterDocument, posted: &Posted) -> Self {
        let shown = Self::of(parameter);
        let at = pointer(&parameter.name);
        let was = posted.get(&format!("{WAS}{at}"));
        let baseline = baseline(parameter, &shown);
        let has_moved = was.is_some_and(|was| was != hash(baseline.as_ref()));
        let state = posted.get(&format!("{STATE}{at}"));
        let edited = match state {
            Some("reset") => Edited::Reset,
            Some("null") => Edited::Null,
            _ => Edited::Set,
        };
        if edited != Edited::Set {
            return Self { edited, is_conflict: has_moved, ..shown };
        }
        let entered = match state {
            Some("empty") => Some(Entered::empty(shown.control)),
            _ => entered(shown.control, &at, posted),
        };
        let Some(entered) = entered else { return shown };
        // A value that only the files changed is not one that the browser changed.
        if baseline.as_ref() == Some(&entered) || was.is_some_and(|was| was == hash(Some(&entered))) {
            return shown;
        }
        let is_choice = matches!(shown.control, Control::Switch | Control::Choice);
        if is_choice && entered == Entered::Text(String::new()) {
            return Self { edited: Edited::Reset, is_conflict: has_moved, ..shown };
        }
        // Controls that are empty because nothing is set stay unset.
        let is_untouched =
            shown.entered.is_none() && state.is_none() && entered == Entered::empty(shown.control);
        if is_untouched {
            return shown;
        }
        Self { edited: Edited::Set, entered: Some(entered), is_conflict: has_moved, ..shown }
    }

    /// Applies a button of this parameter, given by its word and the number of the row.
    pub(crate) fn press(&mut self, parameter: &ParameterDocument, word: &str, row: Option<usize>) {
        if word == "undo" {
            *self = Self::of(parameter);
            return;
        }
        let rows = match self.entered.take() {
            Some(Entered::List(list)) => list.into_iter().map(|item| (String::new(), item)).collect(),
            Some(Entered::Map(map)) => map,
            other => {
                self.entered = other;
                Vec::new()
            }
        };
        let mut rows: Vec<(String, String)> = rows;
        match (word, row) {
            ("reset", _) => self.edited = Edited::Reset,
            ("null", _) => self.edited = Edited::Null,
            ("edit", _) => self.edited = Edited::Unchanged,
            ("empty", _) => {
                rows.clear();
                (self.edited, self.entered) = (Edited::Set, Some(Entered::empty(self.control)));
            }
            ("add", _) => rows.push((String::new(), String::new())),
            ("remove", Some(row)) if row < rows.len() => drop(rows.remove(row)),
            ("duplicate", Some(row)) if row < rows.len() => rows.insert(row + 1, rows[row].clone()),
            ("up", Some(row)) if row > 0 && row < rows.len() => rows.swap(row - 1, row),
            ("down", Some(row)) if row + 1 < rows.len() => rows.swap(row, row + 1),
            _ => {}
        }
        if ["add", "remove", "duplicate", "up", "down"].contains(&word) {
            self.edited = Edited::Set;
        }
        match self.control {
            _ if self.edited != Edited::Set && self.entered.is_none() && rows.is_empty() => {}
            Control::List | Control::JsonList => {
                self.entered = Some(Entered::List(rows.into_iter().map(|(_, item)| item).collect()));
            }
            Control::Map => self.entered = Some(Entered::Map(rows)),
            _ => {}
        }
        if self.edited == Edited::Set && self.entered == Self::of(parameter).entered {
            self.edited = Edited::Unchanged;
        }
    }

    /// Returns the new value, or why it is none. `None` without a change.
    pub(crate) fn change(&self) -> Option<Result<Option<EditedValue>, String>> {
        let text = |text: &str| Ok(Some(EditedValue::Text(text.to_owned())));
        let json = |value: Value| Ok(Some(EditedValue::Json(value)));
        Some(match (&self.edited, &self.entered) {
            (Edited::Unchanged, _) | (Edited::Set, None) => return None,
            (Edited::Reset, _) => Ok(None),
            (Edited::Null, _) => json(Value::Null),
            (Edited::Set, Some(Entered::Text(yaml))) if self.control == Control::Yaml => {
                match read_document(yaml.as_bytes()) {
                    Ok(node) => json(node.map_or(Value::Null, |node| node.to_value())),
                    Err(error) => Err(format!("expected YAML: {error}")),
                }
            }
            (Edited::Set, Some(Entered::Text(entered))) => text(entered),
            (Edited::Set, Some(Entered::List(list))) => json(json!(list)),
            (Edited::Set, Some(Entered::Map(map))) => match unusable_key(map) {
                Some(problem) => Err(problem),
                None => json(map.iter().map(|(key, value)| (key.clone(), json!(value))).collect()),
            },
        })
    }
}

/// Returns the value that the controls of an unchanged parameter post. Those of a choice that is inherited post an empty string.
pub(crate) fn baseline(parameter: &ParameterDocument, shown: &Draft) -> Option<Entered> {
    match shown.control {
        // Also a null, which has no control of its own.
        Control::Switch | Control::Choice if !is_set_here(parameter) || shown.entered.is_none() => {
            Some(Entered::Text(String::new()))
        }
        _ => shown.entered.clone(),
    }
}

/// Whether the value is set where this page can remove it: in the Application or in an override file.
pub(crate) fn is_set_here(parameter: &ParameterDocument) -> bool {
    match parameter.origin.as_str() {
        "set" => parameter.layer != "value-file",
        "file" | "dynamic" => true,
        _ => false,
    }
}

/// Returns a short hash of a value, to notice that it has changed.
pub(crate) fn hash(entered: Option<&Entered>) -> String {
    let json = match entered {
        None => Value::Null,
        Some(Entered::Text(text)) => json!(with_line_feeds(text)),
        Some(Entered::List(list)) => list.iter().map(|item| json!(with_line_feeds(item))).collect(),
        Some(Entered::Map(map)) => json!(map),
    };
    blake3::hash(json.to_string().as_bytes()).to_hex()[..8].to_owned()
}

/// Returns the values of the controls with a name.
fn entered(control: Control, at: &str, posted: &Posted) -> Option<Entered> {
    if control.is_single() {
        return posted.get(at).map(|text| Entered::Text(text.to_owned()));
    }
    posted.get(&format!("{ROWS}{at}"))?;
    let value = |row: usize, part: &str| posted.get(&format!("{at}/{row}{part}")).map(str::to_owned);
    Some(match control {
        Control::Map => Entered::Map(
            (0..)
                .map_while(|row| Some((value(row, "/key")?, value(row, "/value").unwrap_or_default())))
                .collect(),
        ),
        _ => Entered::List((0..).map_while(|row| value(row, "")).collect()),
    })
}

fn unusable_key(map: &[(String, String)]) -> Option<String> {
    for (index, (key, _)) in map.iter().enumerate() {
        if key.is_empty() {
            return Some(format!("entry {}: a key is required", index + 1));
        }
        if let Some(first) = map[..index].iter().position(|(other, _)| other == key) {
            return Some(format!("entries {} and {}: duplicate key {key:?}", first + 1, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests;
