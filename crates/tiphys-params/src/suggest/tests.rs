use super::{distance, suggest};

#[test]
fn the_nearest_known_names_are_suggested() {
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
fn suggestions_are_nearest_first_then_by_name_whatever_the_order_of_the_known_names() {
    let forward = suggest("image-tags", ["image-tag", "image-tagz", "image-bags", "image-tax"]);
    let backward = suggest("image-tags", ["image-tax", "image-bags", "image-tagz", "image-tag"]);
    assert_eq!(forward, ["image-bags", "image-tag", "image-tagz"]);
    assert_eq!(forward, backward);
}

#[test]
fn parts_between_dots_with_which_both_begin_make_no_names_alike() {
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
fn a_known_name_is_not_its_own_suggestion() {
    assert_eq!(suggest("images", ["images"]), Vec::<&str>::new());
}

#[test]
fn a_swap_of_neighbours_is_one_edit() {
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    for (a, b, expected) in [("ab", "ba", 1), ("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0)] {
        assert_eq!(distance(&chars(a), &chars(b)), expected, "{a} {b}");
    }
}
