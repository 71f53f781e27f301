use super::suggest;

#[test]
fn similar_known_names_are_suggested() {
    let known = ["discover", "generate", "init", "parameters", "version", "values-files"];
    let cases: &[(&str, &[&str])] = &[
        ("discovery", &["discover"]),
        ("gnerate", &["generate"]),
        ("genreate", &["generate"]),
        ("Version", &["version"]),
        ("values_files", &["values-files"]),
        ("parameter", &["parameters"]),
        ("lockRepo", &[]),
        ("", &[]),
    ];
    for (name, expected) in cases {
        assert_eq!(&suggest(name, known), expected, "{name}");
    }
}

#[test]
fn suggestions_are_sorted_by_distance_then_by_name() {
    let forward = suggest("image-tags", ["image-tag", "image-tagz", "image-bags", "image-tax"]);
    let backward = suggest("image-tags", ["image-tax", "image-bags", "image-tagz", "image-tag"]);
    assert_eq!(forward, ["image-bags", "image-tag", "image-tagz"]);
    assert_eq!(forward, backward);
}

#[test]
fn common_dotted_prefix_does_not_make_names_similar() {
    let known = ["set.api.ingress.enabled", "set.api.ingress.className", "set.api.port", "set.apis.port"];
    let cases: &[(&str, &[&str])] = &[
        ("set.api.ingress.hosts", &[]),
        ("set.api.ingress.classname", &["set.api.ingress.className"]),
        ("set.api.pot", &["set.api.port", "set.apis.port"]),
        ("set.ap.port", &["set.api.port", "set.apis.port"]),
        ("set.api.ingress", &[]),
    ];
    for (name, expected) in cases {
        assert_eq!(&suggest(name, known), expected, "{name}");
    }
}

#[test]
fn names_that_end_in_the_name_are_suggested_first() {
    let known =
        ["set.web.replicas", "set.replicas", "set.replica", "set.minreplicas", "replica", "replicas.web.set"];
    assert_eq!(suggest("replicas", known), ["set.replicas", "set.web.replicas", "replica"]);
    let many: Vec<String> = (0..20).map(|number| format!("set.n{number:02}.replicas")).collect();
    let found = suggest("replicas", many.iter().map(String::as_str));
    assert_eq!((found.len(), found.first().copied()), (10, Some("set.n00.replicas")));
}

#[test]
fn name_is_not_suggested_for_itself() {
    assert_eq!(suggest("images", ["images"]), Vec::<&str>::new());
}
