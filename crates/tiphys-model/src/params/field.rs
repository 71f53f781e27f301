//! The input form for the parameters of an application, derived from the announcements.
//!
//! `plugin check` prints these fields, and the page of `plugin check --serve` renders them.

use std::collections::HashMap;

use crate::params::{
    Announcement, CollectionType, ItemType, Parameter, ParameterValue, ProblemKind, Shape, check_values,
};

/// A field of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the parameter.
    pub name: String,
    /// Human-readable name; empty if there is none. See [`Field::label`].
    pub title: String,
    /// Description; empty if there is none.
    pub tooltip: String,
    /// The input control for a single value.
    pub input: Input,
    /// Whether it is a single value, a list or a map.
    pub shape: Shape,
    /// The permitted values; empty unless `input` is [`Input::Choice`].
    pub choices: Vec<String>,
    /// Whether a value is required (an announced default satisfies it).
    pub required: bool,
    /// Whether the plugin announces the parameter. Unannounced parameters have a field because they are set.
    pub announced: bool,
    /// The announced default in the field of the collection type.
    pub default: Option<ParameterValue>,
    /// The set parameter, with all its fields.
    pub value: Option<Parameter>,
    /// Problems of the set value.
    pub problems: Vec<ProblemKind>,
}

/// The input control for a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Input {
    /// Any string.
    Text,
    /// An exact decimal number.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of the choices.
    Choice,
}

/// Returns the fields of a form: announced parameters in their order, then other set parameters.
///
/// The last of duplicate parameters counts, as in the environment. If a plugin announces nothing, all names are permitted.
pub fn fields(announcements: &[Announcement], parameters: &[Parameter]) -> Vec<Field> {
    let effective = effective(parameters);
    let set: HashMap<&str, &Parameter> =
        effective.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect();
    let mut fields: Vec<Field> = announcements
        .iter()
        .map(|announcement| Field::of(announcement, set.get(announcement.name.as_str()).copied()))
        .collect();
    // The first of duplicate announcements gets the problems.
    let mut indexes: HashMap<String, usize> = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        indexes.entry(field.name.clone()).or_insert(index);
    }
    for parameter in &effective {
        if !indexes.contains_key(&parameter.name) {
            indexes.insert(parameter.name.clone(), fields.len());
            fields.push(Field::unannounced(parameter));
        }
    }
    for problem in check_values(announcements, &effective) {
        if announcements.is_empty() && matches!(problem.kind, ProblemKind::Unannounced { .. }) {
            continue;
        }
        if let Some(index) = indexes.get(&problem.parameter) {
            fields[*index].problems.push(problem.kind);
        }
    }
    fields
}

fn effective(parameters: &[Parameter]) -> Vec<Parameter> {
    let mut effective: Vec<Parameter> = Vec::with_capacity(parameters.len());
    let mut indexes: HashMap<&str, usize> = HashMap::new();
    for parameter in parameters {
        let index = *indexes.entry(&parameter.name).or_insert(effective.len());
        if index == effective.len() {
            effective.push(parameter.clone());
        } else {
            effective[index].clone_from(parameter);
        }
    }
    effective
}

impl Field {
    fn of(announcement: &Announcement, parameter: Option<&Parameter>) -> Self {
        let input = match &announcement.item_type {
            _ if !announcement.choices.is_empty() => Input::Choice,
            Some(ItemType::Number) => Input::Number,
            Some(ItemType::Boolean) => Input::Switch,
            Some(ItemType::String(_) | ItemType::OneOf(_)) | None => Input::Text,
        };
        Self {
            name: announcement.name.clone(),
            title: announcement.title.clone().unwrap_or_default(),
            tooltip: announcement.tooltip.clone().unwrap_or_default(),
            input,
            shape: Shape::of(announcement.collection_type),
            choices: announcement.choices.clone(),
            required: announcement.required == Some(true),
            announced: true,
            default: announcement.default_value().map(ParameterValue::from),
            value: parameter.cloned(),
            problems: Vec::new(),
        }
    }

    fn unannounced(parameter: &Parameter) -> Self {
        let collection_type = match parameter {
            Parameter { array: Some(_), .. } => CollectionType::Array,
            Parameter { map: Some(_), .. } => CollectionType::Map,
            _ => CollectionType::String,
        };
        let announcement = Announcement { collection_type, ..Announcement::named(&parameter.name) };
        Self { announced: false, ..Self::of(&announcement, Some(parameter)) }
    }

    /// Returns the field's label: the title, or the name if there is no title.
    pub fn label(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }

    /// Returns the set value in the field of the collection type.
    pub fn counting_value(&self) -> Option<ParameterValue> {
        let value = self.value.as_ref()?;
        match self.shape {
            Shape::Single => value.string.clone().map(ParameterValue::String),
            Shape::List => value.array.clone().map(ParameterValue::Array),
            Shape::Map => value.map.clone().map(ParameterValue::Map),
        }
    }

    /// Returns a description without the choices: `string`, `list of numbers`, `map of choices`.
    pub fn kind_words(&self) -> String {
        let (one, several) = match self.input {
            Input::Text => ("string", "strings"),
            Input::Number => ("number", "numbers"),
            Input::Switch => ("switch", "switches"),
            Input::Choice => ("choice", "choices"),
        };
        match self.shape {
            Shape::Single => one.to_owned(),
            Shape::List => format!("list of {several}"),
            Shape::Map => format!("map of {several}"),
        }
    }
}

impl Input {
    /// Returns the name in the output of `plugin check -o json`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests;
