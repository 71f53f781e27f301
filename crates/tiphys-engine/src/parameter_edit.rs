//! Where a source sets its parameters, and which changes of its document set them.
//!
//! A `plugin` block has a list of parameters. A `kustomize` block has a field for each. So has a `helm` block, with lists for the single
//! values of a chart. Argo CD itself understands both.

mod changes;
mod dynamic;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tiphys_helm_values::NameError;
use tiphys_model::params::{Announcement, JsonType, Parameter, Types};
use tiphys_model::resources::ApplicationSource;

use crate::SourceType;
use crate::dynamic::DynamicParameterError;
use crate::helm::{
    FieldProblem, HELM_VALUE_PREFIXES, Knowledge, NoField, Variables, is_ambiguous, plugin_values,
    set_plugin_parameters, set_shown, shown_plugin_parameters,
};
use crate::kustomize::{KUSTOMIZE_FIELDS, set_kustomize_field};

pub use changes::{parameter_changes, patch_changes};
pub use dynamic::DynamicEdit;

/// A parameter that cannot be set in the source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlaceError {
    /// The type of the source takes no parameters.
    #[error("the source is of type {0}, which does not support parameters")]
    Type(SourceType),
    /// A kustomize block has a field for some parameters only.
    #[error(
        "a `kustomize` block has no field for the parameter {0:?}; it has fields for {fields}",
        fields = KUSTOMIZE_FIELDS.iter().map(|one| format!("`{}`", one.parameter)).collect::<Vec<_>>().join(", ")
    )]
    Kustomize(String),
    /// A dynamic parameter of a chart that does not name a value.
    #[error("the parameter {0:?} cannot be dynamic: name a value of the chart with set.PATH")]
    Dynamic(String),
    /// The type of the source takes no dynamic parameters.
    #[error("the source is of type {0}, which does not support dynamic parameters")]
    DynamicType(SourceType),
    /// A dynamic parameter would be invalid.
    #[error(transparent)]
    InvalidDynamic(DynamicParameterError),
    /// A helm block has no field for the parameter.
    #[error(
        "a `helm` block has no field for the parameter {0:?}; single values are `set.PATH`, `set-string.PATH` and `set-file.PATH`, and \
         everything that only the plugin has is set in a `plugin` block with `name: helm` instead"
    )]
    Helm(String),
    /// The field takes another kind of value.
    #[error("the parameter {0:?} of a `{1}` block needs `{2}`")]
    Kind(String, &'static str, &'static str),
    /// A value of a chart must be a single string.
    #[error(
        "the parameter {0:?} is a value of a chart, so a list or a map is given as JSON: write {0}:=JSON or {0}:=@FILE"
    )]
    Value(String),
    /// The name is not a valid path for helm's `--set`.
    #[error("the parameter {0:?} does not name a value of a chart; use set.PATH, for example set.image.tag")]
    Name(String, #[source] NameError),
    /// A number that helm's `--set` does not parse as a number.
    #[error(
        "helm would pass the parameter {0:?} as a string: its --set reads whole numbers of up to 64 bits only; write the number into \
         `values-object` or into a value file, and unset {0} if it is set: it would win"
    )]
    Number(String),
    /// `null` for a string.
    #[error("the parameter {0:?} must be a string, not null; unset it to get the chart's value")]
    Null(String),
    /// A value of another type than the chart accepts.
    #[error(
        "the parameter {name:?} is {}, and helm's --set would convert this string to {}; {}",
        due.words(),
        found.map_or("nothing", JsonType::words),
        types_remedy(name, *due)
    )]
    Types {
        /// The parameter.
        name: String,
        /// The types that the value may have.
        due: Types,
        /// The type that it would have; `None` if helm would reject it.
        found: Option<JsonType>,
    },
    /// A list, a map or a part of one where the chart has a value of another type.
    #[error(
        "the parameter {name:?} is {}, not {given}; {}",
        due.words(),
        structure_remedy(name, *due).unwrap_or_else(|| format!("write {name}=VALUE"))
    )]
    Structure {
        /// The parameter.
        name: String,
        /// The types that the value may have.
        due: Types,
        /// The type that was given, with an article.
        given: String,
    },
    /// The field of the block is a boolean.
    #[error("the parameter {0:?} of a `{1}` block must be `true` or `false`")]
    Switch(String, &'static str),
    /// The field of a helm block is an object.
    #[error("the parameter {0:?} of a `helm` block must be JSON, for example {{\"replicas\":2}}")]
    Json(String),
}

/// Returns the parameters that a source's block of this type sets, by the names under which users set them. Variables are not replaced.
/// `plugin` is the name of the chosen plugin. If it is unknown, the name in the `plugin` block decides.
pub fn written_parameters(
    source: &ApplicationSource,
    source_type: SourceType,
    plugin: Option<&str>,
) -> Vec<Parameter> {
    match source_type {
        SourceType::Plugin => match plugin_values(source, plugin) {
            Some(list) => shown_plugin_parameters(list),
            None => source.plugin.as_ref().and_then(|block| block.parameters.clone()).unwrap_or_default(),
        },
        SourceType::Native(native) => (native.parameters)(source),
        SourceType::Directory => Vec::new(),
    }
}

/// Information about parameters that are set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// The name of the plugin that gets them. If it is unknown, the name in the `plugin` block decides.
    pub plugin: Option<&'a str>,
    /// The announcements of the plugin, including the types of a chart's values.
    pub announcements: &'a [Announcement],
    /// The names of the set parameters, including those that seem to have their new value already.
    pub names: &'a [&'a str],
    /// How variables in values of a chart are treated.
    pub variables: Variables,
    /// The types of the values that were given as JSON, by the names of their parameters.
    pub types: &'a [(String, JsonType)],
}

/// A change of the parameters of a source.
#[derive(Debug)]
pub struct ParameterEdit<'a> {
    /// The source.
    pub source: &'a ApplicationSource,
    /// The parameters afterwards.
    pub after: &'a [Parameter],
    /// Information about them.
    pub given: Given<'a>,
    named: BTreeSet<&'a str>,
    /// Of several announcements with one name, the first takes effect.
    announcements: HashMap<&'a str, &'a Announcement>,
    types: HashMap<&'a str, JsonType>,
}

/// Returns the source with these parameters instead of its own. Unchanged parameters stay as they were written.
pub fn with_parameters(
    source: &ApplicationSource,
    source_type: SourceType,
    after: &[Parameter],
    given: Given<'_>,
) -> Result<ApplicationSource, NoPlaceError> {
    let announced = given.announcements.iter().rev();
    let edit = ParameterEdit {
        source,
        after,
        given,
        named: given.names.iter().copied().collect(),
        announcements: announced.map(|announcement| (announcement.name.as_str(), announcement)).collect(),
        types: given.types.iter().map(|(name, one)| (name.as_str(), *one)).collect(),
    };
    match source_type {
        SourceType::Plugin => set_block_parameters(&edit),
        SourceType::Native(native) => (native.with_parameters)(&edit),
        SourceType::Directory => Err(NoPlaceError::Type(source_type)),
    }
}

impl<'a> ParameterEdit<'a> {
    fn knowledge(&self, name: &str) -> Knowledge<'a> {
        Knowledge {
            announcement: self.announcements.get(name).copied(),
            variables: self.given.variables,
            given_type: self.types.get(name).copied(),
        }
    }
}

fn set_block_parameters(edit: &ParameterEdit<'_>) -> Result<ApplicationSource, NoPlaceError> {
    let written = plugin_values(edit.source, edit.given.plugin)
        .map(|before| set_plugin_parameters(before, edit.after, &edit.named, |name| edit.knowledge(name)))
        .transpose()
        .map_err(|(name, problem)| no_field(name, problem))?;
    let after = written.as_deref().unwrap_or(edit.after);
    let mut changed = edit.source.clone();
    let block = changed.plugin.get_or_insert_default();
    // An empty list and no list are different values. A list that becomes empty is removed; one that was empty stays.
    block.parameters = match after {
        [] if block.parameters.as_ref().is_none_or(|list| !list.is_empty()) => None,
        after => Some(after.to_vec()),
    };
    Ok(changed)
}

/// Sets the fields of a kustomize block.
pub(crate) fn set_kustomize_parameters(edit: &ParameterEdit<'_>) -> Result<ApplicationSource, NoPlaceError> {
    let before = written_parameters(edit.source, SourceType::KUSTOMIZE, edit.given.plugin);
    let mut changed = edit.source.clone();
    let block = changed.kustomize.get_or_insert_default();
    for (name, before, after) in differing(&before, edit.after) {
        set_kustomize_field(block, name, before, after)?;
    }
    Ok(changed)
}

/// Sets the fields of a helm block.
pub(crate) fn set_helm_parameters(edit: &ParameterEdit<'_>) -> Result<ApplicationSource, NoPlaceError> {
    let before = written_parameters(edit.source, SourceType::HELM, edit.given.plugin);
    let mut changed = edit.source.clone();
    let block = changed.helm.get_or_insert_default();
    let mut edits: Vec<_> =
        differing(&before, edit.after).into_iter().map(|(name, _, after)| (name, after)).collect();
    let mut seen: BTreeSet<&str> = edits.iter().map(|(name, _)| *name).collect();
    for parameter in edit.after.iter().filter(|one| edit.named.contains(one.name.as_str())) {
        let (name, text) = (parameter.name.as_str(), parameter.string.as_deref());
        let is_ambiguous = |text| is_ambiguous(block, name, text, edit.knowledge(name));
        if text.is_some_and(is_ambiguous) && seen.insert(name) {
            edits.push((name, Some(parameter)));
        }
    }
    for (name, after) in edits {
        set_shown(block, name, after, edit.knowledge(name)).map_err(|problem| no_field(name, problem))?;
    }
    Ok(changed)
}

/// Returns how a list or a map is set; `None` if the value cannot be one.
fn structure_remedy(name: &str, due: Types) -> Option<String> {
    let list = due.allow(JsonType::Array).then(|| {
        format!("write {name}:='[…]' for the whole list, {name}[0]:=JSON for an item, or {name}+:=JSON to append one")
    });
    let map = due
        .allow(JsonType::Object)
        .then(|| format!("write {name}:='{{…}}' for the whole map, or {name}[KEY]=VALUE for a key"));
    list.into_iter().chain(map).reduce(|list, map| format!("{list}; {map}"))
}

fn types_remedy(name: &str, due: Types) -> String {
    structure_remedy(name, due).unwrap_or_else(|| {
        format!(
            "write the value into `values-object` or into a value file, and unset {name} if it is set: it would win"
        )
    })
}

fn no_field(name: &str, problem: NoField) -> NoPlaceError {
    let name = name.to_owned();
    match problem {
        NoField::Unknown => NoPlaceError::Helm(name),
        NoField::Name(source) => NoPlaceError::Name(name, source),
        NoField::Number => NoPlaceError::Number(name),
        NoField::Null => NoPlaceError::Null(name),
        NoField::Types { due, found } => NoPlaceError::Types { name, due, found },
        NoField::Value(FieldProblem::Kind(_))
            if HELM_VALUE_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) =>
        {
            NoPlaceError::Value(name)
        }
        NoField::Value(FieldProblem::Kind(due)) => NoPlaceError::Kind(name, "helm", due),
        NoField::Value(FieldProblem::Switch) => NoPlaceError::Switch(name, "helm"),
        NoField::Value(FieldProblem::Json) => NoPlaceError::Json(name),
    }
}

/// Returns the names whose last value differs, in the order of `before` and then of `after`.
fn differing<'a>(
    before: &'a [Parameter],
    after: &'a [Parameter],
) -> Vec<(&'a str, Option<&'a Parameter>, Option<&'a Parameter>)> {
    let last = |list: &'a [Parameter]| -> BTreeMap<&'a str, &'a Parameter> {
        list.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect()
    };
    let (old, new) = (last(before), last(after));
    let mut seen = BTreeSet::new();
    before
        .iter()
        .chain(after)
        .map(|parameter| parameter.name.as_str())
        .filter(|name| seen.insert(*name))
        .map(|name| (name, old.get(name).copied(), new.get(name).copied()))
        .filter(|(_, old, new)| old != new)
        .collect()
}
