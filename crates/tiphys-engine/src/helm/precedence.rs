//! Which of several parameters that set one value of a chart wins: helm applies `--set` before `--set-string` before `--set-file`, each in the
//! order of its entries.

use tiphys_model::params::Parameter;
use tiphys_model::resources::ApplicationSource;

use super::shown::{plain_paths, plugin_values, seen_name, split};
use super::value_path::ValuePath;
use super::{HELM_VALUE_PREFIXES, VALUE_PREFIX, helm_parameters};
use crate::SourceType;

/// The parameters of a source that set values of its chart, by the names under which users set them, in the order in which helm applies them.
#[derive(Clone, Debug)]
pub struct ValueParameters(Vec<(ValuePath, String)>);

impl ValueParameters {
    /// Returns the parameters of a source of this type. `plugin` is the name of the chosen plugin. If it is unknown, the name in the `plugin`
    /// block decides.
    pub fn of(source: &ApplicationSource, source_type: SourceType, plugin: Option<&str>) -> Self {
        let own;
        let list: &[Parameter] = if source_type == SourceType::Plugin {
            plugin_values(source, plugin).unwrap_or_default()
        } else {
            own = source.helm.as_ref().map(helm_parameters).unwrap_or_default();
            &own
        };
        let plain = plain_paths(list.iter().filter_map(|one| split(&one.name)));
        let entry = |written: &str| {
            let mut prefixes = HELM_VALUE_PREFIXES.iter().chain([&VALUE_PREFIX]).zip(0..);
            let (path, rank) =
                prefixes.find_map(|(prefix, rank)| Some((written.strip_prefix(prefix)?, rank)))?;
            let name = match split(written) {
                Some((typing, path)) => seen_name(typing, path, &plain),
                None => written.to_owned(),
            };
            Some((rank, (ValuePath::of_name(path)?, name)))
        };
        let mut found: Vec<(i32, _)> = list.iter().filter_map(|one| entry(&one.name)).collect();
        found.sort_by_key(|(rank, _)| *rank);
        Self(found.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Returns the parameter that wins for this value, a part of it, or a value that contains it.
    pub fn covering(&self, path: &ValuePath) -> Option<&str> {
        let covering = self.0.iter().rfind(|(other, _)| other.is_nested(path));
        covering.map(|(_, name)| name.as_str())
    }

    /// Returns the parameters that set exactly the value of this parameter, in the order in which helm applies them. Only a name that does not
    /// say how helm gets the value stands for several.
    pub fn of_value(&self, name: &str) -> Vec<&str> {
        let Some(Ok((path, _))) = ValuePath::of_parameter(name) else { return Vec::new() };
        let mut names: Vec<&str> = Vec::new();
        for (_, name) in self.0.iter().filter(|(other, _)| *other == path) {
            names.retain(|other| other != name);
            names.push(name);
        }
        names
    }

    /// Returns the parameter that wins over this one: helm applies it later, and it sets the same value or one that contains it.
    pub fn winning_over(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().rposition(|(_, one)| one == name)?;
        let path = &self.0[at].0;
        let later = self.0[at + 1..].iter().rfind(|(other, _)| path.is_within(other));
        later.map(|(_, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests;
