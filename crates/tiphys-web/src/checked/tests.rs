use tiphys_model::params::decode_dynamic_output;

use super::{Problems, check};
use crate::entered::{Draft, Entered};

/// Formats the problems as lines: `name: …`, `name/0: …`, `name/0/key: …`.
fn checked(announcements: &str, entered: &[(&str, Entered)]) -> Vec<String> {
    let announcements = decode_dynamic_output(announcements.as_bytes()).expect("announcements").list;
    let drafts: Vec<(&str, Draft)> = entered
        .iter()
        .map(|(name, entered)| (*name, Draft { entered: entered.clone(), several_lines: false }))
        .collect();
    let drafts: Vec<(&str, &Draft)> = drafts.iter().map(|(name, draft)| (*name, draft)).collect();
    let mut lines = Vec::new();
    for ((name, _), problems) in drafts.iter().zip(check(&announcements, &drafts)) {
        let Problems { whole, rows } = problems;
        lines.extend(whole.iter().map(|text| format!("{name}: {text}")));
        for (row, problems) in rows.iter().enumerate() {
            lines.extend(problems.key.iter().map(|text| format!("{name}/{row}/key: {text}")));
            lines.extend(problems.value.iter().map(|text| format!("{name}/{row}: {text}")));
        }
    }
    lines
}

fn map(pairs: &[(&str, &str)]) -> Entered {
    Entered::Map(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn each_problem_is_reported_at_its_control() {
    let announcements = r#"[
        {"name": "r", "required": true}, {"name": "n", "itemType": "number"}, {"name": "c", "choices": ["x", "y"]},
        {"name": "l", "collectionType": "array", "itemType": "number"}, {"name": "m", "collectionType": "map", "itemType": "boolean"}
    ]"#;
    let list = |items: &[&str]| Entered::List(items.iter().map(|item| (*item).to_owned()).collect());
    let entered = [
        ("r", Entered::Nothing),
        ("n", Entered::Text("3x".to_owned())),
        ("c", Entered::Text("z".to_owned())),
        ("l", list(&["1e3", "x", "-0.5", ""])),
        ("m", map(&[("a", "true"), ("b", "yes")])),
        ("other", Entered::Text(String::new())),
    ];
    let number = "the value has to be a decimal number, such as `3` or `-1.5e3`";
    let expected = [
        "r: a value is required, and there is no default".to_owned(),
        format!("n: {number}"),
        "c: the value has to be one of `x`, `y`".to_owned(),
        format!("l/1: {number}"),
        format!("l/3: {number}"),
        "m/1: the value has to be `true` or `false`".to_owned(),
        "other: the plugin does not announce it".to_owned(),
    ];
    assert_eq!(checked(announcements, &entered), expected);
}

#[test]
fn keys_are_required_and_unique() {
    let entered = [("m", map(&[("k", "x"), ("", "1"), ("l", "1"), ("k", "y")]))];
    let announcements = r#"[{"name": "m", "collectionType": "map", "itemType": "number"}]"#;
    let expected = [
        "m/0/key: the key is given twice",
        "m/1/key: a key is required",
        "m/3/key: the key is given twice",
        "m/3: the value has to be a decimal number, such as `3` or `-1.5e3`",
    ];
    assert_eq!(checked(announcements, &entered), expected);
}

#[test]
fn without_announcements_all_names_are_permitted() {
    assert_eq!(checked("[]", &[("a", Entered::Text("x".to_owned()))]), Vec::<String>::new());
}
