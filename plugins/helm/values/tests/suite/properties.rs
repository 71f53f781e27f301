//! Properties of any names, arguments and values.

use proptest::collection::vec;
use proptest::prelude::*;
use tiphys_helm_values::{
    Assignment, Chart, Flag, HelmVersion, Inputs, LIMITS, Map, MergeError, PathItem, Value, ValuesFile,
    assignment_text, coalesce, escape_name, escape_text, held_value, merged, parse_name, read_values,
};

/// Any string, mostly of special characters.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ab0-9.,=\\[\\]{}\\\\ \"\u{e9}:-]{0,24}"]
}

fn path() -> impl Strategy<Value = Vec<PathItem>> {
    let key =
        prop_oneof![any::<String>(), "[a.,=\\[\\]{}\\\\]{1,4}"].prop_filter("a key", |key| !key.is_empty());
    let item = prop_oneof![
        3 => key.clone().prop_map(PathItem::Key),
        1 => (0..5_usize).prop_map(PathItem::Index)
    ];
    (key, vec(item, 0..12)).prop_map(|(first, rest)| [PathItem::Key(first)].into_iter().chain(rest).collect())
}

/// Any YAML value, with integers as floats.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-1e9..1e9).prop_map(Value::Float),
        "[a-c]{0,3}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::List),
            proptest::collection::btree_map("[a-d]", inner, 0..4).prop_map(Value::Map),
        ]
    })
}

fn map() -> impl Strategy<Value = Map> {
    proptest::collection::btree_map("[a-d]", value(), 0..4)
}

fn run(version: HelmVersion, base: &str, flag: Flag, text: &str) -> Result<Map, MergeError> {
    merged(&Inputs {
        version,
        values_files: &[ValuesFile { name: "base.yaml", text: base.as_bytes() }],
        assignments: &[Assignment { flag, text }],
        read_file: &|path| Ok(format!("content of {path}")),
        limits: LIMITS,
    })
}

/// Returns an object with only this value, at this path; lists have nulls before it.
fn only(path: &[PathItem], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, item| match item {
        PathItem::Key(key) => Value::Map(Map::from([(key.clone(), inner)])),
        PathItem::Index(index) => {
            let mut items = vec![Value::Null; *index];
            items.push(inner);
            Value::List(items)
        }
    })
}

proptest! {
    #[test]
    fn any_argument_is_applied_or_rejected(text in text(), base in map()) {
        let base = Value::Map(base).to_json();
        for version in [HelmVersion::V3, HelmVersion::V4] {
            for flag in Flag::ALL {
                if let Err(error) = run(version, &base, flag, &text) {
                    let known = error.to_string().starts_with(&format!("failed parsing {flag} data"));
                    prop_assert!(known, "{}", error);
                }
            }
        }
    }

    #[test]
    fn name_sets_exactly_its_path(path in path()) {
        let name = escape_name(&path).expect("a name for a path of this size");
        prop_assert_eq!(parse_name(&name), Ok(path.clone()));
        for flag in [Flag::Set, Flag::SetString] {
            let values = run(HelmVersion::V4, "", flag, &format!("{name}=x"));
            prop_assert_eq!(values.map(Value::Map), Ok(only(&path, Value::Text("x".to_owned()))));
        }
    }

    #[test]
    fn string_written_for_an_application_is_effective(text in text()) {
        let written = escape_text(&text);
        prop_assert_eq!(held_value(Flag::SetString, &written), Some(Value::Text(text.clone())));
        for version in [HelmVersion::V3, HelmVersion::V4] {
            let values = run(version, "", Flag::SetString, &assignment_text("a", &written));
            prop_assert_eq!(values, Ok(Map::from([("a".to_owned(), Value::Text(text.clone()))])));
        }
    }

    #[test]
    fn parsed_name_can_be_written_again(text in text()) {
        if let Ok(path) = parse_name(&text) {
            let name = escape_name(&path).expect("a parsed path has a name");
            prop_assert_eq!(parse_name(&name), Ok(path));
        }
    }

    #[test]
    fn values_round_trip_through_json(values in map()) {
        let text = Value::Map(values.clone()).to_json();
        prop_assert_eq!(read_values(text.as_bytes(), HelmVersion::V3), Ok(values));
    }

    #[test]
    fn user_values_win_and_other_defaults_remain(defaults in map(), values in map()) {
        let chart = Chart { values: defaults.clone(), ..Chart::default() };
        let seen = coalesce(&chart, values.clone(), HelmVersion::V4).expect("no subcharts");
        for (key, value) in &values {
            match value {
                Value::Null => prop_assert!(!defaults.contains_key(key) || !seen.contains_key(key)),
                Value::Map(_) => prop_assert!(matches!(seen.get(key), Some(Value::Map(_)))),
                other => prop_assert_eq!(seen.get(key), Some(other)),
            }
        }
        for (key, default) in defaults.iter().filter(|(key, _)| !values.contains_key(*key)) {
            prop_assert_eq!(seen.contains_key(key), *default != Value::Null);
        }
        let again = coalesce(&Chart::default(), seen.clone(), HelmVersion::V4);
        prop_assert_eq!(again, Ok(seen));
    }
}
