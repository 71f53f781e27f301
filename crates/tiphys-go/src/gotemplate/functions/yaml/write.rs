//! YAML as Go's `sigs.k8s.io/yaml` writes it: go-yaml's styles of strings and order of keys.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::plain::is_plain_string;
use crate::gotemplate::number;
use crate::gotemplate::unicode::{is_digit, is_letter};

/// Columns of a level.
const INDENTATION: usize = 2;

/// Bytes of a key that needs no `?` before it.
const SIMPLE_KEY_BYTES_MAX: usize = 128;

/// Writes a value, with a final line break.
pub(super) fn write(value: &Value) -> String {
    let mut out = String::new();
    write_node(&mut out, value, 0, Place::Root);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Position of a value in the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// After `- `.
    Item,
    /// After `key:`.
    Entry,
}

/// Writes a value whose lines begin at a column.
fn write_node(out: &mut String, value: &Value, column: usize, place: Place) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            // A list below a key is not indented.
            let column = if place == Place::Entry { column - INDENTATION } else { column };
            for (index, item) in items.iter().enumerate() {
                begin(out, column, place, index);
                out.push_str("- ");
                write_node(out, item, column + INDENTATION, Place::Item);
            }
        }
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in sorted(map).into_iter().enumerate() {
                begin(out, column, place, index);
                write_entry(out, key.0, value, column);
            }
        }
        scalar => {
            if place == Place::Entry {
                out.push(' ');
            }
            write_scalar(out, scalar, column);
        }
    }
}

/// Begins the line of an element. The first one after `- ` is on the same line.
fn begin(out: &mut String, column: usize, place: Place, index: usize) {
    if index == 0 && place != Place::Entry {
        return;
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.extend(std::iter::repeat_n(' ', column));
}

fn write_entry(out: &mut String, key: &str, value: &Value, column: usize) {
    let is_simple = !key.contains(is_break) && key.len() <= SIMPLE_KEY_BYTES_MAX;
    if is_simple {
        write_string(out, key, column, Use::Key);
        out.push(':');
        return write_node(out, value, column + INDENTATION, Place::Entry);
    }
    out.push_str("? ");
    write_string(out, key, column + INDENTATION, Use::Value);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.extend(std::iter::repeat_n(' ', column));
    out.push_str(": ");
    write_node(out, value, column + INDENTATION, Place::Item);
}

fn write_scalar(out: &mut String, value: &Value, column: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_string(number)),
        Value::String(text) => write_string(out, text, column, Use::Value),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

/// Writes a number as go-yaml does after it has read the number from JSON: an integer if its JSON is one that fits 64 bits.
fn number_string(number: &Number) -> String {
    let json = tiphys_yaml::write_go_json(&Value::Number(number.clone()));
    match (json.parse::<i64>(), json.parse::<u64>()) {
        (Ok(integer), _) => integer.to_string(),
        (_, Ok(integer)) => integer.to_string(),
        _ => number::general(number.as_f64().unwrap_or(0.0)),
    }
}

/// Whether a string is a key on one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Key,
    Value,
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

/// Which styles can write a string.
#[expect(clippy::struct_excessive_bools, reason = "each is a property of a string")]
struct Analysis {
    is_plain: bool,
    is_single_quoted: bool,
    is_literal: bool,
    has_breaks: bool,
}

fn analyze(text: &str) -> Analysis {
    let mut found =
        Analysis { is_plain: true, is_single_quoted: true, is_literal: !text.is_empty(), has_breaks: false };
    let blank_or_end = |c: Option<char>| c.is_none_or(|c| matches!(c, ' ' | '\t'));
    let space_or_break = |c: char| c == ' ' || is_break(c);
    if text.starts_with("---") || text.starts_with("...") {
        found.is_plain = false;
    }
    if text.starts_with(space_or_break) || text.ends_with(space_or_break) {
        found.is_plain = false;
    }
    if text.ends_with(' ') {
        found.is_literal = false;
    }
    let mut previous = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let is_followed = blank_or_end(characters.peek().copied());
        let is_indicator = match (previous, c) {
            (None, c) if "#,[]{}&*!|>'\"%@`".contains(c) => true,
            (None, '?' | ':' | '-') | (Some(_), ':') => is_followed,
            (Some(previous), '#') => matches!(previous, ' ' | '\t') || is_break(previous) || previous == '\0',
            _ => false,
        };
        if is_indicator {
            found.is_plain = false;
        }
        let is_special = !is_printable(c);
        let is_space_before_break = is_break(c) && previous == Some(' ');
        if is_special || is_space_before_break {
            (found.is_plain, found.is_single_quoted, found.is_literal) = (false, false, false);
        }
        if c == ' ' && previous.is_some_and(is_break) {
            (found.is_plain, found.is_single_quoted) = (false, false);
        }
        if is_break(c) {
            found.has_breaks = true;
            found.is_plain = false;
        }
        previous = Some(c);
    }
    found
}

fn write_string(out: &mut String, text: &str, column: usize, used: Use) {
    let analysis = analyze(text);
    let can_be_literal = text.contains('\n') && analysis.is_literal && used == Use::Value;
    if can_be_literal {
        return write_literal(out, text, column);
    }
    let wants_double =
        text.contains('\n') || !is_plain_string(text) || (used == Use::Key && analysis.has_breaks);
    if wants_double || !analysis.is_single_quoted {
        return write_double_quoted(out, text, column, used);
    }
    let is_plain = analysis.is_plain && !(text.is_empty() && used == Use::Key);
    if is_plain {
        let mut folding = Folding::new(out, column, used);
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            let is_folded = c == ' ' && characters.peek() != Some(&' ') && folding.fold();
            if !is_folded {
                folding.push(c);
            }
        }
        return;
    }
    let mut folding = Folding::new(out, column, used);
    folding.push('\'');
    let mut characters = text.chars().enumerate().peekable();
    while let Some((index, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let is_folded = c == ' ' && index > 0 && next.is_some_and(|next| next != ' ') && folding.fold();
        if !is_folded {
            folding.push(c);
        }
        if c == '\'' {
            folding.push(c);
        }
    }
    folding.push('\'');
}

/// Columns after which a line is folded at the next blank.
const FOLDED_COLUMNS: usize = 80;

/// Writes a string that is folded into several lines.
struct Folding<'a> {
    out: &'a mut String,
    column: usize,
    indentation: usize,
    used: Use,
    is_after_blank: bool,
}

impl<'a> Folding<'a> {
    fn new(out: &'a mut String, indentation: usize, used: Use) -> Self {
        let column = out.chars().rev().take_while(|c| *c != '\n').count();
        Self { out, column, indentation: indentation.max(INDENTATION), used, is_after_blank: false }
    }

    fn push(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
        self.is_after_blank = c == ' ';
    }

    /// Begins a new line instead of a blank, if the line is long enough and there is no blank before.
    fn fold(&mut self) -> bool {
        let is_folded = self.used == Use::Value && !self.is_after_blank && self.column > FOLDED_COLUMNS;
        if is_folded {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', self.indentation));
            self.column = self.indentation;
            self.is_after_blank = true;
        }
        is_folded
    }
}

fn write_literal(out: &mut String, text: &str, column: usize) {
    out.push('|');
    if text.starts_with(' ') || text.starts_with(is_break) {
        write!(out, "{INDENTATION}").expect("writing to a string");
    }
    let mut reversed = text.chars().rev();
    match (reversed.next(), reversed.next()) {
        (Some(last), _) if !is_break(last) => out.push('-'),
        (Some(_), None) => out.push('+'),
        (_, Some(second)) if is_break(second) => out.push('+'),
        _ => {}
    }
    out.push('\n');
    let indentation = column.max(INDENTATION);
    let mut is_line_start = true;
    for c in text.chars() {
        if is_line_start && !is_break(c) {
            out.extend(std::iter::repeat_n(' ', indentation));
        }
        is_line_start = is_break(c);
        out.push(c);
    }
}

fn write_double_quoted(out: &mut String, text: &str, column: usize, used: Use) {
    let mut folding = Folding::new(out, column, used);
    folding.push('"');
    let mut characters = text.chars().enumerate().peekable();
    while let Some((index, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        if c == ' ' && index > 0 && next.is_some() && folding.fold() {
            if next == Some(' ') {
                folding.push('\\');
                folding.is_after_blank = true;
            }
            continue;
        }
        match escaped(c) {
            Some(escape) => escape.chars().for_each(|c| folding.push(c)),
            None => folding.push(c),
        }
    }
    folding.push('"');
}

/// Returns the escape sequence of a character that needs one.
fn escaped(c: char) -> Option<String> {
    let escape = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        c if is_printable(c) => return None,
        c => {
            let number = u32::from(c);
            return Some(match number {
                0..=0xff => format!("\\x{number:02X}"),
                0x100..=0xffff => format!("\\u{number:04X}"),
                _ => format!("\\U{number:08X}"),
            });
        }
    };
    Some(format!("\\{escape}"))
}

/// Returns the entries in go-yaml's order.
fn sorted(map: &Map<String, Value>) -> BTreeMap<Key<'_>, &Value> {
    let mut entries = BTreeMap::new();
    // Collecting would sort a list.
    for (key, value) in map {
        entries.insert(Key(key), value);
    }
    entries
}

/// A key in go-yaml's order: other characters before letters, and digits by their number. A map is sorted with it instead of a list,
/// because the order of keys with digits is not total, and sorting a list may panic then.
#[derive(PartialEq, Eq)]
struct Key<'a>(&'a str);

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b): (Vec<char>, Vec<char>) = (self.0.chars().collect(), other.0.chars().collect());
        let Some(index) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
        let (left, right) = (a[index], b[index]);
        match (is_letter(left), is_letter(right)) {
            (true, true) => return left.cmp(&right),
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => {}
        }
        // A zero after another digit than zero continues a number.
        let has_zero = left == '0' || right == '0';
        let mut digits_before = a[..index].iter().rev().take_while(|c| is_digit(**c));
        let start = i64::from(has_zero && digits_before.any(|c| *c != '0'));
        let number = |text: &[char]| {
            let digits = text[index..].iter().take_while(|c| is_digit(**c));
            digits.fold((start, 0_usize), |(number, count), c| {
                (number.wrapping_mul(10).wrapping_add(i64::from(u32::from(*c)) - 48), count + 1)
            })
        };
        number(&a).cmp(&number(&b)).then(left.cmp(&right))
    }
}
