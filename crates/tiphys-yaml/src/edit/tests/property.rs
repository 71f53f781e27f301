//! Generated texts and changes: a result has exactly the intended value, and the lines that have nothing to do with it stay.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::super::*;
use super::document::{Choices, Document};
use crate::Node;
use crate::reader::all_documents;

/// The values of a text's documents; there is one at least.
fn values(text: &str) -> Vec<Value> {
    let content = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let (documents, _) = all_documents(content).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    if documents.is_empty() { vec![Value::Null] } else { documents.iter().map(Node::to_value).collect() }
}

/// Texts that are easily taken for something else.
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

/// What a change does, to tell how many lines it may touch.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A scalar takes the place of a scalar.
    Scalar,
    Other,
}

/// A change of the value, applied to it.
fn change(choices: &mut Choices, root: &mut Value) -> (Change, Kind) {
    let mut path = Vec::new();
    let mut pointer = String::new();
    let mut at = &*root;
    loop {
        let down = choices.next(4) > 0;
        match at {
            Value::Object(map) if down && !map.is_empty() => {
                let (key, value) = map.iter().nth(choices.next(map.len())).expect("it has keys");
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
    let value = root.pointer_mut(&pointer).expect("it was there");
    let what = choices.next(4);
    match value {
        Value::Object(map) if what == 0 && !map.is_empty() => {
            let key = map.keys().nth(choices.next(map.len())).expect("it has keys").clone();
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

/// Lines of a text with how often they occur.
fn counts(text: &str) -> BTreeMap<&str, usize> {
    text.lines().fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(line).or_default() += 1;
        counts
    })
}

/// How many lines of the old text the new one does not have.
fn lost_lines(old: &str, new: &str) -> usize {
    let new = counts(new);
    counts(old)
        .into_iter()
        .map(|(line, count)| count.saturating_sub(new.get(line).copied().unwrap_or(0)))
        .sum()
}

/// The numbers of the comments in a text, which are unique.
fn comments(text: &str) -> Vec<&str> {
    text.match_indices("# note ").filter_map(|(at, _)| text.get(at..)?.split_whitespace().nth(2)).collect()
}

/// The bytes that both have at the beginning, and those at the end.
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
            let after = String::from_utf8(after).expect("still UTF-8");
            let told = || format!("{changes:#?}\n{text}\n=>\n{after}");
            assert_eq!(values(&after), intended, "{}", told());
            assert_eq!(after.starts_with('\u{FEFF}'), text.starts_with('\u{FEFF}'));
            if text.contains("\r\n") {
                assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{}", told());
            }
            if kind == Kind::Scalar {
                // Each touches its own lines only.
                assert_eq!(comments(&after), comments(text), "{}", told());
                let lost = lost_lines(text, &after);
                assert!(lost <= changes.len() * document.scalar_lines_max, "{lost} lines: {}", told());
            }
            if after != *text
                && let [Change::Set { path, value }] = &changes[..]
                && !matches!(value, NewValue::List(_) | NewValue::Object(_))
                && let Some(scalar) = document.scalars.iter().find(|scalar| scalar.path == path_text(path))
            {
                // The beginning up to the scalar, and everything behind it, is byte for byte as it was.
                let (head, tail) = common_ends(text, &after);
                assert!(
                    head >= scalar.start && text.len() - tail <= scalar.end,
                    "{:?} {head} {tail}: {}",
                    scalar,
                    told()
                );
            }
            let unchanged = edit(after.as_bytes(), Target::FirstDocument, &changes[changes.len() - 1..]);
            if let [.., Change::Set { .. }] = &changes[..] {
                assert_eq!(unchanged.as_deref(), Ok(after.as_bytes()), "twice: {}", told());
            }
        }
        Err(error) => {
            let is_allowed =
                document.is_odd && matches!(error, EditError::Shared { .. } | EditError::NotPossible { .. });
            assert!(is_allowed, "{error}: {changes:#?}\n{text}");
        }
    }
}

/// For a long run raise it and take another seed: the rarest mistakes came once in some hundred thousand cases.
const CASES: u32 = 4_000;

const SEED: u64 = 1;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        // The same cases each time: what a long run finds becomes a case in a file.
        rng_seed: RngSeed::Fixed(SEED),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_generated_change_of_a_generated_text_is_exactly_that(data in prop::collection::vec(any::<u16>(), 0..200)) {
        check(data);
    }
}
