use tiphys_model::params::{Announcement, ItemType};

use super::inline_scalar;

#[test]
fn string_has_the_announced_type() {
    let cases = [
        // Without an announced type.
        ("", "5", "5"),
        ("", "true", "true"),
        ("", "True", "true"),
        ("", "+5", "\"+5\""),
        ("", "007", "\"007\""),
        ("", "2.5", "\"2.5\""),
        ("", "null", "null"),
        ("", "a,b", "\"a,b\""),
        ("string", "5", "\"5\""),
        ("string", "true", "\"true\""),
        ("number", "5", "5"),
        ("number", "2.50", "2.5"),
        ("number", "1e3", "1000.0"),
        ("number", "many", "\"many\""),
        ("boolean", "FALSE", "false"),
        ("boolean", "no", "\"no\""),
        ("integer|string", "5", "5"),
        ("integer|string", "2.5", "\"2.5\""),
        ("integer|string", "25%", "\"25%\""),
        ("number|string", "2.5", "2.5"),
        ("number|string", "1.10", "\"1.10\""),
        ("integer|null", "null", "null"),
        ("string|null", "null", "null"),
        ("boolean|string", "true", "true"),
    ];
    for (word, text, expected) in cases {
        let announcement =
            Announcement { item_type: ItemType::from_word(word), ..Announcement::named("set.a") };
        assert_eq!(inline_scalar(text, Some(&announcement)).to_string(), expected, "{word} {text}");
    }
    assert_eq!(inline_scalar("5", None).to_string(), "5");
}
