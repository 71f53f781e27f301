//! Edits of large texts take time that grows linearly with the number of changes, not quadratically.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::path;
use crate::edit::{Change, NewValue, Target, edit};

/// The time limit per text in an unoptimized build on a busy machine, many times what it takes. A scan of the line or of the keys for each
/// change exceeds it.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The number of changes per text.
const COUNT: usize = 16_000;

/// The number of changes for scans of memory. Such a scan is fast, so more changes are needed.
const MANY: usize = 60_000;

fn numbered(count: usize, part: impl FnMut(usize) -> String) -> Vec<String> {
    (0..count).map(part).collect()
}

fn set(place: &str, value: impl Into<NewValue>) -> Change {
    Change::Set { path: path(place), value: value.into() }
}

#[track_caller]
fn check(before: &str, changes: &[Change], after: &str) {
    let start = Instant::now();
    let changed = edit(before.as_bytes(), Target::FirstDocument, changes).expect("a valid edit");
    let taken = start.elapsed();
    assert!(String::from_utf8(changed).expect("UTF-8") == after, "unexpected result");
    assert!(taken < TIME_MAX, "{taken:?} for {} changes", changes.len());
}

#[test]
fn many_block_parameters_are_changed_in_time() {
    let mut text = String::from("# all\nparameters:\n");
    let mut after = text.clone();
    let mut changes = Vec::new();
    for number in 0..COUNT {
        writeln!(text, "- name: p{number} # {number}\n  string: \"{number}\"\n  # end")
            .expect("writing to a string");
        writeln!(after, "- name: p{number} # {number}\n  string: \"new {number}\"\n  # end")
            .expect("writing to a string");
        changes.push(set(&format!("parameters/{number}/string"), format!("new {number}")));
    }
    text.push_str("map:\n  k: v\n");
    after.push_str("map:\n  k: v\n");
    for number in 0..COUNT {
        writeln!(after, "  k{number}: v").expect("writing to a string");
        changes.push(set(&format!("map/k{number}"), "v"));
    }
    check(&text, &changes, &after);
}

#[test]
fn many_values_of_one_line_json_are_changed_in_time() {
    let entries = |value: &str| numbered(COUNT, |number| format!("\"k{number}\":\"{value}\"")).join(",");
    let changes =
        numbered(COUNT, |number| format!("k{number}")).iter().map(|key| set(key, "b")).collect::<Vec<_>>();
    check(&format!("{{{}}}\n", entries("a")), &changes, &format!("{{{}}}\n", entries("b")));
}

#[test]
fn many_items_are_added_to_one_line_json_in_time() {
    let items = |count| numbered(count, |number| format!("{{\"n\":{number}}}")).join(",");
    let item = |number: usize| NewValue::Object(vec![("n".to_owned(), NewValue::Number(number.into()))]);
    let changes: Vec<Change> =
        (COUNT..2 * COUNT).map(|number| set(&format!("list/{number}"), item(number))).collect();
    let text = |count| format!("{{\"list\":[{}]}}", items(count));
    check(&text(COUNT), &changes, &text(2 * COUNT));
}

#[test]
fn many_flow_items_are_changed_and_added_in_time() {
    let changes: Vec<Change> =
        (0..2 * COUNT).map(|number| set(&format!("list/{number}"), format!("b{number}"))).collect();
    let text = |letter, count| {
        format!("list: [{}]\n", numbered(count, |number| format!("{letter}{number}")).join(", "))
    };
    check(&text('a', COUNT), &changes, &text('b', 2 * COUNT));
}

#[test]
fn many_items_are_added_before_the_first_in_time() {
    let items = numbered(MANY, |number| format!("i{number}"));
    let values =
        items.iter().map(|item| NewValue::from(item.as_str())).chain([NewValue::from("last")]).collect();
    let after = format!("list: [{}, last]\n", items.join(", "));
    check("list: [last]\n", &[set("list", NewValue::List(values))], &after);
}

#[test]
fn many_flow_items_are_removed_in_time() {
    let text = |count| format!("list: [{}]\n", numbered(count, |number| format!("i{number}")).join(", "));
    let changes: Vec<Change> =
        (1..2 * COUNT).rev().map(|number| Change::Remove { path: path(&format!("list/{number}")) }).collect();
    check(&text(2 * COUNT), &changes, &text(1));
}

#[test]
fn many_keys_are_added_to_an_object_in_time() {
    let changes: Vec<Change> = (0..MANY).map(|number| set(&format!("k{number}"), "v")).collect();
    let after = numbered(MANY, |number| format!("k{number}: v\n")).concat();
    check("", &changes, &after);
}

#[test]
fn many_keys_are_removed_from_an_object_in_time() {
    let text = numbered(MANY, |number| format!("k{number}: v\n")).concat();
    let changes: Vec<Change> = (1..MANY)
        .map(|number| Change::Remove { path: vec![crate::Step::Key(format!("k{number}"))] })
        .collect();
    check(&text, &changes, "k0: v\n");
}

#[test]
fn many_items_are_added_after_a_long_line_in_time() {
    let long = numbered(COUNT, |number| format!("i{number}")).join(", ");
    let added = || numbered(COUNT, |number| format!("- [i{number}]\n")).concat();
    let changes: Vec<Change> = (0..COUNT)
        .map(|number| {
            set(&format!("{}", number + 1), NewValue::List(vec![format!("i{number}").as_str().into()]))
        })
        .collect();
    let text = format!("- [{long}]\n");
    check(&text, &changes, &(text.clone() + &added()));
}

#[test]
fn many_entries_are_added_after_comments_in_time() {
    let text = String::from("a: 1\n") + &"  # note\n".repeat(COUNT);
    let changes: Vec<Change> = (0..COUNT).map(|number| set(&format!("k{number}"), "v")).collect();
    let added = numbered(COUNT, |number| format!("k{number}: v\n")).concat();
    check(&text, &changes, &(text.clone() + &added));
}
