//! Collisions of several values on one environment variable, and the value that wins.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::{EnvVar, PartRef, escape, for_each_value};
use crate::params::{Announcement, CollectionType, Parameter};

/// The part of a parameter's value that a variable has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValuePart {
    /// The string.
    Text,
    /// The map's value for this key.
    Key(String),
    /// The list's item at this index, from 0.
    Index(usize),
}

/// The origin of a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Index of the parameter in the list, from 0.
    pub parameter: usize,
    /// The parameter's name.
    pub name: String,
    /// The part of its value.
    pub part: ValuePart,
}

/// The origin of the value that a variable gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The build environment (proposal, rule 4).
    BuildEnvironment,
    /// The last parameter in the list. Within a parameter, the list wins over the map and the map over the string; within a map, the last
    /// key in byte order wins (proposal, rule 5, and `testdata/rules/proposals.md`).
    Parameter(Origin),
}

/// A variable with more than one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Name of the variable.
    pub variable: String,
    /// The origin of the value that the variable gets.
    pub winner: Winner,
    /// The origins of overridden values, in the order of the variables.
    pub hidden: Vec<Origin>,
}

/// Two announced names whose values would use the same variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedCollision {
    /// Name of the variable; for names that are escaped alike, the common prefix of their variables.
    pub variable: String,
    /// Index of the earlier announcement, from 0.
    pub first: usize,
    /// Index of the later announcement, from 0.
    pub second: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            ValuePart::Text => write!(f, "`{}`", self.name),
            ValuePart::Key(key) => write!(f, "`{}`, key `{key}`", self.name),
            ValuePart::Index(index) => write!(f, "`{}`, item {}", self.name, index + 1),
        }
    }
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is claimed more than once: ", self.variable)?;
        match &self.winner {
            Winner::BuildEnvironment => f.write_str("the build environment")?,
            Winner::Parameter(origin) => write!(f, "{origin}")?,
        }
        f.write_str(" wins over ")?;
        for (index, origin) in self.hidden.iter().enumerate() {
            write!(f, "{}{origin}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

/// Returns the variables with more than one value, in the order of their first value. The variables named in `build_environment` win over
/// every parameter.
pub fn collisions(parameters: &[Parameter], build_environment: &[impl AsRef<str>]) -> Vec<Collision> {
    let build: BTreeSet<&str> = build_environment.iter().map(AsRef::as_ref).collect();
    let mut order: Vec<String> = Vec::new();
    let mut claims: BTreeMap<String, Vec<Origin>> = BTreeMap::new();
    for (index, parameter) in parameters.iter().enumerate() {
        for_each_value(parameter, |variable, part, _| {
            let origin = Origin { parameter: index, name: parameter.name.clone(), part: part.owned() };
            let origins = claims.entry(variable.clone()).or_default();
            if origins.is_empty() {
                order.push(variable);
            }
            origins.push(origin);
        });
    }
    order
        .into_iter()
        .filter_map(|variable| {
            let mut hidden = claims.remove(&variable)?;
            if build.contains(variable.as_str()) {
                return Some(Collision { variable, winner: Winner::BuildEnvironment, hidden });
            }
            let last = hidden.pop()?;
            (!hidden.is_empty()).then_some(Collision { variable, winner: Winner::Parameter(last), hidden })
        })
        .collect()
}

/// Returns the effective `PARAM_*` variables: each name once, at the winner's position in the order of [`super::parameter_variables`].
/// Variables that the build environment overrides are omitted.
pub fn deduplicated(parameters: &[Parameter], build_environment: &[impl AsRef<str>]) -> Vec<EnvVar> {
    let mut taken: BTreeSet<String> = build_environment.iter().map(|name| name.as_ref().to_owned()).collect();
    let mut winners: Vec<EnvVar> = super::parameter_variables(parameters)
        .into_iter()
        .rev()
        .filter(|variable| taken.insert(variable.name.clone()))
        .collect();
    winners.reverse();
    winners
}

/// Returns pairs of announcements with different names that use the same variable: names that are escaped alike; a string and a list item
/// (`a-0` and `a`); a string and an announced key of a map (`m-k` and `m` with the key `k`).
pub fn announced_collisions(announcements: &[Announcement]) -> Vec<AnnouncedCollision> {
    let escaped: Vec<String> = announcements.iter().map(|announcement| escape(&announcement.name)).collect();
    let mut by_escaped: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, escaped) in escaped.iter().enumerate() {
        by_escaped.entry(escaped).or_default().push(index);
    }
    let mut found = Vec::new();
    let mut add = |one: usize, other: usize, variable: String| {
        let (first, second) = (one.min(other), one.max(other));
        found.push(AnnouncedCollision { variable: format!("PARAM_{variable}"), first, second });
    };
    for (index, own) in escaped.iter().enumerate() {
        for &other in by_escaped[own.as_str()].iter().take_while(|other| **other < index) {
            if announcements[other].name != announcements[index].name {
                add(other, index, own.clone());
            }
        }
        // The name of a collection whose item can have this name is a prefix that ends before a `_`.
        for (end, _) in own.match_indices('_') {
            for &collection in by_escaped.get(&own[..end]).into_iter().flatten() {
                let shared = shared_variable(
                    &announcements[index],
                    own,
                    &announcements[collection],
                    &escaped[collection],
                );
                if let Some(variable) = shared {
                    add(index, collection, variable);
                }
            }
        }
    }
    found.sort_by_key(|collision| (collision.second, collision.first));
    found
}

/// Returns the variable of the string `text` if an item or an announced key of `collection` has it too.
fn shared_variable(
    text: &Announcement,
    text_escaped: &str,
    collection: &Announcement,
    escaped: &str,
) -> Option<String> {
    if !matches!(text.collection_type, CollectionType::Absent | CollectionType::String) {
        return None;
    }
    let item = text_escaped.strip_prefix(escaped)?.strip_prefix('_')?;
    let claimed = match collection.collection_type {
        CollectionType::Array => {
            !item.is_empty()
                && item.bytes().all(|b| b.is_ascii_digit())
                && (item == "0" || !item.starts_with('0'))
        }
        CollectionType::Map => collection.map.iter().flatten().any(|(key, _)| escape(key) == item),
        CollectionType::Absent | CollectionType::String => false,
    };
    claimed.then(|| text_escaped.to_owned())
}

impl PartRef<'_> {
    fn owned(self) -> ValuePart {
        match self {
            Self::Text => ValuePart::Text,
            Self::Key(key) => ValuePart::Key(key.to_owned()),
            Self::Index(index) => ValuePart::Index(index),
        }
    }
}

#[cfg(test)]
mod tests;
