//! The form that announcements make: what a person gets to set the parameters of one application.
//!
//! `plugin check` prints the fields, the page of `plugin check --serve` draws them; both take them from here.

use std::collections::HashMap;

use crate::{
    Announcement, CollectionType, ItemType, Parameter, ParameterValue, ProblemKind, Shape, check_values,
};

/// One field of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the parameter.
    pub name: String,
    /// Human-readable name; empty if there is none. See [`Field::label`].
    pub title: String,
    /// Explanation; empty if there is none.
    pub tooltip: String,
    /// What a single value is typed into.
    pub input: Input,
    /// How many values there are.
    pub shape: Shape,
    /// The texts to choose from; empty unless `input` is [`Input::Choice`].
    pub choices: Vec<String>,
    /// Whether a value must be there (an announced default satisfies it).
    pub required: bool,
    /// Whether the plugin announces the parameter. Others have a field because they are set.
    pub announced: bool,
    /// The announced default, in the field that counts.
    pub default: Option<ParameterValue>,
    /// What is set, whatever field it is in.
    pub value: Option<Parameter>,
    /// What is wrong with what is set.
    pub problems: Vec<ProblemKind>,
}

/// What a single value is typed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Any text.
    Text,
    /// An exact decimal number.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of the choices.
    Choice,
}

/// The fields of a form: the announced parameters in their order, then the others that are set.
///
/// Of a parameter that is set twice the later one counts, as in the environment. A plugin that announces nothing leaves all names free.
pub fn fields(announcements: &[Announcement], parameters: &[Parameter]) -> Vec<Field> {
    let counted = counted(parameters);
    let set: HashMap<&str, &Parameter> =
        counted.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect();
    let mut fields: Vec<Field> = announcements
        .iter()
        .map(|announcement| Field::of(announcement, set.get(announcement.name.as_str()).copied()))
        .collect();
    // Of several announcements of one name the first has the problems.
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, field) in fields.iter().enumerate() {
        places.entry(field.name.clone()).or_insert(place);
    }
    for parameter in &counted {
        if !places.contains_key(&parameter.name) {
            places.insert(parameter.name.clone(), fields.len());
            fields.push(Field::unannounced(parameter));
        }
    }
    for problem in check_values(announcements, &counted) {
        if announcements.is_empty() && matches!(problem.kind, ProblemKind::Unannounced { .. }) {
            continue;
        }
        if let Some(place) = places.get(&problem.parameter) {
            fields[*place].problems.push(problem.kind);
        }
    }
    fields
}

fn counted(parameters: &[Parameter]) -> Vec<Parameter> {
    let mut counted: Vec<Parameter> = Vec::with_capacity(parameters.len());
    let mut places: HashMap<&str, usize> = HashMap::new();
    for parameter in parameters {
        let place = *places.entry(&parameter.name).or_insert(counted.len());
        if place == counted.len() {
            counted.push(parameter.clone());
        } else {
            counted[place].clone_from(parameter);
        }
    }
    counted
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

    /// What stands beside the field: the title, or the name where there is none.
    pub fn label(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }

    /// What is set in the field that counts.
    pub fn counting_value(&self) -> Option<ParameterValue> {
        let value = self.value.as_ref()?;
        match self.shape {
            Shape::Single => value.string.clone().map(ParameterValue::String),
            Shape::List => value.array.clone().map(ParameterValue::Array),
            Shape::Map => value.map.clone().map(ParameterValue::Map),
        }
    }

    /// The kind of the field in words, without its choices: `text`, `list of numbers`, `map of choices`.
    pub fn kind_words(&self) -> String {
        let (one, several) = match self.input {
            Input::Text => ("text", "texts"),
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
    /// The word of `input` in the output of `plugin check -o json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Switch => "switch",
            Self::Choice => "choice",
        }
    }
}

#[cfg(test)]
mod tests;
