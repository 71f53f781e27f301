use serde_json::{Value, json};
use tiphys_model::params::Parameter;
use tiphys_model::resources::{ApplicationSource, HelmSource, PluginSource};

use super::InlineValues;
use crate::helm::text_parameter;
use crate::helm::value_path::ValuePath;
use crate::{HELM_PLUGIN, SourceType};

fn path(name: &str) -> ValuePath {
    ValuePath::of_parameter(&format!("set.{name}")).expect("a value").expect("a path").0
}

fn with_values(values: &str) -> ApplicationSource {
    let helm = HelmSource { values: values.to_owned(), ..HelmSource::default() };
    ApplicationSource { helm: Some(helm), ..ApplicationSource::default() }
}

fn with_object(values: Option<Value>) -> ApplicationSource {
    let helm = HelmSource { values_object: values, ..HelmSource::default() };
    ApplicationSource { helm: Some(helm), ..ApplicationSource::default() }
}

fn with_parameters(parameters: &[(&str, &str)]) -> ApplicationSource {
    let list: Vec<Parameter> = parameters.iter().map(|(name, text)| text_parameter("", name, text)).collect();
    let plugin = PluginSource {
        name: HELM_PLUGIN.to_owned(),
        parameters: Some(list).filter(|list| !list.is_empty()),
        ..PluginSource::default()
    };
    ApplicationSource { plugin: Some(plugin), ..ApplicationSource::default() }
}

fn type_of(source: &ApplicationSource) -> SourceType {
    if source.plugin.is_some() { SourceType::Plugin } else { SourceType::HELM }
}

/// Sets a value; returns the values of the changed source, or the error.
fn set(source: &ApplicationSource, name: &str, value: Value) -> Result<ApplicationSource, String> {
    let shown = |error: super::InlineValuesError| {
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!("{error}{}", source.unwrap_or_default())
    };
    let mut values = InlineValues::of(source, type_of(source), None).map_err(shown)?;
    values.set(&path(name), value).map_err(shown)?;
    Ok(values.applied_to(source))
}

fn removed(source: &ApplicationSource, name: &str) -> ApplicationSource {
    let mut values = InlineValues::of(source, type_of(source), None).expect("values");
    values.remove(&path(name)).expect("removed");
    values.applied_to(source)
}

#[test]
fn value_is_written_where_the_source_has_values() {
    let changed = |source| set(&source, "a.b", json!([1])).expect("set");
    assert_eq!(changed(ApplicationSource::default()), with_object(Some(json!({"a": {"b": [1]}}))));
    assert_eq!(
        changed(with_object(Some(json!({"c": 1})))),
        with_object(Some(json!({"a": {"b": [1]}, "c": 1})))
    );
    assert_eq!(changed(with_values("c: 1 # one\n")), with_values("c: 1 # one\na:\n  b:\n  - 1\n"));
    assert_eq!(changed(with_parameters(&[])), with_parameters(&[("values-object", r#"{"a": {"b": [1]}}"#)]));
    assert_eq!(
        changed(with_parameters(&[("values-object", r#"{"c":1}"#), ("values", "c: 2")])),
        with_parameters(&[("values-object", r#"{"c":1,"a":{"b":[1]}}"#), ("values", "c: 2")])
    );
    assert_eq!(
        changed(with_parameters(&[("values-object", "null"), ("values", "c: 2")])),
        with_parameters(&[("values-object", "null"), ("values", "c: 2\na:\n  b:\n  - 1")])
    );
    // Argo CD ignores the text beside an object.
    let mut both = with_object(Some(json!({})));
    both.helm.get_or_insert_default().values = "c: 1".to_owned();
    let mut expected = both.clone();
    expected.helm.get_or_insert_default().values_object = Some(json!({"a": {"b": [1]}}));
    assert_eq!(changed(both), expected);
}

#[test]
fn removal_also_removes_empty_maps_above() {
    assert_eq!(removed(&with_object(Some(json!({"a": {"b": [1]}}))), "a.b"), with_object(None));
    assert_eq!(
        removed(&with_object(Some(json!({"a": {"b": [1], "c": 1}}))), "a.b"),
        with_object(Some(json!({"a": {"c": 1}})))
    );
    assert_eq!(
        removed(&with_object(Some(json!({"a": {"b": [1]}}))), "a.b[0]"),
        with_object(Some(json!({"a": {"b": []}})))
    );
    assert_eq!(removed(&with_values("a: {b: 1}\n"), "a.b"), with_values(""));
    assert_eq!(removed(&with_values("# why\na: {b: 1}\n"), "a.b"), with_values("# why\n{}\n"));
    let plugin = with_parameters(&[("values-object", r#"{"a": {"b": 1}}"#)]);
    assert_eq!(removed(&plugin, "a.b"), with_parameters(&[]));
    assert_eq!(removed(&plugin, "a.c"), plugin);
}

#[test]
fn invalid_inline_values_are_rejected_by_place() {
    for (source, name, expected) in [
        (with_values("a: ["), "b", "`helm.values` is not valid YAML, so no value can be set in it: "),
        (with_values("- a\n"), "b", "`helm.values` must be a map of values, found a list"),
        (with_values("text"), "b", "`helm.values` must be a map of values, found a string"),
        (with_values("a: 1\n---\nb: 1\n"), "b", "`helm.values` has 2 YAML documents"),
        (with_object(Some(json!([]))), "b", "`helm.valuesObject` must be a map of values, found a list"),
        (with_object(Some(json!({"a": 1}))), "a.b", "`helm.valuesObject`: a is a number, expected a map"),
        (with_object(Some(json!({"a": {}}))), "a[0]", "`helm.valuesObject`: a is a map, expected a list"),
        (with_object(Some(json!({"a": [1]}))), "a[2]", "`helm.valuesObject`: a has 1 items, and no item [2]"),
        (
            with_parameters(&[("values-object", "{a: 1}")]),
            "b",
            "the parameter `values-object` is not valid YAML",
        ),
        (
            with_values("a: &x {b: [1]}\nc: *x\n"),
            "a.b",
            "`helm.values` cannot be changed: the anchor `x` at 1:4 shares its value with 2:4",
        ),
    ] {
        let error = set(&source, name, json!([5])).expect_err("rejected");
        assert!(error.starts_with(expected), "{error}");
    }
}
