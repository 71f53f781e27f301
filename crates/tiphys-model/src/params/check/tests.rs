use super::{COMPARISONS_MAX, ProblemKind, check_default, check_value, check_values, is_number};
use crate::params::{Announcement, CollectionType, ItemType, Parameter};

fn text(name: &str, value: &str) -> Parameter {
    Parameter { name: name.to_owned(), string: Some(value.to_owned()), ..Parameter::default() }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|item| (*item).to_owned()).collect()
}

fn found(announcement: &Announcement, parameter: &Parameter) -> Vec<String> {
    check_value(announcement, parameter).iter().map(ToString::to_string).collect()
}

#[test]
fn number_must_be_exact_decimal() {
    for number in [
        "0",
        "3",
        "-1",
        "+1",
        "007",
        "9007199254740993",
        "1.50",
        "-0.0",
        "1e3",
        "1E+3",
        "12.5e-10",
        "123456789012345678901234567890",
    ] {
        assert!(is_number(number), "{number}");
    }
    for other in [
        "", "-", ".5", "1.", "1e", "1e+", "0x1F", "inf", "nan", "1_000", "1,5", " 1", "1 ", "--1", "1.2.3",
        "1e2e3", "٣", "true",
    ] {
        assert!(!is_number(other), "{other}");
    }
}

#[test]
fn items_are_checked_by_the_announced_item_type() {
    let number = Announcement { item_type: Some(ItemType::Number), ..Announcement::named("n") };
    let boolean = Announcement { item_type: Some(ItemType::Boolean), ..Announcement::named("b") };
    let other =
        Announcement { item_type: Some(ItemType::String("blob".to_owned())), ..Announcement::named("o") };
    assert_eq!(found(&number, &text("n", "9007199254740993")), [""; 0]);
    assert_eq!(
        found(&number, &text("n", "many")),
        ["parameter `n`: the value has to be a decimal number, such as `3` or `-1.5e3`"]
    );
    for value in ["true", "false"] {
        assert_eq!(found(&boolean, &text("b", value)), [""; 0]);
    }
    for value in ["yes", "True", "1", ""] {
        assert_eq!(
            found(&boolean, &text("b", value)),
            ["parameter `b`: the value has to be `true` or `false`"],
            "{value}"
        );
    }
    assert_eq!(found(&other, &text("o", "anything")), [""; 0]);
    let several = [
        (
            "integer|null",
            &["5", "+5", "007", "null"][..],
            &["1.0", "1e3", "", "true", "Null"][..],
            "a whole number or null",
        ),
        ("boolean|number", &["true", "1e3", "-1.5"], &["True", "x", "null"], "a boolean or a number"),
        ("integer|string", &["x", "", "true", "null", "{a,b}"], &[], ""),
        ("array", &["x", "{a,b}"], &[], ""),
    ];
    for (words, good, bad, description) in several {
        let one = Announcement { item_type: ItemType::from_word(words), ..Announcement::named("s") };
        for value in good {
            assert_eq!(found(&one, &text("s", value)), [""; 0], "{value} for {words}");
        }
        for value in bad {
            let expected = format!("parameter `s`: the value has to be {description}");
            assert_eq!(found(&one, &text("s", value)), [expected], "{value} for {words}");
        }
    }
}

#[test]
fn each_item_of_a_list_and_of_a_map_is_checked() {
    let list = Announcement {
        item_type: Some(ItemType::Number),
        collection_type: CollectionType::Array,
        ..Announcement::named("l")
    };
    let set =
        Parameter { name: "l".to_owned(), array: Some(texts(&["1", "x", "2", "y"])), ..Parameter::default() };
    assert_eq!(
        found(&list, &set),
        [
            "parameter `l`: item 2 has to be a decimal number, such as `3` or `-1.5e3`",
            "parameter `l`: item 4 has to be a decimal number, such as `3` or `-1.5e3`",
        ]
    );
    let map = Announcement {
        collection_type: CollectionType::Map,
        choices: texts(&["on", "off"]),
        ..Announcement::named("m")
    };
    let values = [("a".to_owned(), "on".to_owned()), ("b".to_owned(), "maybe".to_owned())];
    let set = Parameter { name: "m".to_owned(), map: Some(values.into()), ..Parameter::default() };
    assert_eq!(found(&map, &set), ["parameter `m`: the value of the key `b` has to be one of `on`, `off`"]);
}

#[test]
fn value_in_wrong_field_is_a_problem() {
    let list = Announcement {
        collection_type: CollectionType::Array,
        required: Some(true),
        ..Announcement::named("l")
    };
    assert_eq!(
        found(&list, &text("l", "x")),
        ["parameter `l`: the plugin reads `array`, but only `string` is set"]
    );
    let both = Parameter { array: Some(texts(&["x"])), ..text("l", "x") };
    assert_eq!(found(&list, &both), [""; 0]);
}

#[test]
fn required_value_must_be_set_or_have_a_default() {
    let required = Announcement { required: Some(true), ..Announcement::named("r") };
    let unset = Parameter { name: "r".to_owned(), ..Parameter::default() };
    let problem = "parameter `r`: a value is required, and there is no default";
    let all = |announcement: &Announcement, set: &[Parameter]| -> Vec<String> {
        check_values(std::slice::from_ref(announcement), set).iter().map(ToString::to_string).collect()
    };
    assert_eq!(found(&required, &unset), [problem]);
    assert_eq!(all(&required, &[]), [problem]);
    assert_eq!(all(&required, &[text("r", "")]), [""; 0]);
    let with_default = Announcement { string: Some(String::new()), ..required.clone() };
    assert_eq!(all(&with_default, &[]), [""; 0]);
    let default_elsewhere = Announcement { array: Some(texts(&["x"])), ..required.clone() };
    assert_eq!(all(&default_elsewhere, &[]), [problem]);
    let optional = Announcement { required: Some(false), ..required };
    assert_eq!(all(&optional, &[]), [""; 0]);
}

#[test]
fn unannounced_name_is_reported_with_similar_names() {
    let announced = [Announcement::named("values-files"), Announcement::named("helm-parameters")];
    let found: Vec<String> =
        check_values(&announced, &[text("value-files", "x"), text("qqq", "y"), text("values-files", "z")])
            .iter()
            .map(ToString::to_string)
            .collect();
    assert_eq!(
        found,
        [
            "parameter `value-files`: the plugin does not announce it; did you mean `values-files`?",
            "parameter `qqq`: the plugin does not announce it",
        ]
    );
}

#[test]
fn problems_do_not_repeat_the_value() {
    let announcement = Announcement {
        item_type: Some(ItemType::Number),
        choices: texts(&["1", "2"]),
        ..Announcement::named("secret")
    };
    for problem in check_value(&announcement, &text("secret", "hunter2")) {
        assert!(!format!("{problem} {problem:?}").contains("hunter2"), "{problem}");
    }
}

#[test]
fn announced_default_is_checked_like_a_value() {
    let announcement = Announcement {
        choices: texts(&["a", "b"]),
        string: Some("c".to_owned()),
        ..Announcement::named("x")
    };
    let found: Vec<String> = check_default(&announcement).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["parameter `x`: the value has to be one of `a`, `b`"]);
    let without = Announcement { required: Some(true), choices: texts(&["a"]), ..Announcement::named("x") };
    assert_eq!(check_default(&without), []);
}

#[test]
fn suggestions_stop_at_the_comparison_limit() {
    const ANNOUNCED: usize = 1_000;
    let announcements: Vec<Announcement> =
        (0..ANNOUNCED).map(|number| Announcement::named(format!("p{number:03}"))).collect();
    let allowed = COMPARISONS_MAX / ANNOUNCED;
    let parameters: Vec<Parameter> =
        (0..=allowed).map(|number| text(&format!("p{number:03}x"), "v")).collect();
    let suggested: Vec<bool> = check_values(&announcements, &parameters)
        .iter()
        .map(|problem| match &problem.kind {
            ProblemKind::Unannounced { suggestions } => !suggestions.is_empty(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: Vec<bool> = (0..=allowed).map(|number| number < allowed).collect();
    assert_eq!(suggested, expected);
}
