//! Several values for one environment variable: who wins, by rule, and who is hidden.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::{EnvVar, Part, escape, for_each_value};
use crate::{Announcement, CollectionType, Parameter};

/// Which part of a parameter's value a variable carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValuePart {
    /// The text.
    Text,
    /// The map's value of this key.
    Key(String),
    /// The list's item at this index, from 0.
    Index(usize),
}

/// Where the value of a variable comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Which parameter of the list, from 0.
    pub parameter: usize,
    /// Its name.
    pub name: String,
    /// Which part of its value.
    pub part: ValuePart,
}

/// Whose value a variable has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The build environment's (proposal, rule 4).
    BuildEnvironment,
    /// The one that comes last: parameters in the order of the list, in one parameter the text, then the map in the order of its
    /// keys' bytes, then the list (proposal, rule 5; `design.md` section 5).
    Parameter(Origin),
}

/// One variable that more than one value claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Name of the variable.
    pub variable: String,
    /// Whose value it has.
    pub winner: Winner,
    /// The values that are hidden, in the order of the variables.
    pub hidden: Vec<Origin>,
}

/// Two announced names whose values would claim the same variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedCollision {
    /// Name of the variable; for names that are escaped alike, the beginning that all their variables share.
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
            ValuePart::Index(index) => write!(f, "`{}`, item {index}", self.name),
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

/// The variables that more than one value claims, in the order in which each is first claimed. `build_environment` holds the names
/// of the variables that win over every parameter.
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

/// The `PARAM_*` variables with the winners only, each name once, at the winner's place in [`super::parameter_variables`]' order;
/// those that the build environment wins are left out.
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

/// Pairs of announcements with different names that claim the same variables: names that are escaped alike; a text and a list whose
/// items have that name (`a-0` and `a`); a text and an announced key of a map (`m-k` and `m` with the key `k`).
pub fn announced_collisions(announcements: &[Announcement]) -> Vec<AnnouncedCollision> {
    let escaped: Vec<String> = announcements.iter().map(|announcement| escape(&announcement.name)).collect();
    let mut alike: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, escaped) in escaped.iter().enumerate() {
        alike.entry(escaped).or_default().push(index);
    }
    let mut found = Vec::new();
    let mut add = |one: usize, other: usize, variable: String| {
        let (first, second) = (one.min(other), one.max(other));
        found.push(AnnouncedCollision { variable: format!("PARAM_{variable}"), first, second });
    };
    for (index, own) in escaped.iter().enumerate() {
        for &other in alike[own.as_str()].iter().take_while(|other| **other < index) {
            if announcements[other].name != announcements[index].name {
                add(other, index, own.clone());
            }
        }
        // A collection whose item can have this name has the name's beginning, up to one of its `_`.
        for (end, _) in own.match_indices('_') {
            for &collection in alike.get(&own[..end]).into_iter().flatten() {
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

/// The variable of the text `text` if an item or an announced key of `collection` has it too.
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

impl Part<'_> {
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
