//! Writes new values as text: in block style, in flow style, and as JSON.

use super::NewValue;
use super::habits::{Habits, Manner, Quote};
use crate::json::float_text;
use crate::reader::ScalarStyle;
use crate::writer::style::{Escapes, Indentation, Style, write_double_quoted, write_text};

/// The maximum length in bytes of a key without `?`. Parsers look for the colon within 1,024 characters only.
const SIMPLE_KEY_BYTES_MAX: usize = 128;

/// A value in block style: the text after the key or dash, and the lines below, each with its line break.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) head: String,
    pub(super) lines: String,
}

impl Rendered {
    pub(super) fn flat(head: String) -> Self {
        Self { head, lines: String::new() }
    }

    /// Splits a text at its first line break. The last line must end with one.
    fn of_lines(text: &str) -> Self {
        match text.split_once('\n') {
            Some((head, lines)) => Self { head: head.to_owned(), lines: lines.to_owned() },
            None => Self::flat(text.to_owned()),
        }
    }
}

/// Indentation of nested collections in columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// From an object to an object in it.
    pub(super) object: usize,
    /// From an object to the dashes of a list in it.
    pub(super) list: usize,
    /// From a dash to its item.
    pub(super) dash: usize,
}

/// The style of a flow collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowStyle {
    /// Whether keys and strings are quoted as in JSON.
    pub(super) is_json: bool,
    /// The white space after colons.
    pub(super) gap: &'static str,
    /// The white space after commas, if the collection is in one line.
    pub(super) comma_gap: &'static str,
    /// The white space inside braces.
    pub(super) padding: &'static str,
    /// The indentation of each level, if every item has a line of its own.
    pub(super) unit: Option<String>,
}

/// Writes values in the style of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renderer<'a> {
    pub(super) habits: &'a Habits,
}

impl Renderer<'_> {
    /// Returns the value of a key of an object in `column`.
    pub(super) fn of_key(self, value: &NewValue, column: usize, steps: Steps) -> Rendered {
        let mut text = String::new();
        self.behind_key(&mut text, value, column, steps);
        Rendered::of_lines(text.strip_prefix(' ').unwrap_or(&text))
    }

    /// Returns the item of a list whose dashes are in `column`.
    pub(super) fn of_dash(self, value: &NewValue, column: usize, steps: Steps) -> Rendered {
        let mut text = String::new();
        self.behind_dash(&mut text, value, column, steps);
        Rendered::of_lines(&text)
    }

    /// Returns a whole entry, as lines.
    pub(super) fn entry(self, key: &str, value: &NewValue, column: usize, steps: Steps) -> String {
        let mut text = String::new();
        indent(&mut text, column);
        self.push_entry(&mut text, key, value, column, steps);
        text
    }

    /// Returns a whole item, as lines.
    pub(super) fn item(self, value: &NewValue, column: usize, steps: Steps) -> String {
        let mut text = String::new();
        indent(&mut text, column);
        self.push_item(&mut text, value, column, steps);
        text
    }

    fn push_entry(self, out: &mut String, key: &str, value: &NewValue, column: usize, steps: Steps) {
        let written = self.text(key, None);
        if written.len() > SIMPLE_KEY_BYTES_MAX {
            out.push_str("? ");
            out.push_str(&written);
            out.push('\n');
            indent(out, column);
        } else {
            out.push_str(&written);
        }
        out.push(':');
        self.behind_key(out, value, column, steps);
    }

    fn push_item(self, out: &mut String, value: &NewValue, column: usize, steps: Steps) {
        out.push('-');
        indent(out, steps.dash - 1);
        self.behind_dash(out, value, column, steps);
    }

    /// Writes a value after the colon, with its blank and the final line break.
    fn behind_key(self, out: &mut String, value: &NewValue, column: usize, steps: Steps) {
        // Deeper levels follow the style of the file, not of this collection.
        let inner = Steps { object: self.habits.object_step, list: self.habits.list_step, dash: 2 };
        match value {
            NewValue::Object(entries) if !entries.is_empty() => {
                out.push('\n');
                indent(out, column + steps.object);
                self.push_entries(out, entries, column + steps.object, inner);
            }
            NewValue::List(items) if !items.is_empty() => {
                out.push('\n');
                indent(out, column + steps.list);
                self.push_items(out, items, column + steps.list, inner);
            }
            flat => {
                out.push(' ');
                self.push_flat(out, flat, Indentation { parent: column, step: steps.object });
                out.push('\n');
            }
        }
    }

    /// Writes an item after the dash and its blanks, with the final line break.
    fn behind_dash(self, out: &mut String, value: &NewValue, column: usize, steps: Steps) {
        let inner = Steps { object: self.habits.object_step, list: self.habits.list_step, dash: 2 };
        match value {
            NewValue::Object(entries) if !entries.is_empty() => {
                self.push_entries(out, entries, column + steps.dash, inner);
            }
            NewValue::List(items) if !items.is_empty() => {
                self.push_items(out, items, column + steps.dash, inner);
            }
            flat => {
                self.push_flat(out, flat, Indentation { parent: column, step: 2 });
                out.push('\n');
            }
        }
    }

    /// Writes entries, the first one at the end of the output.
    fn push_entries(self, out: &mut String, entries: &[(String, NewValue)], column: usize, steps: Steps) {
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                indent(out, column);
            }
            self.push_entry(out, key, value, column, steps);
        }
    }

    fn push_items(self, out: &mut String, items: &[NewValue], column: usize, steps: Steps) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                indent(out, column);
            }
            self.push_item(out, item, column, steps);
        }
    }

    fn push_flat(self, out: &mut String, value: &NewValue, indentation: Indentation) {
        match value {
            NewValue::Text(text) => match self.literal_style(text, false) {
                Some(style) => write_text(out, text, style, indentation),
                None => out.push_str(&self.text(text, None)),
            },
            other => out.push_str(&flat(other)),
        }
    }

    /// Returns a string as a literal block scalar. `has_empty_end`: the replaced scalar includes the empty lines below it.
    pub(super) fn literal(
        self,
        text: &str,
        indentation: Indentation,
        has_empty_end: bool,
    ) -> Option<Rendered> {
        let mut out = String::new();
        write_text(&mut out, text, self.literal_style(text, has_empty_end)?, indentation);
        out.push('\n');
        Some(Rendered::of_lines(&out))
    }

    /// Returns the style of a literal. A new one must not end with empty lines, because empty lines below would be part of it.
    fn literal_style(self, text: &str, has_empty_end: bool) -> Option<Style> {
        let style = Some(Style::of(text)).filter(|_| self.habits.manner == Manner::Neat);
        style.filter(|style| {
            matches!(style, Style::Literal { .. }) && (has_empty_end || !text.ends_with("\n\n"))
        })
    }

    /// Returns a string in one line, in the style of the replaced scalar if possible.
    pub(super) fn text(self, text: &str, old: Option<ScalarStyle>) -> String {
        let style = Style::of(text);
        let fits_single = matches!(style, Style::Plain | Style::SingleQuoted);
        let preferred = match self.habits.quote {
            Quote::Single => Style::SingleQuoted,
            // In double quotes, each quote and backslash would need an escape.
            Quote::Double if text.contains(['"', '\\']) => Style::SingleQuoted,
            Quote::Double => Style::DoubleQuoted,
        };
        let style = match (old, style) {
            (_, Style::DoubleQuoted | Style::Literal { .. }) | (Some(ScalarStyle::DoubleQuoted), _) => {
                Style::DoubleQuoted
            }
            (Some(ScalarStyle::SingleQuoted), _) if fits_single => Style::SingleQuoted,
            (_, Style::Plain) => Style::Plain,
            _ => preferred,
        };
        let mut out = String::new();
        write_text(&mut out, text, style, Indentation { parent: 0, step: 1 });
        out
    }

    /// Returns a value in flow style. `indentation` is that of the line on which it begins.
    pub(super) fn flow(
        self,
        value: &NewValue,
        style: &FlowStyle,
        indentation: &str,
        old: Option<ScalarStyle>,
    ) -> String {
        match value {
            NewValue::Text(text) if style.is_json => json_text(text),
            NewValue::Text(text) => self.text(text, old),
            NewValue::List(items) if !items.is_empty() => {
                let parts = items.iter().map(|item| self.flow(item, style, &style.deeper(indentation), None));
                style.bracketed('[', &parts.collect::<Vec<_>>(), ']', indentation)
            }
            NewValue::Object(entries) if !entries.is_empty() => {
                let parts = entries
                    .iter()
                    .map(|(key, value)| self.flow_entry(key, value, style, &style.deeper(indentation)));
                style.bracketed('{', &parts.collect::<Vec<_>>(), '}', indentation)
            }
            other => flat(other),
        }
    }

    /// Returns an entry of an object in braces.
    pub(super) fn flow_entry(
        self,
        key: &str,
        value: &NewValue,
        style: &FlowStyle,
        indentation: &str,
    ) -> String {
        let key = if style.is_json { json_text(key) } else { self.text(key, None) };
        // After an unquoted key, the colon requires a blank.
        let gap = if style.is_json { style.gap } else { " " };
        format!("{key}:{gap}{}", self.flow(value, style, indentation, None))
    }
}

impl FlowStyle {
    fn deeper(&self, indentation: &str) -> String {
        format!("{indentation}{}", self.unit.as_deref().unwrap_or_default())
    }

    fn bracketed(&self, open: char, parts: &[String], close: char, indentation: &str) -> String {
        if self.unit.is_some() {
            let inner = self.deeper(indentation);
            let separator = format!(",\n{inner}");
            return format!("{open}\n{inner}{}\n{indentation}{close}", parts.join(&separator));
        }
        let padding = if open == '{' { self.padding } else { "" };
        format!("{open}{padding}{}{padding}{close}", parts.join(&format!(",{}", self.comma_gap)))
    }
}

/// Formats a scalar or an empty collection.
fn flat(value: &NewValue) -> String {
    match value {
        NewValue::Null => "null".to_owned(),
        NewValue::Bool(value) => value.to_string(),
        NewValue::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => float_text(value),
            _ => number.to_string(),
        },
        NewValue::Text(text) => json_text(text),
        NewValue::List(_) => "[]".to_owned(),
        NewValue::Object(_) => "{}".to_owned(),
    }
}

/// Formats a string as JSON.
fn json_text(text: &str) -> String {
    let mut out = String::new();
    write_double_quoted(&mut out, text, Escapes::Json);
    out
}

fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}
