//! Lists of dependencies, as `helm dependency list` of Helm 3 and 4 prints them.

use tiphys_helm_values::Import;
use tiphys_yaml::{Node, read_document};

use super::{Dependency, dependencies};

/// Limit of entries.
const LINES_MAX: usize = 100;

/// Name, version and repository.
type Shown<'a> = (&'a str, &'a str, &'a str);

fn document(text: &str) -> Node {
    read_document(text.as_bytes()).unwrap().unwrap().deduplicated()
}

/// Decodes the lists of these files: names, versions, repositories.
fn listed(chart: &str, requirements: &str) -> Option<Vec<(String, String, String)>> {
    let (chart, requirements) = (document(chart), document(requirements));
    let found =
        dependencies(&[("Chart.yaml", &chart), ("requirements.yaml", &requirements)], LINES_MAX).unwrap();
    found.map(|list| {
        list.into_iter().map(|one| (one.name, one.version.as_str().to_owned(), one.repository)).collect()
    })
}

#[test]
fn requirements_item_overrides_chart_item_at_same_index() {
    let two = "dependencies: [{name: zzz, version: 1.0.0, repository: 'file:///z'}, {name: b, version: 1.0.0, repository: 'file:///b'}]";
    let cases: [(&str, &str, Option<&[Shown<'_>]>); 9] = [
        (two, "{}", Some(&[("zzz", "1.0.0", "file:///z"), ("b", "1.0.0", "file:///b")])),
        (two, "dependencies: [{name: dep}]", Some(&[("dep", "1.0.0", "file:///z")])),
        ("{}", "dependencies: [{name: dep, version: 2.x}]", Some(&[("dep", "2.x", "")])),
        (two, "dependencies: null", None),
        (two, "dependencies: []", Some(&[])),
        (two, "dependencies: [{repository: null, version: 2}]", Some(&[("zzz", "2", "file:///z")])),
        ("{}", "{}", None),
        ("Dependencies: [{Name: dep, REPOSITORY: 'https://a'}]", "{}", Some(&[("dep", "", "https://a")])),
        (
            "{Dependencies: [{name: a, repository: 'https://a'}, {name: b, repository: 'https://b'}], dependencies: [{name: c}]}",
            "dependencies: [{name: d}, {name: e}]",
            Some(&[("d", "", "https://a"), ("e", "", "https://b")]),
        ),
    ];
    for (chart, requirements, expected) in cases {
        let owned = |list: &[Shown<'_>]| {
            list.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
        };
        assert_eq!(listed(chart, requirements), expected.map(owned), "{chart} {requirements}");
    }
}

#[test]
fn numbers_become_strings_and_control_characters_go() {
    let text = "dependencies: [{name: \"a\\tb\", version: 1.10, repository: \"f\\u0001ile:///x\\ny\"}]";
    assert_eq!(
        listed(text, "{}"),
        Some(vec![("a b".to_owned(), "1.1".to_owned(), "file:///x y".to_owned())])
    );
}

#[test]
fn all_fields_are_read_and_null_items_are_omitted() {
    let text = "dependencies: [null, {name: a, alias: b, condition: a.on, tags: [x, y], import-values: [data, {child: c, parent: p}, 1]}]";
    let expected = Dependency {
        name: "a".to_owned(),
        alias: "b".to_owned(),
        condition: "a.on".to_owned(),
        tags: vec!["x".to_owned(), "true".to_owned()],
        imports: [("exports.data", "."), ("c", "p")]
            .map(|(child, parent)| Import { child: child.to_owned(), parent: parent.to_owned() })
            .into(),
        import_values: ["\"data\"", "{\"child\":\"c\",\"parent\":\"p\"}", "1"].map(str::to_owned).into(),
        ..Dependency::default()
    };
    assert_eq!(expected.known_as(), "b");
    assert_eq!(dependencies(&[("Chart.yaml", &document(text))], LINES_MAX).unwrap(), Some(vec![expected]));
}

#[test]
fn wrong_type_is_reported_with_its_file() {
    let too_many = format!("dependencies: [{}]", "{name: a}, ".repeat(LINES_MAX + 1));
    for (text, expected) in [
        (
            too_many.as_str(),
            "dependencies: expected a list of at most 100 dependencies (TIPHYS_HELM_DEPENDENCIES_MAX allows more), found a list",
        ),
        ("dependencies: {a: b}", "dependencies: expected a list, found an object"),
        ("dependencies: [a]", "dependencies[0]: expected an object, found a string"),
        ("dependencies: [{name: [a]}]", "dependencies[0].name: expected a string, found a list"),
    ] {
        let error = dependencies(
            &[("Chart.yaml", &document("{}")), ("requirements.yaml", &document(text))],
            LINES_MAX,
        );
        let error = error.unwrap_err();
        assert_eq!(error.file, "requirements.yaml");
        assert!(error.source.to_string().contains(expected), "{}", error.source);
    }
    let as_many = format!("dependencies: [{}]", "{name: a}, ".repeat(LINES_MAX));
    assert_eq!(listed(&as_many, "{}").map(|list| list.len()), Some(LINES_MAX));
}
