//! Attributes, items and string literals.

use super::*;

fn tokens(text: &str) -> Vec<TokenTree> {
    parse("x.rs", text).unwrap().into_iter().collect()
}

#[test]
fn attributes_are_found_in_code_only_and_at_every_depth() {
    let text =
        "#![a]\n// #[no]\nfn f() {\n    let x = \"#[no]\";\n    #[b]\n    g(|| { #[tokio::test] h });\n}\n";
    let found: Vec<(usize, String)> =
        attributes(parse("x.rs", text).unwrap()).into_iter().map(|it| (it.line, it.path())).collect();
    assert_eq!(found, [(1, "a".to_owned()), (5, "b".to_owned()), (6, "tokio::test".to_owned())]);
}

#[test]
fn argument_lists_are_split_and_found_within_cfg_attr() {
    let text = "#[expect(clippy::a, b, reason = \"c, d\")]\n#[cfg_attr(test, allow(e))]\nfn f() {}\n";
    let found = attributes(parse("x.rs", text).unwrap());
    assert_eq!(found[0].lists("expect"), [["clippy::a", "b", "reason"]]);
    assert_eq!(found[1].lists("allow"), [["e"]]);
    assert!(found[1].lists("expect").is_empty());
}

#[test]
fn item_has_its_own_attributes() {
    let found = items(&tokens("#[a] struct S; #[b] #[c] mod m; mod n {}"), "mod");
    let names: Vec<(String, Vec<String>, bool)> = found
        .into_iter()
        .map(|item| (item.name, item.attributes.iter().map(Attribute::path).collect(), item.has_body))
        .collect();
    let expected = [("m", vec!["b".to_owned(), "c".to_owned()], false), ("n", vec![], true)];
    assert_eq!(names, expected.map(|(name, attributes, body)| (name.to_owned(), attributes, body)));
}

#[test]
fn string_values_are_read_from_plain_and_raw_literals() {
    assert_eq!(string_value(r#""a\"b""#), Some("a\"b".to_owned()));
    assert_eq!(string_value("r#\"a\"b\"#"), Some("a\"b".to_owned()));
    assert_eq!(string_value("1"), None);
}

#[test]
fn attribute_has_the_value_after_its_equals_sign() {
    let found = attributes(parse("x.rs", "#[path = \"a/b.rs\"] mod c;").unwrap());
    assert_eq!(found[0].value().as_deref(), Some("a/b.rs"));
}

#[test]
fn invalid_source_is_a_failure_with_the_file_name() {
    assert!(parse("x.rs", "fn f() {").unwrap_err().to_string().starts_with("x.rs: "));
}
