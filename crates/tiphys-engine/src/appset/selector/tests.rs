use std::collections::BTreeMap;

use tiphys_model::resources::{LabelSelectorSpec, SelectorExpression};

use super::ParameterSelector;

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn expression(key: &str, operator: &str, values: &[&str]) -> LabelSelectorSpec {
    let values = values.iter().map(|&value| value.to_owned()).collect();
    let expression = SelectorExpression { key: key.to_owned(), operator: operator.to_owned(), values };
    LabelSelectorSpec { match_expressions: vec![expression], ..LabelSelectorSpec::default() }
}

#[test]
fn sets_are_selected_by_their_strings() {
    let flat = labels(&[("env", "dev"), ("url", "https://x:6443/a"), ("o.e", "2"), ("empty", "")]);
    let equal = |pairs| LabelSelectorSpec { match_labels: labels(pairs), ..LabelSelectorSpec::default() };
    let cases = [
        (LabelSelectorSpec::default(), true),
        (equal(&[("url", "https://x:6443/a")]), true),
        (equal(&[("env", "dev"), ("o.e", "1")]), false),
        (equal(&[("empty", "")]), true),
        (equal(&[("missing", "")]), false),
        (expression("env", "In", &["prod", "dev"]), true),
        (expression("missing", "In", &["dev"]), false),
        (expression("env", "NotIn", &["dev"]), false),
        (expression("missing", "NotIn", &["dev"]), true),
        (expression("empty", "Exists", &[]), true),
        (expression("missing", "Exists", &[]), false),
        (expression("env", "DoesNotExist", &[]), false),
        (expression("missing", "DoesNotExist", &[]), true),
    ];
    for (spec, expected) in cases {
        assert_eq!(ParameterSelector::new(&spec).unwrap().matches(&flat), expected, "{spec:?}");
    }
}

#[test]
fn invalid_selectors_are_rejected_in_kubernetes_words() {
    let long = "x".repeat(64);
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
                (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let cases = [
        (expression("env", "in", &["x"]), "\"in\" is not a valid pod selector operator".to_owned()),
        (expression("path[0]", "Exists", &[]), format!("key: Invalid value: \"path[0]\": {name}")),
        (
            expression("", "Exists", &[]),
            format!("key: Invalid value: \"\": name part must be non-empty; {name}"),
        ),
        (
            expression(&long, "Exists", &[]),
            format!("key: Invalid value: \"{long}\": name part must be no more than 63 bytes"),
        ),
        (
            expression("/a", "Exists", &[]),
            "key: Invalid value: \"/a\": prefix part must be non-empty".to_owned(),
        ),
        (
            expression("A/a", "In", &[]),
            "[key: Invalid value: \"A/a\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
             '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), values: Invalid value: null: for 'in', 'notin' operators, \
             values set can't be empty]"
                .to_owned(),
        ),
        (
            expression("env", "DoesNotExist", &["x", "y"]),
            "values: Invalid value: [\"x\",\"y\"]: values set must be empty for exists and does not exist".to_owned(),
        ),
    ];
    for (spec, message) in cases {
        let error = ParameterSelector::new(&spec).unwrap_err().to_string();
        assert_eq!(error, format!("error parsing label selector: {message}"));
    }
    assert!(ParameterSelector::new(&expression("example.com/my_Name.1", "Exists", &[])).is_ok());
}
