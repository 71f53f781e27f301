mod document;
mod property;
mod time;

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::read_json;

/// Invisible characters and their notation in the cases.
const SHOWN: [(&str, &str); 2] = [("\r", "␍"), ("\u{FEFF}", "⟦BOM⟧")];

/// Marks a text without a final line break.
const NO_BREAK: &str = "∎\n";

fn shown(text: &str) -> String {
    let text = SHOWN.iter().fold(text.to_owned(), |text, (raw, shown)| text.replace(raw, shown));
    if text.is_empty() || text.ends_with('\n') { text } else { text + NO_BREAK }
}

fn raw(text: &str) -> String {
    let text = SHOWN.iter().fold(text.to_owned(), |text, (raw, shown)| text.replace(shown, raw));
    text.strip_suffix(NO_BREAK).map(str::to_owned).unwrap_or(text)
}

/// Parses a path such as `spec/parameters/0`.
fn path(text: &str) -> Vec<Step> {
    let step = |step: &str| match step.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Key(step.to_owned()),
    };
    text.split('/').filter(|step| !step.is_empty()).map(step).collect()
}

/// Parses one change per line: `set PATH JSON` or `remove PATH`. `at LINE:COLUMN` sets the target.
fn read_changes(lines: &str) -> (Target, Vec<Change>) {
    let mut target = Target::FirstDocument;
    let mut changes = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').expect(line);
        match word {
            "at" => {
                let (line, column) = rest.split_once(':').expect(rest);
                let number = |text: &str| text.parse().expect(rest);
                target = Target::At(Position { line: number(line), column: number(column) });
            }
            "set" => {
                let (place, value) = rest.split_once(' ').expect(rest);
                let value = NewValue::from(&read_json(value.as_bytes()).expect(value));
                changes.push(Change::Set { path: path(place), value });
            }
            "remove" => changes.push(Change::Remove { path: path(rest) }),
            _ => panic!("{line}"),
        }
    }
    (target, changes)
}

fn outcome(before: &str, target: Target, changes: &[Change]) -> String {
    match edit(before.as_bytes(), target, changes) {
        Ok(after) => format!("==== after\n{}", shown(std::str::from_utf8(&after).expect("UTF-8"))),
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            format!("==== error\n{error}{}\n", source.unwrap_or_default())
        }
    }
}

/// Runs the cases of a file: `######## RULE`, `==== before`, `==== changes`, then `==== after` or `==== error`.
#[track_caller]
fn check_file(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/edit").join(name);
    let text = std::fs::read_to_string(&path).expect("the cases");
    let mut actual = String::new();
    for case in text.split("######## ").skip(1) {
        let (rule, case) = case.split_once('\n').expect(case);
        let (_, case) = case.split_once("==== before\n").expect(rule);
        let (before, case) = case.split_once("==== changes\n").expect(rule);
        let changes = case.split("==== ").next().unwrap_or_default();
        let (target, list) = read_changes(changes);
        write!(actual, "######## {rule}\n==== before\n{before}==== changes\n{changes}")
            .expect("writing to a string");
        actual += &outcome(&raw(before), target, &list);
    }
    tiphys_testkit::fixture::compare(&path, &actual);
}

macro_rules! files {
    ($($rule:ident: $file:literal),* $(,)?) => {
        $(#[test]
        fn $rule() {
            check_file($file);
        })*
    };
}

files! {
    applications_keep_their_formatting: "applications.txt",
    scalars_keep_their_style: "scalars.txt",
    block_entries_and_items_are_added_and_removed: "block.txt",
    flow_collections_stay_in_flow_style: "flow.txt",
    json_stays_json: "json.txt",
    shared_values_are_not_changed_silently: "anchors.txt",
}

#[test]
fn only_utf_8_is_accepted() {
    let changes = [Change::Set { path: path("a"), value: "x".into() }];
    let utf16: Vec<u8> = "\u{FEFF}a: 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(edit(&utf16, Target::FirstDocument, &changes), Err(EditError::Utf16));
    let error = Error::at(Position { line: 2, column: 5 }, "invalid UTF-8");
    assert_eq!(
        edit(b"a: 1\nb: \xC3\xA9\xFF", Target::FirstDocument, &changes),
        Err(EditError::Unreadable(error))
    );
}
