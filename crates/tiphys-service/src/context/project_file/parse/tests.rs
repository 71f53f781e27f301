use std::collections::BTreeSet;

use serde_json::Value;

use super::super::keys::PROJECT_FILE_SCHEMA;
use super::*;

fn values(text: &str) -> Vec<(&'static str, Vec<String>)> {
    let written = parse(text.as_bytes()).expect("it is valid");
    let texts = |written: WrittenKey| written.values.into_iter().map(|(value, _)| value).collect();
    written.into_iter().map(|written| (written.key.name(), texts(written))).collect()
}

#[test]
fn values_are_strings_or_lists() {
    let text = "
store: apps
repositories: [., 'https://git.example.org/a.git@v1=b']
plugins: []
kubeVersion: [\"1.33\", prod=1.32]
projects:
strict: yes
appsets: none
";
    let expected = [
        ("store", vec!["apps"]),
        ("repositories", vec![".", "https://git.example.org/a.git@v1=b"]),
        ("plugins", vec![]),
        ("kubeVersion", vec!["1.33", "prod=1.32"]),
        ("strict", vec!["true"]),
        ("appsets", vec!["none"]),
    ];
    let expected = expected.map(|(key, values)| (key, values.into_iter().map(str::to_owned).collect()));
    assert_eq!(values(text), expected);
    assert_eq!(values(""), []);
    assert_eq!(values("# nothing\n"), []);
}

#[test]
fn mistakes_have_their_position() {
    for (text, expected) in [
        ("plugin: x", "1:1: unknown key \"plugin\"; did you mean plugins?"),
        ("store: a\nkubeversion: '1'", "2:1: unknown key \"kubeversion\"; did you mean kubeVersion?"),
        (
            "secrets: x",
            "1:1: unknown key \"secrets\"; known keys: store, repositories, plugins, clusterState, kubeVersion, apiVersions, projects, \
             projectRules, strict, appsets, answers, trustRepositorySettings",
        ),
        ("store: a\nstore: b", "2:1: store is given twice"),
        (
            "kubeVersion: 1.33",
            "1:14: kubeVersion: expected a string or a list of strings, found a number; put it in quotes",
        ),
        ("kubeVersion: [1.33]", "1:15: kubeVersion[0]: expected a string, found a number; put it in quotes"),
        ("store: {a: b}", "1:8: store: expected a string or a list of strings, found an object"),
        ("store: [a, '-']", "1:12: store[1]: \"-\" names no path"),
        ("plugins: ''", "1:10: plugins: \"\" names no path"),
        (
            "repositories: 'https://x='",
            "1:15: repositories: \"https://x=\" names no folder; write DIR, @BRANCH=DIR, URL=DIR or URL@REV=DIR",
        ),
        ("apiVersions: [prod=@]", "1:15: apiVersions[0]: \"prod=@\" names a file; list the versions here"),
        ("kubeVersion: ''", "1:14: kubeVersion: \"\" is empty"),
        ("projectRules: off", "1:15: projectRules: expected a string, found a boolean; put it in quotes"),
        ("projectRules: enforced", "1:15: projectRules: unknown \"enforced\"; use enforce, warn"),
        ("answers: [a.json]", "1:10: answers: expected a string, found a list"),
        ("answers: '-'", "1:10: answers: \"-\" names no path"),
        ("strict: 'true'", "1:9: strict: expected a boolean, found a string"),
        ("- store", "1:1: expected an object, found a list"),
        ("store: a\n---\nstore: b", "3:1: a project file has one document"),
        ("store: [", "1:9: expected a value"),
    ] {
        let Invalid { position, message } = parse(text.as_bytes()).expect_err(text);
        assert_eq!(format!("{position}: {message}"), expected);
    }
}

#[test]
fn schema_has_exactly_the_keys_of_the_reader() {
    let schema: Value = serde_json::from_str(PROJECT_FILE_SCHEMA).expect("the schema is JSON");
    let properties = schema["properties"].as_object().expect("keys");
    let keys: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    assert_eq!(keys, ProjectKey::ALL.map(ProjectKey::name).into_iter().collect());
    for key in ProjectKey::ALL {
        let property = &properties[key.name()];
        assert!(property["description"].as_str().is_some_and(|text| text.ends_with('.')), "{key:?}");
        if let ValueKind::Word(words) = key.kind() {
            let listed = property["enum"].as_array().expect("words").iter().filter_map(Value::as_str);
            assert_eq!(listed.collect::<Vec<_>>(), words);
        }
    }
}
