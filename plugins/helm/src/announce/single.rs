//! Values that parameters set one by one, and their effect on other values.
//!
//! A set value is announced with its value before it was set. All others are announced with everything set: helm replaces a list of a chart
//! as a whole, so setting one item removes its siblings.

use std::collections::BTreeSet;

use tiphys_helm_values::{
    Assignment, Flag, HelmVersion, Inputs, LIMITS, Map, PathItem, Value, assign, assignment_text, parse_name,
};

use super::GLOBAL;
use crate::request::Request;

/// The assignments of a request.
#[derive(Debug)]
pub(super) struct Single {
    assignments: Vec<(Flag, String)>,
    paths: BTreeSet<Vec<PathItem>>,
}

impl Single {
    pub(super) fn of(request: &Request) -> Self {
        let given = &request.options.assignments;
        let assignments = given.iter().map(|one| {
            (one.kind.flag(), assignment_text(&one.name, &request.environment.substitute(&one.value)))
        });
        let paths = given.iter().filter_map(|one| parse_name(&one.name).ok());
        Self { assignments: assignments.collect(), paths: paths.flat_map(with_lifted).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty()
    }

    /// Applies the assignments to `given`. `None` if one is invalid: it fails in `generate`, with helm's message.
    pub(super) fn over(&self, given: &Map, version: HelmVersion) -> Option<Map> {
        let assignments: Vec<_> =
            self.assignments.iter().map(|(flag, text)| Assignment { flag: *flag, text }).collect();
        let inputs = Inputs {
            version,
            values_files: &[],
            assignments: &assignments,
            // Only the type of a value from a file matters, and it is a string.
            read_file: &|_| Ok(String::new()),
            limits: LIMITS,
        };
        let mut values = given.clone();
        assign(&mut values, &inputs).is_ok().then_some(values)
    }

    /// Returns the values to announce, from those without assignments (`plain`) and those with them.
    pub(super) fn announced(&self, plain: &Map, with_set: &Map) -> Map {
        self.of_object(plain, Some(with_set), &mut Vec::new())
    }

    fn of_object(&self, plain: &Map, with_set: Option<&Map>, path: &mut Vec<PathItem>) -> Map {
        let mut values = Map::new();
        for (key, value) in plain {
            path.push(PathItem::Key(key.clone()));
            let value = self.of_value(value, with_set.and_then(|map| map.get(key)), path);
            path.pop();
            values.insert(key.clone(), value);
        }
        for (key, value) in with_set.into_iter().flatten().filter(|(key, _)| !plain.contains_key(*key)) {
            path.push(PathItem::Key(key.clone()));
            let value = self.of_new(value, path);
            path.pop();
            values.extend(value.map(|value| (key.clone(), value)));
        }
        values
    }

    fn of_value(&self, plain: &Value, with_set: Option<&Value>, path: &mut Vec<PathItem>) -> Value {
        match (plain, with_set) {
            (Value::Map(plain), with_set) => {
                Value::Map(self.of_object(plain, with_set.and_then(Value::as_map), path))
            }
            // Setting a key of a subchart's object replaces a scalar of the parent.
            (plain, Some(map @ Value::Map(_))) => {
                let new = self.of_new(map, path);
                new.unwrap_or_else(|| self.of_value(plain, None, path))
            }
            (Value::List(plain), Some(Value::List(with_set))) => self.of_list(plain, with_set, path),
            (Value::List(plain), _) => self.of_list(plain, &[], path),
            (plain, _) if self.paths.contains(path) => plain.clone(),
            (_, None | Some(Value::List(_))) => Value::Null,
            (_, Some(value)) => value.clone(),
        }
    }

    /// Returns values that exist only because of assignments and are not assigned themselves. Nulls with which helm fills lists are
    /// omitted.
    fn of_new(&self, value: &Value, path: &mut Vec<PathItem>) -> Option<Value> {
        match value {
            Value::Map(map) => Some(self.of_object(&Map::new(), Some(map), path))
                .filter(|map| !map.is_empty())
                .map(Value::Map),
            Value::List(items) => match self.of_list(&[], items, path) {
                Value::List(items) if items.is_empty() => None,
                list => Some(list),
            },
            Value::Null => None,
            value => Some(value.clone()).filter(|_| !self.paths.contains(path)),
        }
    }

    /// The list may have become longer.
    fn of_list(&self, plain: &[Value], with_set: &[Value], path: &mut Vec<PathItem>) -> Value {
        let mut items = Vec::new();
        for index in 0..plain.len().max(with_set.len()) {
            path.push(PathItem::Index(index));
            let item = match (plain.get(index), with_set.get(index)) {
                (Some(plain), with_set) => Some(self.of_value(plain, with_set, path)),
                (None, Some(new)) => self.of_new(new, path),
                (None, None) => None,
            };
            path.pop();
            items.push(item);
        }
        // Items after the last kept one are only set.
        items.truncate(items.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        let nothing = |index: usize| match with_set.get(index) {
            Some(Value::Map(_)) => Value::Map(Map::new()),
            _ => Value::Null,
        };
        let items = items.into_iter().enumerate();
        Value::List(items.map(|(index, item)| item.unwrap_or_else(|| nothing(index))).collect())
    }
}

/// Returns the path, and the path at the top if it is a global of a subchart.
fn with_lifted(path: Vec<PathItem>) -> impl Iterator<Item = Vec<PathItem>> {
    let is_global = |item: &PathItem| matches!(item, PathItem::Key(key) if key == GLOBAL);
    let lifted = path.iter().position(is_global).filter(|at| *at > 0).map(|at| path[at..].to_vec());
    [path].into_iter().chain(lifted)
}
