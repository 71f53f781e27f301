//! The features of the Applications, and differences from helm.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tiphys_yaml::read_document;

use super::APPLICATIONS;
use super::reference::{REFERENCES, difference};

fn value(text: &str) -> Value {
    read_document(text.as_bytes()).expect("YAML").expect("a document").to_value()
}

#[test]
fn applications_set_values_in_every_way() {
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
fn difference_names_the_first_object() {
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
