use super::difference;

/// Templates and their documents.
type Documents = [(&'static str, &'static str)];

/// Returns an output of helm with these templates and documents.
fn output(documents: &[(&str, &str)]) -> String {
    let document = |(template, text): &(&str, &str)| format!("---\n# Source: web/{template}\n{text}\n");
    documents.iter().map(document).collect()
}

#[test]
fn first_different_object_and_field_are_named() {
    const WEB: &str = "kind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {containers: [{image: a}], 'x/y~z': 1}";
    const LATE: &str = "kind: ConfigMap\nmetadata: {name: late}";
    let all: &[(&str, &str)] = &[("templates/web.yaml", WEB), ("charts/sub/templates/late.yaml", LATE)];
    let web = |from: &str, to: &str| {
        vec![("templates/web.yaml", WEB.replace(from, to)), ("templates/late.yaml", LATE.to_owned())]
    };
    let field =
        |pointer: &str| Some(format!("Deployment shop/web in templates/web.yaml differs at {pointer}"));
    let cases = [
        (web("", ""), None),
        (web("image: a", "image: s3cret"), field("/spec/containers/0/image")),
        (web("[{image: a}]", "[{image: a}, {image: b}]"), field("/spec/containers/1")),
        (web("[{image: a}]", "{}"), field("/spec/containers")),
        (web("x/y~z", "other"), field("/spec/x~1y~0z")),
        (web("}], ", "}], more: 1, "), field("/spec/more")),
        (web(": 1", ": '1'"), field("/spec/x~1y~0z")),
    ];
    for (documents, expected) in cases {
        let theirs: Vec<(&str, &str)> =
            documents.iter().zip(all).map(|((_, text), (template, _))| (*template, text.as_str())).collect();
        let found = difference(&output(all), &output(&theirs), || None).map(|found| found.to_string());
        assert_eq!(found, expected, "{theirs:?}");
    }
}

#[test]
fn objects_of_one_engine_and_differences_of_text_are_named() {
    const A: (&str, &str) = ("templates/a.yaml", "kind: X\nmetadata: {name: a}");
    const B: (&str, &str) = ("templates/b.yaml", "kind: X\nmetadata: {generateName: b-}");
    const COMMENT: (&str, &str) = ("templates/b.yaml", "# s3cret\nkind: X\nmetadata: {generateName: b-}");
    const INVALID: (&str, &str) = ("templates/b.yaml", "kind: {s3cret");
    let cases: [(&Documents, &Documents, &str); 6] = [
        (&[A, B], &[A], "only the built-in engine renders X b-* in templates/b.yaml"),
        (&[A], &[A, B], "only helm renders X b-* in templates/b.yaml"),
        (&[A], &[], "only the built-in engine renders X a in templates/a.yaml"),
        (
            &[A, B],
            &[A, COMMENT],
            "line 7 of the output differs, in templates/b.yaml: only in comments, format or order",
        ),
        (
            &[A, B],
            &[B, A],
            "line 2 of the output differs, in templates/a.yaml: only in comments, format or order",
        ),
        (
            &[A, B],
            &[A, INVALID],
            "line 7 of the output differs, in templates/b.yaml, and the output is invalid YAML",
        ),
    ];
    for (ours, theirs, expected) in cases {
        let found = difference(&output(ours), &output(theirs), || None).expect("a difference");
        assert_eq!(found.to_string(), expected);
    }
}

#[test]
fn values_that_change_in_each_rendering_are_not_compared() {
    const TEXT: &str =
        "kind: Secret\nmetadata: {name: a}\ndata: {random: RANDOM, list: [RANDOM], other: FIXED}";
    let rendered = |random: &str, fixed: &str| {
        output(&[("templates/a.yaml", &TEXT.replace("RANDOM", random).replace("FIXED", fixed))])
    };
    let differs = "Secret a in templates/a.yaml differs at /data/other";
    for (fixed, expected) in [("equal", None), ("unequal", Some(differs))] {
        let (ours, theirs) = (rendered("first", "equal"), rendered("of-helm", fixed));
        let found = difference(&ours, &theirs, || Some(rendered("second", "equal")));
        assert_eq!(found.map(|found| found.to_string()).as_deref(), expected);
    }
}
