use serde_json::{Value, json};

use super::{combine_matrix, combine_merge};
use crate::appset::{ParameterSet, TemplateMode};

fn set(values: Value, string_maps: &[&str]) -> ParameterSet {
    let Value::Object(values) = values else { panic!("{values}") };
    ParameterSet { values, string_maps: string_maps.iter().map(|&path| path.to_owned()).collect() }
}

fn sets(values: &[Value]) -> Vec<ParameterSet> {
    values.iter().map(|values| set(values.clone(), &[])).collect()
}

#[test]
fn first_set_of_matrix_wins_with_go_templates() {
    let cases = [
        // (first, second, product)
        (json!({"a": 1}), json!({"b": 2}), json!({"a": 1, "b": 2})),
        (
            json!({"b": false, "n": 0, "s": "", "z": null, "l": [], "o": {}}),
            json!({"b": true, "n": 5, "s": "x", "z": 1, "l": [1], "o": {"k": 1}}),
            json!({"b": false, "n": 0, "s": "", "z": null, "l": [], "o": {"k": 1}}),
        ),
        (
            json!({"o": {"x": {"a": 1, "n": null}}, "l": [{"a": 1}]}),
            json!({"o": {"x": {"b": 2, "n": 1}, "y": 3}, "l": [{"b": 1}, 2]}),
            json!({"o": {"x": {"a": 1, "b": 2, "n": null}, "y": 3}, "l": [{"a": 1}]}),
        ),
        (json!({"a": {}, "b": "x"}), json!({"a": "x", "b": {}}), json!({"a": {}, "b": "x"})),
    ];
    for (first, second, product) in cases {
        let combined = combine_matrix(TemplateMode::Go, &set(first.clone(), &[]), &set(second, &[])).unwrap();
        assert_eq!(Value::from(combined.values), product, "{first}");
    }
}

#[test]
fn maps_of_strings_stay_so_unless_merged_with_other_objects() {
    let values = || json!({"values": {"a": "1"}, "metadata": {"labels": {"l": "x"}}});
    let cases = [
        // (first, its maps, second, its maps, maps of the product)
        (values(), vec!["values", "metadata.labels"], json!({}), vec![], vec!["metadata.labels", "values"]),
        (json!({}), vec![], values(), vec!["values"], vec!["values"]),
        (values(), vec!["values"], json!({"values": {"b": "2"}}), vec!["values"], vec!["values"]),
        (values(), vec![], json!({"values": {"b": "2"}}), vec!["values"], vec![]),
        (values(), vec!["values"], json!({"values": {"b": 2}}), vec![], vec![]),
        // The first set replaces the map by a string, or a string by a map.
        (json!({"values": "x"}), vec![], values(), vec!["values"], vec![]),
        (values(), vec!["values"], json!({"values": "x"}), vec![], vec!["values"]),
    ];
    for (first, first_maps, second, second_maps, expected) in cases {
        let sets = (set(first.clone(), &first_maps), set(second.clone(), &second_maps));
        let product = combine_matrix(TemplateMode::Go, &sets.0, &sets.1).unwrap();
        let paths: Vec<&str> = product.string_maps.iter().map(String::as_str).collect();
        assert_eq!(paths, expected, "{first} {second}");
    }
}

#[test]
fn matrix_of_strings_has_no_conflicts() {
    let combine = |first: Value, second: Value| {
        combine_matrix(TemplateMode::Fast, &set(first, &["o"]), &set(second, &[]))
            .map(|set| (Value::from(set.values), set.string_maps.len()))
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        combine(json!({"a": 1_000_000, "same": "1", "o": {"k": ["v"]}}), json!({"same": 1, "n": null})),
        Ok((json!({"a": "1e+06", "same": "1", "o": "map[k:[v]]", "n": "<nil>"}), 0))
    );
    let error = "failed to combine string maps with merging params for the matrix generator: found duplicate key x with different value, \
                 a: 1 ,b: 2";
    assert_eq!(combine(json!({"x": "1"}), json!({"x": "2"})), Err(error.to_owned()));
}

#[test]
fn later_sets_of_merge_override_matching_ones() {
    use TemplateMode::{Fast, Go};
    let base = [json!({"name": "b", "o": {"x": 1}, "n": 1}), json!({"name": "a"}), json!({"other": 1})];
    let overrides = [
        json!({"name": "a", "x": "1"}),
        json!({"name": "b", "o": {"y": 2}, "n": null}),
        json!({"name": "none", "x": 1}),
        json!({"missing": "matches missing"}),
    ];
    let cases = [
        (
            Go,
            json!([{"name": "b", "o": {"x": 1, "y": 2}, "n": null}, {"name": "a", "x": "1"}, {"other": 1, "missing": "matches missing"}]),
        ),
        (
            Fast,
            json!([{"name": "b", "o": {"y": 2}, "n": null}, {"name": "a", "x": "1"}, {"other": 1, "missing": "matches missing"}]),
        ),
    ];
    for (mode, expected) in cases {
        let merged = combine_merge(mode, &["name".to_owned()], vec![sets(&base), sets(&overrides)]).unwrap();
        let values: Vec<Value> = merged.into_iter().map(|set| Value::from(set.values)).collect();
        assert_eq!(Value::from(values), expected, "{mode:?}");
    }
}

#[test]
fn merge_without_keys_or_with_equal_sets_is_rejected() {
    let merge = |keys: &[&str], generators: &[&[Value]]| {
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        let generators = generators.iter().map(|values| sets(values)).collect();
        combine_merge(TemplateMode::Go, &keys, generators).unwrap_err().to_string()
    };
    assert_eq!(
        merge(&[], &[&[], &[]]),
        "error getting param sets by merge key: no merge keys were specified, Merge requires at least one"
    );
    let not_unique = "error getting param sets by merge key: the parameters from a generator were not unique by the given mergeKeys, Merge \
                      requires all param sets to be unique. Duplicate key was ";
    let twice = [json!({"b": "<x>", "a": {"k": 1}}), json!({"b": "<x>", "a": {"k": 1}, "c": 1})];
    let key = r#"{"a":{"k":1},"b":"\u003cx\u003e"}"#;
    assert_eq!(merge(&["b", "a", "b"], &[&twice, &[]]), format!("{not_unique}{key}"));
    assert_eq!(merge(&["name"], &[&[], &[json!({}), json!({})]]), format!("{not_unique}{{\"name\":null}}"));
}
