//! Dynamic parameters: what is read from the destination cluster, and the value that a plugin gets.
//!
//! Names and fields are checked before anything is read ([`look_ups`]); then [`LookUp::value`] converts the object that was found.
//! The rules are those of the proposal "Dynamic application parameters" and of `docs/dynamic-parameters.md`.

mod problem;
mod value;

use base64::Engine as _;
use serde_json::{Value, json};
use tiphys_helm_values::{NameError, PathItem, parse_name};
use tiphys_model::params::{Parameter, ResolvedParameter};
use tiphys_model::resources::{DynamicParameter, ResourceReference};

use crate::helm::{SET_PREFIX, VALUE_PREFIX};
use crate::jsonpath::{FieldPath, FieldPathError, FindError, FindProblem};

pub use problem::LookUpProblem;

/// The only known value of `decode`.
const BASE64: &str = "base64";

/// Consumer of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueConsumer {
    /// The Helm plugin: names are paths of `--set`.
    Helm,
    /// Any other plugin: names are those of parameters.
    Plugin,
}

/// A checked dynamic parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct LookUp {
    parameter: DynamicParameter,
    path: Option<FieldPath>,
    consumer: ValueConsumer,
}

/// A value, and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The parameter with its value.
    pub parameter: ResolvedParameter,
    /// Where the value is from.
    pub used: Used,
}

/// Where a value is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum Used {
    /// Whether the object exists.
    #[strum(to_string = "existence of the object")]
    Existence,
    /// The object's field.
    #[strum(to_string = "field")]
    Field,
    /// The default, because the object does not exist.
    #[strum(to_string = "default: the object does not exist")]
    DefaultForObject,
    /// The default, because the object has no such field.
    #[strum(to_string = "default: the field does not exist")]
    DefaultForField,
}

/// An invalid dynamic parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dynamic parameter {}", title(name, *position))]
pub struct DynamicParameterError {
    /// The name; may be empty.
    pub name: String,
    /// The position in the list, from 1.
    pub position: usize,
    /// The problem.
    #[source]
    pub problem: DynamicParameterProblem,
}

/// Problem of a dynamic parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DynamicParameterProblem {
    /// A required field is empty.
    #[error("`{0}` is required")]
    Required(&'static str),
    /// The name is not a path of `--set`.
    #[error(transparent)]
    Name(NameError),
    /// The path is invalid.
    #[error("resourceRef.path")]
    Path(#[source] FieldPathError),
    /// The path selects the whole object, or copies of it in its metadata.
    #[error(
        "resourceRef.path {0:?} can select the whole object or copies of it in its metadata; name one field"
    )]
    HiddenCopies(String),
    /// `default` or `decode` without a path.
    #[error("`{0}` needs resourceRef.path: without a path, the value is whether the object exists")]
    NeedsPath(&'static str),
    /// An unknown `decode`.
    #[error("`decode: {0}` is unknown; `{BASE64}` is supported")]
    Decode(String),
    /// Two parameters set one value.
    #[error("{0} sets the same value or a part of it; remove one of them")]
    Twice(String),
    /// `default` is not a value that the plugin can get.
    #[error("`default`")]
    Default(#[source] ValueProblem),
    /// The source has no plugin that gets parameters.
    #[error("a {0} source has no dynamic parameters; sources of Helm and of plugins have")]
    Unsupported(&'static str),
}

/// The reason why an object has no value for a parameter. Messages contain no value of the object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueProblem {
    /// The object does not exist.
    #[error("resource not found")]
    NoObject,
    /// The field does not exist, is `null`, or is not one field.
    #[error(transparent)]
    Field(FindError),
    /// A field that should be decoded is not a string of base64.
    #[error("the field must be a base64 string (`decode: {BASE64}`)")]
    NotBase64,
    /// The decoded bytes are not a string.
    #[error("the decoded bytes are not UTF-8")]
    NotUtf8,
    /// Plugins get strings, and lists and maps of them.
    #[error(
        "plugins get strings, and lists and maps of strings; the value is nested deeper: name a field of it"
    )]
    Nested,
}

/// Checks the dynamic parameters of a source, in the order of the block and then of the annotation. `set` are the names of its other
/// parameters.
pub fn look_ups<'a>(
    parameters: impl IntoIterator<Item = &'a DynamicParameter>,
    set: &[String],
    consumer: ValueConsumer,
) -> Result<Vec<LookUp>, DynamicParameterError> {
    let mut names = Vec::new();
    for name in set {
        // Helm reports a static parameter with an invalid name.
        names.extend(
            TargetName::of(name, consumer).ok().map(|target| (format!("the parameter {name:?}"), target)),
        );
    }
    let mut all = Vec::new();
    for (index, parameter) in parameters.into_iter().enumerate() {
        let failed =
            |problem| DynamicParameterError { name: parameter.name.clone(), position: index + 1, problem };
        let look_up = LookUp::new(parameter, consumer).map_err(failed)?;
        let target = TargetName::of(&parameter.name, consumer)
            .map_err(|error| failed(DynamicParameterProblem::Name(error)))?;
        if let Some((other, _)) = names.iter().find(|(_, other)| other.overlaps(&target)) {
            return Err(failed(DynamicParameterProblem::Twice(other.clone())));
        }
        names.push((format!("the dynamic parameter {:?}", parameter.name), target));
        all.push(look_up);
    }
    Ok(all)
}

/// Refuses the dynamic parameters of a source without parameters. `source_type` is the type.
pub(crate) fn unsupported_look_ups(
    parameters: &[DynamicParameter],
    source_type: &'static str,
) -> Result<(), DynamicParameterError> {
    match parameters.first() {
        None => Ok(()),
        Some(first) => Err(DynamicParameterError {
            name: first.name.clone(),
            position: 1,
            problem: DynamicParameterProblem::Unsupported(source_type),
        }),
    }
}

impl LookUp {
    fn new(parameter: &DynamicParameter, consumer: ValueConsumer) -> Result<Self, DynamicParameterProblem> {
        let DynamicParameter { name, resource_ref, default, decode, .. } = parameter;
        let required = [
            ("name", name),
            ("resourceRef.kind", &resource_ref.kind),
            ("resourceRef.name", &resource_ref.name),
        ];
        if let Some((field, _)) = required.into_iter().find(|(_, value)| value.is_empty()) {
            return Err(DynamicParameterProblem::Required(field));
        }
        if !["", BASE64].contains(&decode.as_str()) {
            return Err(DynamicParameterProblem::Decode(decode.clone()));
        }
        let path = match resource_ref.path.as_str() {
            "" if default.is_some() => return Err(DynamicParameterProblem::NeedsPath("default")),
            "" if !decode.is_empty() => return Err(DynamicParameterProblem::NeedsPath("decode")),
            "" => None,
            path => Some(FieldPath::parse(path).map_err(DynamicParameterProblem::Path)?),
        };
        if path.as_ref().is_some_and(FieldPath::may_reach_hidden_copies) {
            return Err(DynamicParameterProblem::HiddenCopies(resource_ref.path.clone()));
        }
        let look_up = Self { parameter: parameter.clone(), path, consumer };
        if let Some(default) = default {
            look_up.typed(default, false).map_err(DynamicParameterProblem::Default)?;
        }
        Ok(look_up)
    }

    /// Returns the parameter as written.
    pub(crate) fn parameter(&self) -> &DynamicParameter {
        &self.parameter
    }

    /// Returns the name of the parameter, as written.
    pub fn name(&self) -> &str {
        &self.parameter.name
    }

    /// Returns the name that users see: a value of a chart has that of the static parameter, `set.PATH`.
    pub fn shown_name(&self) -> String {
        match self.consumer {
            ValueConsumer::Helm => format!("{SET_PREFIX}{}", self.parameter.name),
            ValueConsumer::Plugin => self.parameter.name.clone(),
        }
    }

    /// Returns the object and its field.
    pub fn reference(&self) -> &ResourceReference {
        &self.parameter.resource_ref
    }

    /// Returns a value as JSON for a user who asks for it; `None` if it was read from a Secret.
    pub fn shown_value(&self, resolved: &ResolvedParameter) -> Option<Value> {
        if resolved.is_from_secret() {
            return None;
        }
        let Parameter { string, array, map, .. } = resolved.expose();
        match (self.consumer, string) {
            // The Helm plugin gets JSON.
            (ValueConsumer::Helm, Some(json)) => serde_json::from_str(json).ok(),
            _ => string
                .as_ref()
                .map(|string| json!(string))
                .or(array.as_ref().map(|items| json!(items)))
                .or(map.as_ref().map(|map| json!(map))),
        }
    }

    /// Returns the value for an object; `None` if it does not exist. `is_secret` tells whether it is a Secret: its values stay strings.
    pub fn value(&self, object: Option<&Value>, is_secret: bool) -> Result<Resolution, ValueProblem> {
        let Some(path) = &self.path else {
            // That an object exists is not a value of it.
            let parameter = self.typed(&Value::Bool(object.is_some()), false)?;
            return Ok(Resolution { parameter, used: Used::Existence });
        };
        let default = |used, problem| match &self.parameter.default {
            Some(default) => Ok(Resolution { parameter: self.typed(default, is_secret)?, used }),
            None => Err(problem),
        };
        let Some(object) = object else { return default(Used::DefaultForObject, ValueProblem::NoObject) };
        let field = match path.one(object) {
            Ok(field) => field,
            Err(error) if is_missing(&error.problem) => {
                return default(Used::DefaultForField, ValueProblem::Field(error));
            }
            Err(error) => return Err(ValueProblem::Field(error)),
        };
        let parameter = match self.parameter.decode.as_str() {
            BASE64 => self.typed(&Value::String(decoded(field)?), is_secret)?,
            _ => self.typed(field, is_secret)?,
        };
        Ok(Resolution { parameter, used: Used::Field })
    }

    /// Converts a value to the parameter that the plugin gets.
    fn typed(&self, value: &Value, is_secret: bool) -> Result<ResolvedParameter, ValueProblem> {
        let DynamicParameter { name, force_string, .. } = &self.parameter;
        let parameter = match self.consumer {
            ValueConsumer::Helm => value::helm_parameter(
                format!("{VALUE_PREFIX}{name}"),
                value,
                if *force_string || is_secret { value::Strings::Keep } else { value::Strings::AsSet },
                *force_string,
            ),
            ValueConsumer::Plugin => value::plugin_parameter(name.clone(), value, *force_string)?,
        };
        Ok(ResolvedParameter::new(parameter, is_secret))
    }
}

/// Whether the object has no such field, and not something else there.
fn is_missing(problem: &FindProblem) -> bool {
    matches!(
        problem,
        FindProblem::Missing(_) | FindProblem::NoResult | FindProblem::Null | FindProblem::OutOfRange(_)
    )
}

fn decoded(field: &Value) -> Result<String, ValueProblem> {
    let text = field.as_str().ok_or(ValueProblem::NotBase64)?;
    let bytes =
        base64::engine::general_purpose::STANDARD.decode(text).map_err(|_| ValueProblem::NotBase64)?;
    String::from_utf8(bytes).map_err(|_| ValueProblem::NotUtf8)
}

/// The value that a name addresses.
#[derive(PartialEq)]
enum TargetName {
    Path(Vec<PathItem>),
    Name(String),
}

impl TargetName {
    fn of(name: &str, consumer: ValueConsumer) -> Result<Self, NameError> {
        match consumer {
            ValueConsumer::Helm => parse_name(name).map(Self::Path),
            ValueConsumer::Plugin => Ok(Self::Name(name.to_owned())),
        }
    }

    /// Whether both address the same value, or one a part of the other.
    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(one), Self::Path(other)) => one.starts_with(other) || other.starts_with(one),
            (one, other) => one == other,
        }
    }
}

/// Names an entry by its name, or by its position if it has none.
fn title(name: &str, position: usize) -> String {
    if name.is_empty() { format!("{position} (without a name)") } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests;
