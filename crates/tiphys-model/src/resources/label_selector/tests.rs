use tiphys_yaml::read_document;

use super::*;

fn decoded(yaml: &str) -> Result<LabelSelector, String> {
    let node = read_document(yaml.as_bytes()).ok().flatten().ok_or("not YAML")?;
    Object::new(&node, "")
        .and_then(LabelSelector::decode)
        .map_err(|error| format!("{}: {}", error.path, error.message))
}

#[test]
fn labels_are_selected() {
    let labels = BTreeMap::from([("team".to_owned(), "a".to_owned()), ("tier".to_owned(), "web".to_owned())]);
    let cases = [
        ("{}", true),
        ("matchLabels: {team: a}", true),
        ("matchLabels: {team: b}", false),
        ("matchLabels: {team: a, other: x}", false),
        ("matchExpressions: [{key: team, operator: In, values: [a, b]}]", true),
        ("matchExpressions: [{key: team, operator: In, values: [b]}]", false),
        ("matchExpressions: [{key: none, operator: In, values: [b]}]", false),
        ("matchExpressions: [{key: team, operator: NotIn, values: [b]}]", true),
        ("matchExpressions: [{key: none, operator: NotIn, values: [b]}]", true),
        ("matchExpressions: [{key: team, operator: NotIn, values: [a]}]", false),
        ("matchExpressions: [{key: team, operator: Exists}]", true),
        ("matchExpressions: [{key: none, operator: Exists}]", false),
        ("matchExpressions: [{key: none, operator: DoesNotExist}]", true),
        ("{matchLabels: {team: a}, matchExpressions: [{key: tier, operator: DoesNotExist}]}", false),
    ];
    for (yaml, expected) in cases {
        assert_eq!(decoded(yaml).expect(yaml).matches(&labels), expected, "{yaml}");
    }
}

#[test]
fn invalid_selectors_are_errors() {
    let cases = [
        (
            "matchExpressions: [{key: a, operator: Equals}]",
            "matchExpressions[0].operator: expected In, NotIn, Exists or DoesNotExist",
        ),
        (
            "matchExpressions: [{key: a, operator: In}]",
            "matchExpressions[0].values: In and NotIn need at least one value",
        ),
        (
            "matchExpressions: [{key: a, operator: Exists, values: [x]}]",
            "matchExpressions[0].values: Exists and DoesNotExist have no values",
        ),
        ("matchExpressions: [{operator: Exists}]", "matchExpressions[0].key: expected the name of a label"),
        ("matchLabels: {a: 1}", "matchLabels.a: expected a string, found a number; put it in quotes"),
    ];
    for (yaml, expected) in cases {
        assert_eq!(decoded(yaml), Err(expected.to_owned()), "{yaml}");
    }
}
