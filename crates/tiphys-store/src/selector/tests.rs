use std::collections::BTreeMap;

use super::Selector;

#[test]
fn selectors_match_as_in_kubectl() {
    let labels: BTreeMap<String, String> = [("team", "blue"), ("tier", "web"), ("example.com/x", "")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
    let cases = [
        ("", true),
        (" ", true),
        ("team=blue", true),
        ("team==blue", true),
        ("team=red", false),
        ("team!=red", true),
        ("team!=blue", false),
        ("absent!=x", true),
        ("absent=x", false),
        ("team", true),
        ("absent", false),
        ("!absent", true),
        ("!team", false),
        ("team in (red, blue)", true),
        ("team in (red)", false),
        ("team notin (red,green)", true),
        ("team notin (blue)", false),
        ("absent notin (x)", true),
        ("absent in (x)", false),
        ("team=blue,tier=web", true),
        ("team=blue,tier=db", false),
        ("team in (blue,red),tier!=db, !x", true),
        ("example.com/x=", true),
    ];
    for (text, expected) in cases {
        assert_eq!(Selector::parse(text).expect(text).matches(&labels), expected, "{text}");
    }
}

#[test]
fn invalid_selector_is_rejected_with_invalid_part() {
    let cases = [
        ("a=b c", "\"b c\" is not a label"),
        ("=x", "a label's key is missing"),
        ("!", "a label's key is missing"),
        ("a=b,", "a label's key is missing"),
        ("a on (b)", "\"a on (b)\" has neither `in` nor `notin` before its values"),
        ("a in b)", "\"a in b)\" has no opening parenthesis"),
        ("a>1", "\"a>1\" is not a label"),
    ];
    for (text, expected) in cases {
        let error = Selector::parse(text).expect_err(text);
        assert_eq!((error.selector.as_str(), error.problem.as_str()), (text, expected));
    }
}
