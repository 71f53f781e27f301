//! Random charts with random parameters: the displayed effective values equal those of the real helm.
//!
//! A value is displayed as set, or else with its announced default. A call of helm takes a tenth of a second, so many charts are subcharts
//! of one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use tiphys_engine::{SourceType, written_parameters};
use tiphys_helm_values::{
    Assignment, Flag, HelmVersion, Inputs, LIMITS, PathItem, Value, ValuesFile, assignment_text, escape_name,
    held_value, merged, no_files,
};
use tiphys_model::params::Parameter;
use tiphys_model::resources::{ApplicationSource, PluginSource};
use tiphys_testkit::dice::Dice;

use crate::announce::round_trip::{SEEN, seen};
use crate::announce::world::{Helm, World};

/// Subcharts of each call of helm.
const CHARTS: usize = 25;

/// Calls of each version of helm.
const CALLS: u64 = 6;

/// Keys of values; some contain special characters of names.
const KEYS: [&str; 8] = ["a", "b", "c", "d", "list", "x.y", "k,v=1", "e[0]"];

const TEXTS: [&str; 12] =
    ["", "x", "5", "true", "null", "1.10", "a, b", "{x}", "c:\\d", "$5", " blank ", "\u{e9}\u{2603}"];

/// Values of parameters, as written.
const WRITTEN: [&str; 19] = [
    "",
    "x",
    "5",
    "+5",
    "-7",
    "0",
    "007",
    "true",
    "False",
    "null",
    "1.50",
    "1e3",
    "12345678901",
    "9223372036854775808",
    "a,b",
    "{p,q}",
    "{1,null,x}",
    "c:\\\\d",
    "$$5",
];

fn scalar(dice: &mut Dice) -> Json {
    match dice.below(8) {
        0 => Json::Null,
        1 => json!(dice.chance(50)),
        2 => json!(dice.below(100)),
        3 => json!(12_345_678_901_u64),
        4 => json!(0.25),
        5 => json!(-1e7),
        _ => json!(dice.one(&TEXTS)),
    }
}

fn value(dice: &mut Dice, depth: usize) -> Json {
    match dice.below(if depth == 0 { 5 } else { 10 }) {
        0..5 => scalar(dice),
        5 | 6 => (0..dice.below(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => Json::Object(object(dice, depth - 1)),
    }
}

fn object(dice: &mut Dice, depth: usize) -> Map<String, Json> {
    (0..dice.below(5)).map(|_| (dice.one(&KEYS).to_owned(), value(dice, depth))).collect()
}

/// Random values over others: nulls and other types for their keys, and some new keys.
fn over(dice: &mut Dice, below: &Map<String, Json>) -> Map<String, Json> {
    let mut map = Map::new();
    for (key, below) in below {
        let over = match (dice.below(8), below) {
            (0, _) => Json::Null,
            (1, _) => value(dice, 1),
            (2..6, Json::Object(below)) => Json::Object(over(dice, below)),
            _ => continue,
        };
        map.insert(key.clone(), over);
    }
    if dice.chance(30) {
        map.insert(dice.one(&KEYS).to_owned(), value(dice, 1));
    }
    map
}

/// Collects the paths of all values, including lists and objects.
fn paths(value: &Json, path: &mut Vec<PathItem>, found: &mut Vec<Vec<PathItem>>) {
    if !path.is_empty() {
        found.push(path.clone());
    }
    let mut below = |item, value| {
        path.push(item);
        paths(value, path, found);
        path.pop();
    };
    match value {
        Json::Object(map) => map.iter().for_each(|(key, value)| below(PathItem::Key(key.clone()), value)),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| below(PathItem::Index(index), value));
        }
        _ => {}
    }
}

/// Whether one path is a prefix of the other, or has another type there: then the later assignment wins, whatever is displayed.
fn meet(one: &[PathItem], other: &[PathItem]) -> bool {
    use PathItem::{Index, Key};
    match one.iter().zip(other).find(|(one, other)| one != other) {
        None => true,
        Some(pair) => matches!(pair, (Key(_), Index(_)) | (Index(_), Key(_))),
    }
}

/// A chart, the given values, and the assignments.
#[derive(Debug, Default)]
struct Case {
    values: Map<String, Json>,
    subcharts: Vec<(String, Map<String, Json>)>,
    given: Map<String, Json>,
    /// Name, option, value.
    set: Vec<(String, Flag, &'static str)>,
}

impl Case {
    fn random(seed: u64, version: HelmVersion) -> Self {
        let mut dice = Dice::new(seed);
        let dice = &mut dice;
        let own = object(dice, 3);
        let mut case = Self { given: over(dice, &own), values: own, ..Self::default() };
        let mut candidates = Vec::new();
        paths(&json!(case.values), &mut Vec::new(), &mut candidates);
        for number in 0..CHARTS {
            let name = format!("s{number}");
            let values = object(dice, 3);
            let (above, given) = (over(dice, &values), over(dice, &values));
            paths(&json!(values), &mut vec![PathItem::Key(name.clone())], &mut candidates);
            candidates.retain(|path| path.len() > 1 || path[0] != PathItem::Key(name.clone()));
            case.values.insert(name.clone(), Json::Object(above));
            if dice.chance(50) {
                case.given.insert(name.clone(), Json::Object(given));
            }
            case.subcharts.push((name, values));
        }
        let mut taken: Vec<Vec<PathItem>> = Vec::new();
        for _ in 0..3 * CHARTS {
            let mut path = candidates[dice.below(candidates.len())].clone();
            match (dice.below(5), path.last_mut()) {
                (0, Some(PathItem::Index(index))) => *index += 2,
                (1, _) => path.push(PathItem::Key("new".to_owned())),
                _ => {}
            }
            let meets = |other: &Vec<PathItem>| meet(other, &path);
            let Some(name) = escape_name(&path).filter(|_| !taken.iter().any(meets)) else { continue };
            let flag = if dice.chance(30) { Flag::SetString } else { Flag::Set };
            case.set.push((name, flag, dice.one(&WRITTEN)));
            if case.is_read(version) {
                taken.push(path);
            } else {
                case.set.pop();
            }
        }
        case
    }

    /// Whether helm accepts the assignments.
    fn is_read(&self, version: HelmVersion) -> bool {
        let given = json!(self.given).to_string();
        let texts: Vec<_> = self
            .set
            .iter()
            .map(|(name, flag, value)| (*flag, assignment_text(name, &expanded(value))))
            .collect();
        let assignments: Vec<_> = texts.iter().map(|(flag, text)| Assignment { flag: *flag, text }).collect();
        let inputs = Inputs {
            version,
            values_files: &[ValuesFile { name: "given", text: given.as_bytes() }],
            assignments: &assignments,
            read_file: &no_files,
            limits: LIMITS,
        };
        merged(&inputs).is_ok()
    }

    fn world(&self) -> World {
        let world = World::with_values(&json!(self.values).to_string())
            .chart_file("templates/seen.yaml", SEEN)
            .text("values", &json!(self.given).to_string());
        let world = self.subcharts.iter().fold(world, |world, (name, values)| {
            world
                .chart_file(
                    &format!("charts/{name}/Chart.yaml"),
                    format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n"),
                )
                .chart_file(&format!("charts/{name}/values.yaml"), json!(values).to_string())
        });
        self.parameters()
            .into_iter()
            .fold(world, |world, one| world.text(&one.name, &one.string.unwrap_or_default()))
    }

    fn parameters(&self) -> Vec<Parameter> {
        let one = |(name, flag, value): &(String, Flag, &str)| {
            let prefix = if *flag == Flag::SetString { "set-string" } else { "set" };
            Parameter {
                name: format!("{prefix}.{name}"),
                string: Some((*value).to_owned()),
                ..Parameter::default()
            }
        };
        self.set.iter().map(one).collect()
    }

    /// Returns the displayed names and values.
    fn shown(&self, world: &World, helm: Helm) -> BTreeMap<String, Option<String>> {
        let block = PluginSource {
            name: "helm".to_owned(),
            parameters: Some(self.parameters()),
            ..PluginSource::default()
        };
        let source = ApplicationSource { plugin: Some(block), ..ApplicationSource::default() };
        let mut shown: BTreeMap<String, Option<String>> =
            world.values_with(helm).into_iter().map(|one| (one.name, one.string)).collect();
        let set = written_parameters(&source, SourceType::Plugin, None);
        shown.extend(set.into_iter().map(|one| (one.name, one.string)));
        shown
            .into_iter()
            .map(|(name, value)| (name.strip_prefix("set.").expect("value name").to_owned(), value))
            .collect()
    }

    /// Compares them with helm's values: strings by their interpretation, a list set as a whole by that of `--set`.
    fn differences(&self, shown: &BTreeMap<String, Option<String>>, seen: &Json) -> Vec<String> {
        let mut theirs = BTreeMap::new();
        leaves(seen, &mut Vec::new(), &mut theirs);
        let lists: BTreeMap<&str, Json> = self
            .set
            .iter()
            .filter_map(|(name, flag, value)| match held_value(*flag, &expanded(value))? {
                list @ Value::List(_) => Some((name.as_str(), list.to_json_value())),
                _ => None,
            })
            .collect();
        let mut expected: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in shown {
            if let Some(list) = lists.get(name.as_str()) {
                let mut path = tiphys_helm_values::parse_name(name).expect("valid name");
                leaves(list, &mut path, &mut expected);
            } else if let Some(value) =
                value.as_ref().filter(|value| !value.is_empty() && !self.is_null(name, value))
            {
                expected.insert(name.clone(), value.clone());
            }
        }
        let names: BTreeSet<&String> = expected.keys().chain(theirs.keys()).collect();
        let different = names.into_iter().filter(|name| expected.get(*name) != theirs.get(*name));
        different
            .map(|name| format!("{name}: shown {:?}, helm {:?}", expected.get(name), theirs.get(name)))
            .collect()
    }

    /// Whether a set value is null.
    fn is_null(&self, name: &str, value: &str) -> bool {
        value == "null" && self.set.iter().any(|(set, flag, _)| set == name && *flag == Flag::Set)
    }
}

/// A value after Argo CD's substitution.
fn expanded(written: &str) -> String {
    written.replace("$$", "$")
}

/// Collects all single values, by name.
fn leaves(value: &Json, path: &mut Vec<PathItem>, found: &mut BTreeMap<String, String>) {
    let text = match value {
        Json::Object(map) => {
            for (key, value) in map {
                path.push(PathItem::Key(key.clone()));
                leaves(value, path, found);
                path.pop();
            }
            return;
        }
        Json::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                path.push(PathItem::Index(index));
                leaves(value, path, found);
                path.pop();
            }
            return;
        }
        Json::Null => return,
        // An announcement cannot represent an empty default.
        Json::String(text) if text.is_empty() => return,
        Json::String(text) => text.clone(),
        Json::Number(number) if number.as_i64().is_none() => number.as_f64().expect("a number").to_string(),
        other => other.to_string(),
    };
    found.insert(escape_name(path).expect("valid name"), text);
}

#[test]
fn displayed_values_equal_those_of_helm() {
    for (helm, version) in [(Helm::Four, HelmVersion::V4), (Helm::Three, HelmVersion::V3)] {
        for seed in 1..=CALLS {
            let case = Case::random(seed, version);
            let world = case.world();
            let seen = seen(&world, helm);
            let differences = case.differences(&case.shown(&world, helm), &seen);
            let of_subcharts = |name: &str| {
                case.subcharts.iter().find(|(subchart, _)| name.starts_with(&format!("{subchart}."))).map(|(subchart, values)| {
                json!({"subchart": values, "values": case.values[subchart], "given": case.given.get(subchart), "seen": seen[subchart]})
            })
            };
            let lines = differences.iter().take(5).map(|one| match of_subcharts(one) {
                Some(chart) => format!("{one}\n  {chart}"),
                None => one.clone(),
            });
            let lines: Vec<String> = lines.collect();
            assert!(
                lines.is_empty(),
                "{helm:?}, seed {seed}: {} differ\n{}\nset: {:?}",
                differences.len(),
                lines.join("\n"),
                case.set
            );
        }
    }
}
