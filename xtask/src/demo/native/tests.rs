//! The charts' size, what the Applications show, and what counts as a difference from helm.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tiphys_yaml::read_document;

use super::reference::{REFERENCES, difference};
use super::{APPLICATIONS, CHARTS, chart::Chart};

fn value(text: &str) -> Value {
    read_document(text.as_bytes()).expect("YAML").expect("a document").to_value()
}

/// Values that are no objects and no lists.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.values().map(leaves).sum(),
        Value::Array(list) => list.iter().map(leaves).sum(),
        _ => 1,
    }
}

#[test]
fn the_charts_have_the_size_of_those_that_people_have() {
    for chart in &CHARTS {
        let files = chart.files().expect("the chart's files");
        let templates = format!("{}/templates/", chart.name);
        let templates = files.keys().filter(|path| path.starts_with(&templates)).count();
        let values = leaves(&value(&files[&format!("{}/values.yaml", chart.name)]));
        assert!((30..=60).contains(&templates), "{}: {templates} templates", chart.name);
        assert!((300..=500).contains(&values), "{}: {values} values", chart.name);
    }
}

#[test]
fn a_chart_has_its_subcharts_in_it_and_beside_it() {
    let chart = Chart { name: "a", components: &["web"], vendored: &["in"], beside: &["by"] };
    let files = chart.files().expect("the chart's files");
    let dependencies = json!([
        {"name": "in", "version": "1.4.0"},
        {"name": "by", "version": "1.4.0", "repository": "file://../by"},
    ]);
    assert_eq!(value(&files["a/Chart.yaml"])["dependencies"], dependencies);
    for file in ["a/charts/in/Chart.yaml", "by/values.yaml", "a/values.schema.json", "a/crds/campaigns.yaml"]
    {
        assert!(files.contains_key(file), "{file}");
    }
    let left = files.iter().find(|(path, text)| path.contains("COMPONENT") || text.contains("COMPONENT"));
    assert_eq!(left, None, "every component has its name");
}

#[test]
fn the_applications_set_values_in_every_way_and_each_has_its_call_of_helm() {
    let documents: Vec<Value> = APPLICATIONS.iter().map(|(_, text)| value(text)).collect();
    let names: Vec<&str> = REFERENCES.iter().map(|reference| reference.application).collect();
    assert_eq!(names, APPLICATIONS.map(|(name, _)| name));
    let mut fields: BTreeSet<&str> = BTreeSet::new();
    for document in &documents {
        let spec = &document["spec"];
        let sources = spec["sources"].as_array().into_iter().flatten().chain(spec.get("source"));
        for block in sources.filter_map(|source| source["helm"].as_object()) {
            fields.extend(block.keys().map(String::as_str));
            let forced = block["parameters"].as_array().into_iter().flatten();
            fields.extend(forced.filter(|entry| entry["forceString"] == true).map(|_| "forceString"));
        }
    }
    let expected = [
        "fileParameters",
        "forceString",
        "parameters",
        "releaseName",
        "skipCrds",
        "skipTests",
        "valueFiles",
        "values",
        "valuesObject",
    ];
    assert_eq!(fields, BTreeSet::from(expected));
}

#[test]
fn a_difference_names_the_first_object_that_is_not_helms() {
    let object = |name: &str, data: u8| json!({"kind": "Job", "metadata": {"name": name}, "data": data});
    let (a, b, other) = (object("a", 1), object("b", 1), object("a", 2));
    let cases: [(&[&Value], &[&Value], Option<&str>); 6] = [
        (&[&a, &b], &[&a, &b], None),
        (&[&other, &b], &[&a, &b], Some("Job a is another one")),
        (&[&b, &a], &[&a, &b], Some("Job b is where helm has Job a")),
        (&[&a], &[&a, &b], Some("Job b is missing")),
        (&[&a, &b], &[&a], Some("Job b is one that helm has not")),
        (&[], &[], None),
    ];
    for (ours, helms, expected) in cases {
        let list = |values: &[&Value]| values.iter().map(|value| (*value).clone()).collect::<Vec<_>>();
        assert_eq!(difference(&list(ours), &list(helms)).as_deref(), expected);
    }
}
