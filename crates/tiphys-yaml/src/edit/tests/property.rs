//! Generated texts and changes: a result has exactly the intended value, and unrelated lines stay.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::super::*;
use super::document::{Choices, Document};
use crate::Node;
use crate::reader::all_documents;

/// Returns the values of a text's documents, at least one.
fn values(text: &str) -> Vec<Value> {
    let content = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let (documents, _) = all_documents(content).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    if documents.is_empty() { vec![Value::Null] } else { documents.iter().map(Node::to_value).collect() }
}

/// Strings that are easily parsed as another type.
const TEXTS: [&str; 28] = [
    "x",
    "two words",
    "",
    "yes",
    "0123",
    "1e3",
    "1.10",
    "null",
    "~",
    " leading",
    "trailing ",
    "a: b",
    "#",
    "a #b",
    "- a",
    "[a]",
    "{a}",
    "it's",
    "say \"it\"",
    "back\\slash",
    "one\ntwo",
    "one\ntwo\n",
    "\n",
    " one\n\n two\n\n",
    "tab\there",
    "\u{7}",
    "é\u{85}",
    "9007199254740993",
];

fn scalar(choices: &mut Choices) -> Value {
    match choices.next(8) {
        0 => json!(null),
        1 => json!(true),
        2 => json!(9_007_199_254_740_993_u64),
        3 => json!(-1.5),
        _ => json!(TEXTS[choices.next(TEXTS.len())]),
    }
}

fn new_value(choices: &mut Choices, depth: usize) -> Value {
    match choices.next(if depth > 2 { 4 } else { 7 }) {
        4 => json!([]),
        5 => Value::Array((0..=choices.next(3)).map(|_| new_value(choices, depth + 1)).collect()),
        6 => Value::Object(
            (0..choices.next(4))
                .map(|number| {
                    (format!("k{number}{}", TEXTS[choices.next(TEXTS.len())]), new_value(choices, depth + 1))
                })
                .collect(),
        ),
        _ => scalar(choices),
    }
}

/// The kind of a change, which determines how many lines it may affect.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A scalar replaces a scalar.
    Scalar,
    Other,
}

/// Generates a change and applies it to the value.
fn change(choices: &mut Choices, root: &mut Value) -> (Change, Kind) {
    let mut path = Vec::new();
    let mut pointer = String::new();
    let mut at = &*root;
    loop {
        let down = choices.next(4) > 0;
        match at {
            Value::Object(map) if down && !map.is_empty() => {
                let (key, value) = map.iter().nth(choices.next(map.len())).expect("a key");
                pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                path.push(Step::Key(key.clone()));
                at = value;
            }
            Value::Array(items) if down && !items.is_empty() => {
                let index = choices.next(items.len());
                pointer = format!("{pointer}/{index}");
                path.push(Step::Index(index));
                at = &items[index];
            }
            _ => break,
        }
    }
    let value = root.pointer_mut(&pointer).expect("the value");
    let what = choices.next(4);
    match value {
        Value::Object(map) if what == 0 && !map.is_empty() => {
            let key = map.keys().nth(choices.next(map.len())).expect("a key").clone();
            map.remove(&key);
            path.push(Step::Key(key));
            (Change::Remove { path }, Kind::Other)
        }
        Value::Array(items) if what == 0 && !items.is_empty() => {
            let index = choices.next(items.len());
            items.remove(index);
            path.push(Step::Index(index));
            (Change::Remove { path }, Kind::Other)
        }
        Value::Object(map) if what == 1 => {
            let key = ["new", "yes", "a b", "#", "long key ".repeat(20).as_str()][choices.next(5)].to_owned();
            let new = new_value(choices, 0);
            map.insert(key.clone(), new.clone());
            path.push(Step::Key(key));
            (Change::Set { path, value: new.into() }, Kind::Other)
        }
        Value::Array(items) if what == 1 => {
            let new = new_value(choices, 0);
            path.push(Step::Index(items.len()));
            items.push(new.clone());
            (Change::Set { path, value: new.into() }, Kind::Other)
        }
        Value::Null if what == 0 => {
            let new = scalar(choices);
            *value = json!({ "made": [new] });
            path.extend([Step::Key("made".to_owned()), Step::Index(0)]);
            (Change::Set { path, value: new.into() }, Kind::Other)
        }
        _ => {
            let was_scalar = !value.is_object() && !value.is_array();
            let new = if was_scalar && what > 1 { scalar(choices) } else { new_value(choices, 0) };
            let kind =
                if was_scalar && !new.is_object() && !new.is_array() { Kind::Scalar } else { Kind::Other };
            *value = new.clone();
            (Change::Set { path, value: new.into() }, kind)
        }
    }
}

/// Returns the lines of a text with their frequency.
fn counts(text: &str) -> BTreeMap<&str, usize> {
    text.lines().fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(line).or_default() += 1;
        counts
    })
}

/// Returns the number of lines of the old text that the new one does not have.
fn lost_lines(old: &str, new: &str) -> usize {
    let new = counts(new);
    counts(old)
        .into_iter()
        .map(|(line, count)| count.saturating_sub(new.get(line).copied().unwrap_or(0)))
        .sum()
}

/// Returns the numbers of the comments in a text, which are unique.
fn comments(text: &str) -> Vec<&str> {
    text.match_indices("# note ").filter_map(|(at, _)| text.get(at..)?.split_whitespace().nth(2)).collect()
}

/// Returns the lengths of the common prefix and suffix.
fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let head = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - head;
    let tail = a.bytes().rev().zip(b.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
    (head, tail)
}

fn check(data: Vec<u16>) {
    let mut choices = Choices::new(data);
    let document = Document::generate(&mut choices);
    let text = &document.text;
    let mut intended = values(text);
    let count = 1 + choices.next(3) * choices.next(4);
    let mut changes = Vec::new();
    let mut kind = Kind::Scalar;
    for _ in 0..count {
        let (change, of) = change(&mut choices, &mut intended[0]);
        changes.push(change);
        kind = if of == Kind::Scalar { kind } else { Kind::Other };
    }
    match edit(text.as_bytes(), Target::FirstDocument, &changes) {
        Ok(after) => {
            let after = String::from_utf8(after).expect("UTF-8");
            let details = || format!("{changes:#?}\n{text}\n=>\n{after}");
            assert_eq!(values(&after), intended, "{}", details());
            assert_eq!(after.starts_with('\u{FEFF}'), text.starts_with('\u{FEFF}'));
            if text.contains("\r\n") {
                assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{}", details());
            }
            if kind == Kind::Scalar {
                // Each change affects its own lines only.
                assert_eq!(comments(&after), comments(text), "{}", details());
                let lost = lost_lines(text, &after);
                assert!(lost <= changes.len() * document.scalar_lines_max, "{lost} lines: {}", details());
            }
            if after != *text
                && let [Change::Set { path, value }] = &changes[..]
                && !matches!(value, NewValue::List(_) | NewValue::Object(_))
                && let Some(scalar) = document.scalars.iter().find(|scalar| scalar.path == path_text(path))
            {
                // The text before the scalar and after it is unchanged.
                let (head, tail) = common_ends(text, &after);
                assert!(
                    head >= scalar.start && text.len() - tail <= scalar.end,
                    "{:?} {head} {tail}: {}",
                    scalar,
                    details()
                );
            }
            let unchanged = edit(after.as_bytes(), Target::FirstDocument, &changes[changes.len() - 1..]);
            if let [.., Change::Set { .. }] = &changes[..] {
                assert_eq!(unchanged.as_deref(), Ok(after.as_bytes()), "twice: {}", details());
            }
        }
        Err(error) => {
            let is_allowed =
                document.is_hard && matches!(error, EditError::Shared { .. } | EditError::NotPossible { .. });
            assert!(is_allowed, "{error}: {changes:#?}\n{text}");
        }
    }
}

/// For a long run, raise this and choose another seed: the rarest errors occurred once in some hundred thousand cases.
const CASES: u32 = 4_000;

const SEED: u64 = 1;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        // Deterministic. Failures of long runs are added to the case files.
        rng_seed: RngSeed::Fixed(SEED),
        ..ProptestConfig::default()
    })]

    #[test]
    fn generated_edits_have_exactly_the_intended_value(data in prop::collection::vec(any::<u16>(), 0..200)) {
        check(data);
    }
}
