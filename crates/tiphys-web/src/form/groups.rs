//! Groups of parameters by their names, and which of them a page shows.

use tiphys_engine::{HELM_PLUGIN, SET_PREFIX};
use tiphys_service::documents::ParameterDocument;
use tiphys_service::params::Announced;

use super::draft::is_set_here;
use crate::posted::Posted;
use crate::site::FormParameter;

/// The group of parameters that the plugin does not announce.
const UNKNOWN: &str = "Not known to this plugin";

/// The group of set parameters if the plugin failed to announce its own.
const SET: &str = "Set parameters";

/// The group of fields of Argo CD beside the values of a chart.
const SOURCE_OPTIONS: &str = "Source options";

/// The group of values without a dot in their names.
const GENERAL: &str = "General";

/// A group of parameters whose names begin alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The first part of the names, or words for parameters without a common part.
    pub(crate) name: String,
    /// The indexes of the parameters.
    pub(crate) members: Vec<usize>,
}

/// Which parameters a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// A word in the name, the title, the description or the value, in any letter case.
    pub(crate) query: String,
    /// The name of a group. Empty: all.
    pub(crate) group: String,
    /// Only parameters that are set.
    pub(crate) set: bool,
    /// Only parameters that require a value.
    pub(crate) required: bool,
    /// Only parameters with problems.
    pub(crate) invalid: bool,
}

/// Returns the groups of a source's parameters: the values of a chart first.
pub(crate) fn groups(parameters: &[&FormParameter], plugin: Option<&str>) -> Vec<Group> {
    let is_chart = plugin == Some(HELM_PLUGIN)
        || parameters.iter().any(|one| one.parameter.name.starts_with(SET_PREFIX));
    let mut groups: Vec<Group> = Vec::new();
    for (index, FormParameter { parameter, announced, .. }) in parameters.iter().enumerate() {
        let name = if !parameter.announced {
            if *announced == Announced::Known { UNKNOWN } else { SET }
        } else if is_chart && !parameter.name.starts_with(SET_PREFIX) {
            SOURCE_OPTIONS
        } else {
            first_part(shown_name(&parameter.name)).unwrap_or(GENERAL)
        };
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.members.push(index),
            None => groups.push(Group { name: name.to_owned(), members: vec![index] }),
        }
    }
    groups.sort_by_key(|group| match group.name.as_str() {
        GENERAL => 0,
        SOURCE_OPTIONS => 2,
        UNKNOWN | SET => 3,
        _ => 1,
    });
    groups
}

/// Returns a parameter's name as people read it: that of a value of a chart without `set.`.
pub(crate) fn shown_name(name: &str) -> &str {
    name.strip_prefix(SET_PREFIX).unwrap_or(name)
}

/// Returns the part of a name before the first dot or bracket without a backslash.
fn first_part(name: &str) -> Option<&str> {
    let mut is_escaped = false;
    let end = name.char_indices().find_map(|(position, char)| {
        let ends = !is_escaped && matches!(char, '.' | '[');
        is_escaped = !is_escaped && char == '\\';
        ends.then_some(position)
    })?;
    Some(&name[..end]).filter(|part| !part.is_empty())
}

impl Filter {
    /// Reads a filter from the query of a URL or from a form.
    pub(crate) fn of(fields: &Posted) -> Self {
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let is_on = |name: &str| fields.get(name).is_some_and(|value| !value.is_empty());
        Self {
            query: text("q"),
            group: text("group"),
            set: is_on("set"),
            required: is_on("required"),
            invalid: is_on("invalid"),
        }
    }

    /// Whether a parameter is shown.
    pub(crate) fn includes(&self, parameter: &ParameterDocument, group: &str, is_invalid: bool) -> bool {
        let word = self.query.to_lowercase();
        let value = parameter.value.as_ref().map(ToString::to_string).unwrap_or_default();
        let texts = [&parameter.name, &parameter.title, &parameter.tooltip, &value];
        (self.group.is_empty() || self.group == group)
            && (word.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&word)))
            && (!self.set || is_set_here(parameter))
            && (!self.required || parameter.required)
            && (!self.invalid || is_invalid)
    }
}

#[cfg(test)]
mod tests;
