//! Tags.

use std::collections::BTreeMap;

use super::replace;

#[test]
fn tags_are_replaced_once() {
    let values = BTreeMap::from([("a".to_owned(), "{{b}}".to_owned()), ("b".to_owned(), "B".to_owned())]);
    let cases = [
        ("{{a}} {{ b }}", Ok("{{b}} B")),
        ("{{x}} {{}} {{ }}", Ok("{{x}} {{}} {{ }}")),
        ("{{a\n}}", Ok("{{a\n}}")),
        ("no tag {{", Ok("no tag {{")),
        (
            "{{a}} {{",
            Err(
                "invalid template: Cannot find end tag=\"}}\" in the template=\"{{a}} {{\" starting from \"\"",
            ),
        ),
    ];
    for (template, expected) in cases {
        let replaced = replace(template, &values).map_err(|error| error.to_string());
        assert_eq!(replaced, expected.map(str::to_owned).map_err(str::to_owned), "{template}");
    }
}
