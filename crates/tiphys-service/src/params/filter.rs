//! Which parameters are shown, and groups of their names.

use std::collections::HashMap;

use tiphys_engine::{HELM_PLUGIN, HELM_VALUE_PREFIXES};

use super::row::ParameterRow;

/// Selects parameters. The default selects all.
#[derive(Clone, Debug, Default)]
pub struct ParameterFilter {
    /// The beginning of the name, for values of a chart with or without `set.`. A final `*` has no effect.
    pub prefix: String,
    /// A word in the name, title or tooltip, in any letter case.
    pub word: Option<String>,
    /// Only parameters that are set: by the Application, by a value file that it names, or by an override file.
    pub set_only: bool,
    /// Only parameters that require a value.
    pub required_only: bool,
}

/// A parameter, or a group of parameters.
#[derive(Debug)]
pub enum ParameterEntry<'a> {
    /// A parameter.
    Row(ParameterRow<'a>),
    /// Several parameters whose names begin alike.
    Group(ParameterGroup<'a>),
}

/// Several parameters of a source whose names begin alike.
#[derive(Debug)]
pub struct ParameterGroup<'a> {
    /// The beginning of the names, with a final `*`.
    pub name: String,
    /// The parameters.
    pub rows: Vec<ParameterRow<'a>>,
}

impl ParameterFilter {
    /// Whether the filter selects a parameter.
    pub fn includes(&self, row: &ParameterRow<'_>) -> bool {
        let is_required = row.announcement.is_some_and(|one| one.required == Some(true));
        self.has_prefix(row)
            && self.word.as_ref().is_none_or(|word| mentions(row, &word.to_lowercase()))
            && (row.is_set() || !self.set_only)
            && (is_required || !self.required_only)
    }

    fn prefix(&self) -> &str {
        self.prefix.strip_suffix('*').unwrap_or(&self.prefix)
    }

    fn has_prefix(&self, row: &ParameterRow<'_>) -> bool {
        row.name.starts_with(self.prefix())
            || path_of(row).is_some_and(|path| path.starts_with(self.prefix()))
    }

    /// Replaces parameters whose names begin alike by groups, in the order of their first parameters. `depth` is the number of levels below
    /// the last level that the prefix contains. A group of one parameter is that parameter.
    pub fn grouped<'a>(&self, rows: Vec<ParameterRow<'a>>, depth: usize) -> Vec<ParameterEntry<'a>> {
        let mut groups: Vec<ParameterGroup<'a>> = Vec::new();
        let mut known = HashMap::new();
        for row in rows {
            let (path, prefix) = match path_of(&row) {
                Some(path) => (path, without_helm_prefix(self.prefix()).unwrap_or(self.prefix())),
                None => (row.name, self.prefix()),
            };
            let above = level_ends(prefix).count();
            let end = level_ends(path).nth(above + depth - 1).map(|end| row.name.len() - path.len() + end);
            let name = end.map_or_else(|| row.name.to_owned(), |end| format!("{}*", &row.name[..=end]));
            let key = (row.source.position, name.clone());
            let index = *known.entry(key).or_insert_with(|| {
                groups.push(ParameterGroup { name, rows: Vec::new() });
                groups.len() - 1
            });
            groups[index].rows.push(row);
        }
        groups.into_iter().map(ParameterGroup::into_entry).collect()
    }
}

impl<'a> ParameterGroup<'a> {
    /// Returns the number of parameters that are set.
    pub fn set(&self) -> usize {
        self.rows.iter().filter(|row| row.is_set()).count()
    }

    fn into_entry(mut self) -> ParameterEntry<'a> {
        match (self.rows.pop(), self.rows.is_empty()) {
            (Some(only), true) => ParameterEntry::Row(only),
            (last, _) => {
                self.rows.extend(last);
                ParameterEntry::Group(self)
            }
        }
    }
}

/// Returns the path of a value of a chart. None for another parameter.
fn path_of<'a>(row: &ParameterRow<'a>) -> Option<&'a str> {
    (row.source.plugin.as_deref() == Some(HELM_PLUGIN)).then(|| without_helm_prefix(row.name))?
}

fn without_helm_prefix(name: &str) -> Option<&str> {
    HELM_VALUE_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))
}

fn mentions(row: &ParameterRow<'_>, word: &str) -> bool {
    let of_announcement =
        row.announcement.into_iter().flat_map(|one| [one.title.as_deref(), one.tooltip.as_deref()]);
    let texts = of_announcement.flatten().chain([row.name]);
    texts.into_iter().any(|text| text.to_lowercase().contains(word))
}

/// Returns the positions of the characters that end a level of a name: `.` and `[` without a backslash.
fn level_ends(name: &str) -> impl Iterator<Item = usize> + '_ {
    let mut is_escaped = false;
    name.char_indices().filter_map(move |(position, char)| {
        let ends = !is_escaped && matches!(char, '.' | '[');
        is_escaped = !is_escaped && char == '\\';
        ends.then_some(position)
    })
}

#[cfg(test)]
mod tests;
