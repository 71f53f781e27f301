use super::generate_paths;

/// Annotation, path of the application, expected paths.
type Case = (Option<&'static str>, &'static str, Option<&'static [&'static str]>);

#[test]
fn paths_are_those_of_annotation_and_application() {
    let cases: [Case; 21] = [
        (None, "apps/web", None),
        (Some(""), "apps/web", None),
        (Some(" ; "), "apps/web", None),
        (Some("."), "apps/web", Some(&["apps/web"])),
        (Some("/shared"), "apps/web", Some(&["apps/web", "shared"])),
        (Some(" .; /shared ;../common"), "apps/web", Some(&["apps/common", "apps/web", "shared"])),
        (Some("sub"), "apps/web", Some(&["apps/web"])),
        (Some("/apps"), "apps/web", Some(&["apps"])),
        (Some("../webshop"), "apps/web", Some(&["apps/web", "apps/webshop"])),
        (Some("../../../../x"), "apps/web", Some(&["apps/web", "x"])),
        (Some("/"), "apps/web", None),
        (Some("../.."), "apps/web", None),
        (Some("/shared"), "", None),
        (Some("/shared/*.yaml"), "apps/web", Some(&["apps/web", "shared"])),
        (Some("/shared/v[12]/x"), "apps/web", Some(&["apps/web", "shared"])),
        (Some("/*.yaml"), "apps/web", None),
        (Some("sub/?"), "apps/web", Some(&["apps/web"])),
        (Some("//shared"), "apps/web", Some(&["apps/web", "shared"])),
        (Some(" /shared/x.yaml "), "apps/web", Some(&["apps/web", "shared/x.yaml"])),
        (Some("/shared;/shared/deep;/shared"), "apps/web", Some(&["apps/web", "shared"])),
        (Some("/a;/a/b;/a-b;/a/c"), "a", Some(&["a", "a-b"])),
    ];
    for (annotation, path, expected) in cases {
        let found = generate_paths(annotation, path);
        let found = found.as_ref().map(|paths| paths.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{annotation:?} from {path:?}");
    }
}
