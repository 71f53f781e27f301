use super::{JsonType, Types};
use crate::params::ItemType;

fn types(words: &str) -> Types {
    Types::from_words(words).unwrap_or_else(|| panic!("{words} are types"))
}

#[test]
fn types_have_a_canonical_form() {
    for (words, written) in [
        ("string|integer", "integer|string"),
        ("integer|number", "number"),
        ("null|object|array|string|number|integer|boolean", "boolean|number|string|array|object|null"),
    ] {
        assert_eq!(types(words).to_string(), written);
        assert_eq!(types(written), types(words));
    }
    for none in ["", "|", "integer|", "int|string", "integer | string", "Integer|string"] {
        assert_eq!(Types::from_words(none), None, "{none}");
    }
    assert_eq!(Types::of([]), None);
}

#[test]
fn integer_is_a_number_but_number_is_no_integer() {
    let (whole, all) = (types("integer|null"), types("number|string"));
    assert!(all.allow(JsonType::Integer) && !whole.allow(JsonType::Number));
    assert_eq!(whole.and(all), Types::of([JsonType::Integer]));
    assert_eq!(whole.or(all), types("number|string|null"));
    assert_eq!(types("boolean").and(all), None);
}

#[test]
fn single_types_map_to_their_own_item_type() {
    let cases = [
        ("string", ItemType::String("string".to_owned())),
        ("integer", ItemType::Number),
        ("integer|number", ItemType::Number),
        ("boolean", ItemType::Boolean),
        ("array", ItemType::OneOf(types("array"))),
        ("string|null", ItemType::OneOf(types("null|string"))),
    ];
    for (words, expected) in cases {
        assert_eq!(ItemType::of(types(words)), expected, "{words}");
    }
}
