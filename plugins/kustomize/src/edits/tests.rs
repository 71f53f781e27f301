use super::*;

fn shown(change: &Change) -> String {
    match change {
        Change::Edit(words) => words.join(" "),
        Change::Patches(patches) => format!("patches {}", Value::from(patches.clone())),
        Change::Components { paths, ignore_missing } => format!("components {paths:?} {ignore_missing}"),
    }
}

#[test]
fn parameters_become_edits() {
    for (parameters, version, expected) in [
        ("null", None, &[][..]),
        (
            r#"[{"name": "other", "string": "x"}, {"name": "images"}, {"name": "version", "string": ""}]"#,
            None,
            &[],
        ),
        (r#"[{"name": "version", "string": "v5.8.3"}]"#, Some("v5.8.3"), &[]),
        (
            r#"[{"name": "name-suffix", "string": "-a"}, {"name": "name-prefix", "string": ""}]"#,
            None,
            &["set nameprefix -- ", "set namesuffix -- -a"],
        ),
        (
            r#"[{"name": "name-prefix", "string": "a-"}, {"name": "name-prefix", "string": "--help"}]"#,
            None,
            &["set nameprefix -- --help"],
        ),
        (r#"[{"name": "images", "map": {"b": "*:2", "a:1": "x@y"}}]"#, None, &["set image -- a:1=x@y b=*:2"]),
        (r#"[{"name": "labels", "map": {"-f": "\"q\" x"}}]"#, None, &[r#"add label -- -f:""q" x""#]),
        (
            r#"[{"name": "labels", "map": {"a": ""}}, {"name": "force-labels", "string": "true"}]"#,
            None,
            &[r#"add label --force -- a:"""#],
        ),
        (
            r#"[{"name": "labels", "map": {"a": "b", "c": "d"}}, {"name": "labels-without-selector", "string": "true"},
                {"name": "labels-include-templates", "string": "true"}]"#,
            None,
            &[r#"add label --without-selector --include-templates -- a:"b" c:"d""#],
        ),
        (
            r#"[{"name": "components", "array": ["c"]}, {"name": "ignore-missing-components", "string": "true"},
                {"name": "patches", "array": ["{\"path\": \"p.yaml\"}", "patch: x"]},
                {"name": "namespace", "string": "ns"}, {"name": "replicas", "map": {"w": "3"}},
                {"name": "annotations", "map": {"a": "b\nc"}}, {"name": "force-annotations", "string": "true"}]"#,
            None,
            &[
                "set replicas -- w=3",
                "add annotation --force -- a:\"b\nc\"",
                "set namespace -- ns",
                r#"patches [{"path":"p.yaml"},{"patch":"x"}]"#,
                r#"components ["c"] true"#,
            ],
        ),
    ] {
        let edits = of_parameters(Some(parameters)).expect(parameters);
        let found: Vec<String> = edits.changes.iter().map(shown).collect();
        assert_eq!(
            (edits.version.as_deref(), found.as_slice()),
            (version, &expected.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()[..]),
            "{parameters}"
        );
    }
}

#[test]
fn invalid_parameters_are_rejected_by_name() {
    for (parameters, expected) in [
        ("{", "ARGOCD_APP_PARAMETERS: "),
        ("{}", "ARGOCD_APP_PARAMETERS: "),
        (r#"[{"name": "version", "array": ["a"]}]"#, "parameter version: expected a string"),
        (r#"[{"name": "images", "string": "a"}]"#, "parameter images: expected a map"),
        (r#"[{"name": "force-labels", "string": "yes"}]"#, "parameter force-labels: expected true or false"),
        (
            r#"[{"name": "name-prefix", "string": "a\nb"}]"#,
            "parameter name-prefix: line breaks and other control characters are not allowed",
        ),
        (
            r#"[{"name": "labels", "map": {"a": "\u007f"}}]"#,
            "parameter labels[a]: line breaks and other control characters are not allowed",
        ),
        (
            r#"[{"name": "images", "map": {"": "a"}}]"#,
            "parameter images[]: the name of an image must not be empty",
        ),
        (
            r#"[{"name": "images", "map": {"a=b": "a"}}]"#,
            "parameter images[a=b]: the name of an image must not contain '='",
        ),
        (
            r#"[{"name": "images", "map": {"a": ""}}]"#,
            "parameter images[a]: the replacement must not be empty",
        ),
        (
            r#"[{"name": "patches", "array": ["a"]}]"#,
            "parameter patches[0]: expected an object with the fields path or patch, target and options",
        ),
        (r#"[{"name": "replicas", "map": {"w": "x"}}]"#, "parameter replicas[w]: expected a whole number"),
        (r#"[{"name": "components", "string": "a"}]"#, "parameter components: expected a list"),
        (
            r#"[{"name": "labels", "map": {"a:b": "c"}}]"#,
            "parameter labels[a:b]: the name of a label must not contain ':'",
        ),
    ] {
        let error = of_parameters(Some(parameters)).expect_err(parameters).to_string();
        assert!(error.starts_with(expected), "{parameters}: {error}");
    }
}
