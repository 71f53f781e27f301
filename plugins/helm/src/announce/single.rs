//! Values that parameters set one by one, and what becomes of the others by them.
//!
//! A value that is set has the announcement of what holds without it. All others are announced as they are with everything that is set:
//! helm takes a list of a chart as a whole, so that the items beside one that is set are gone.

use std::collections::BTreeSet;

use tiphys_helm_values::{
    Assignment, Flag, HelmVersion, Inputs, LIMITS, Map, PathItem, Value, assign, assignment_text, parse_name,
};

use super::GLOBAL;
use crate::options::AssignmentKind;
use crate::request::Request;

/// What is set one by one.
#[derive(Debug)]
pub(super) struct Single {
    assignments: Vec<(Flag, String)>,
    paths: BTreeSet<Vec<PathItem>>,
}

impl Single {
    /// Those of a request.
    pub(super) fn of(request: &Request) -> Self {
        let given = &request.options.assignments;
        let assignments = given.iter().map(|one| {
            let flag = match one.kind {
                AssignmentKind::Value => Flag::Set,
                AssignmentKind::Text => Flag::SetString,
                AssignmentKind::File => Flag::SetFile,
            };
            (flag, assignment_text(&one.name, &request.environment.substitute(&one.value)))
        });
        let paths = given.iter().filter_map(|one| parse_name(&one.name).ok());
        Self { assignments: assignments.collect(), paths: paths.flat_map(with_lifted).collect() }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty()
    }

    /// Values with these over them. `None` if one cannot be read: it fails when manifests are made, with helm's words.
    pub(super) fn over(&self, given: &Map, version: HelmVersion) -> Option<Map> {
        let assignments: Vec<_> =
            self.assignments.iter().map(|(flag, text)| Assignment { flag: *flag, text }).collect();
        let inputs = Inputs {
            version,
            values_files: &[],
            assignments: &assignments,
            // That it is a text is all that is asked of what is in a file.
            read_file: &|_| Ok(String::new()),
            limits: LIMITS,
        };
        let mut values = given.clone();
        assign(&mut values, &inputs).is_ok().then_some(values)
    }

    /// The values to be announced, of those without what is set (`plain`) and those with it.
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
            // What a chart has in the way of its subchart's object is so no longer where something is set in the object.
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

    /// What is there only with what is set, and is not set itself; the nulls with which helm fills lists are nothing.
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

    /// A list may have become longer.
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
        // What is behind the last one is only set.
        items.truncate(items.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        let nothing = |index: usize| match with_set.get(index) {
            Some(Value::Map(_)) => Value::Map(Map::new()),
            _ => Value::Null,
        };
        let items = items.into_iter().enumerate();
        Value::List(items.map(|(index, item)| item.unwrap_or_else(|| nothing(index))).collect())
    }
}

/// The path, and where the same is announced if it is a global of a subchart.
fn with_lifted(path: Vec<PathItem>) -> impl Iterator<Item = Vec<PathItem>> {
    let is_global = |item: &PathItem| matches!(item, PathItem::Key(key) if key == GLOBAL);
    let lifted = path.iter().position(is_global).filter(|at| *at > 0).map(|at| path[at..].to_vec());
    [path].into_iter().chain(lifted)
}
