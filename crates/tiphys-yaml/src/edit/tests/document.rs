//! Generates texts in all common styles from random numbers.

use std::fmt::Write as _;

/// A source of decisions. When the numbers are used up, each decision is the first choice.
pub(super) struct Choices {
    data: Vec<u16>,
    at: usize,
}

impl Choices {
    pub(super) fn new(data: Vec<u16>) -> Self {
        Self { data, at: 0 }
    }

    /// Returns a number below `count`.
    pub(super) fn next(&mut self, count: usize) -> usize {
        let number = self.data.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(number) % count.max(1)
    }
}

/// A generated text with the properties that a test needs.
pub(super) struct Document {
    pub(super) text: String,
    /// Whether some changes may be impossible: it has aliases or keys after `?`.
    pub(super) is_hard: bool,
    /// The maximum number of lines of a scalar.
    pub(super) scalar_lines_max: usize,
    /// Scalars without anchors and tags.
    pub(super) scalars: Vec<Scalar>,
}

/// The range of a scalar.
#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) path: String,
    pub(super) start: usize,
    /// The end of its last line.
    pub(super) end: usize,
}

/// The style of a text, and the text written so far.
struct Writer<'c> {
    choices: &'c mut Choices,
    text: String,
    step: usize,
    list_step: usize,
    dash: usize,
    notes: usize,
    anchors: Vec<(String, bool)>,
    uses_anchors: bool,
    is_hard: bool,
    /// Whether the last value was a block scalar.
    is_after_block: bool,
    scalars: Vec<Scalar>,
}

const KEYS: [&str; 12] = [
    "a",
    "name",
    "string",
    "spec",
    "'quoted'",
    "\"double\"",
    "with blank",
    "key:colon",
    "é",
    "0",
    "true",
    "x.y/z",
];

/// The paths of the keys in messages.
const KEY_TEXTS: [&str; 12] =
    ["a", "name", "string", "spec", "quoted", "double", "with blank", "key:colon", "é", "0", "true", "x.y/z"];

const PLAIN: [&str; 10] = ["x", "two words", "1", "0x1F", "1.50", "yes", "null", "~", "a:b", "2001-12-14"];

impl Document {
    pub(super) fn generate(choices: &mut Choices) -> Self {
        let step = [2, 4, 1, 3][choices.next(4)];
        let mut writer = Writer {
            step,
            list_step: [0, step, 2][choices.next(3)],
            dash: [2, 2, 3, 4][choices.next(4)],
            uses_anchors: choices.next(3) == 1,
            choices,
            text: String::new(),
            notes: 0,
            anchors: Vec::new(),
            is_hard: false,
            is_after_block: false,
            scalars: Vec::new(),
        };
        writer.stream();
        let Writer { choices, mut text, is_hard, mut scalars, .. } = writer;
        if choices.next(5) == 1 && text.ends_with('\n') {
            text.pop();
            for scalar in &mut scalars {
                scalar.end = scalar.end.min(text.len());
            }
        }
        // Until here, offsets assume `\n` as line end and no byte-order mark.
        let (is_windows, has_mark) = (choices.next(4) == 1, choices.next(6) == 1);
        if is_windows {
            for scalar in &mut scalars {
                scalar.start += text.get(..scalar.start).unwrap_or_default().matches('\n').count();
                scalar.end += text.get(..scalar.end).unwrap_or_default().matches('\n').count();
            }
            text = text.replace('\n', "\r\n");
        }
        if has_mark {
            for scalar in &mut scalars {
                scalar.start += 3;
                scalar.end += 3;
            }
            text.insert(0, '\u{FEFF}');
        }
        Self { text, is_hard, scalar_lines_max: 12, scalars }
    }
}

impl Writer<'_> {
    fn stream(&mut self) {
        match self.choices.next(8) {
            0 => return self.json(),
            1 => self.line("---"),
            2 => self.line("%YAML 1.1\n---  # start"),
            _ => {}
        }
        self.lines_between(0);
        match self.choices.next(8) {
            0 => {
                self.flow(0);
                self.comment();
            }
            1 => self.list(0, 0, ""),
            _ => self.object(0, 0, ""),
        }
        self.scalars.retain(|scalar| !scalar.path.is_empty());
        match self.choices.next(5) {
            0 => self.text.push_str("---\nother: document\n"),
            1 => self.text.push_str("...\n"),
            2 => self.text.push_str("\n\n# the end\n"),
            _ => {}
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn indent(&mut self, column: usize) {
        self.text.extend(std::iter::repeat_n(' ', column));
    }

    fn note(&mut self) {
        self.notes += 1;
        write!(self.text, "# note {}", self.notes).expect("writing to a string");
    }

    /// Writes the end of a line, with or without a comment.
    fn comment(&mut self) {
        match self.choices.next(8) {
            1 => self.text.push_str("  "),
            2 | 3 => {
                self.text.push_str("  ");
                self.note();
            }
            4 => {
                self.text.push(' ');
                self.note();
                self.text.push_str(" \t # ");
            }
            _ => {}
        }
        self.text.push('\n');
    }

    /// Writes empty lines and comments, in the given column or another.
    fn lines_between(&mut self, column: usize) {
        for _ in 0..self.choices.next(8).saturating_sub(5) {
            match self.choices.next(4) {
                0 => self.line(""),
                1 if !self.is_after_block => self.line("   "),
                2 if !self.is_after_block => {
                    self.indent(column);
                    self.note();
                    self.line("");
                }
                _ => {
                    let column = self.choices.next(8);
                    // With deeper indentation it would be part of the block scalar above.
                    self.indent(if self.is_after_block { 0 } else { column });
                    self.note();
                    self.line("");
                }
            }
        }
    }

    /// Writes an object. The first key is appended to the text; the others are indented to `column`.
    fn object(&mut self, column: usize, depth: usize, path: &str) {
        let mut used = Vec::new();
        for number in 0..=self.choices.next(4) {
            let mut index = self.choices.next(KEYS.len());
            while used.contains(&index) {
                index = (index + 1) % KEYS.len();
            }
            used.push(index);
            if number > 0 {
                self.lines_between(column);
                self.indent(column);
            }
            let mergeable: Vec<String> = self
                .anchors
                .iter()
                .filter(|(_, is_object)| *is_object)
                .map(|(name, _)| name.clone())
                .collect();
            if !mergeable.is_empty() && self.choices.next(6) == 1 && !path.is_empty() && number == 0 {
                let name = &mergeable[self.choices.next(mergeable.len())];
                self.is_hard = true;
                write!(self.text, "<<: *{name}").expect("writing to a string");
                self.comment();
                self.indent(column);
            }
            let separator = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{separator}{}", KEY_TEXTS[index]);
            if self.choices.next(20) == 1 {
                self.is_hard = true;
                write!(self.text, "? {}\n{}:", KEYS[index], " ".repeat(column)).expect("writing to a string");
            } else {
                write!(self.text, "{}:", KEYS[index]).expect("writing to a string");
            }
            self.value(column, depth + 1, &path, Parent::Object);
        }
    }

    /// Writes a list. The first dash is appended to the text; the others are indented to `column`.
    fn list(&mut self, column: usize, depth: usize, path: &str) {
        for number in 0..=self.choices.next(4) {
            if number > 0 {
                self.lines_between(column);
                self.indent(column);
            }
            self.text.push('-');
            self.value(column, depth + 1, &format!("{path}[{number}]"), Parent::List);
        }
    }

    /// Writes a value after a colon or a dash, up to the end of its last line.
    fn value(&mut self, column: usize, depth: usize, path: &str, parent: Parent) {
        self.is_after_block = false;
        let mut anchor = None;
        if self.uses_anchors {
            match self.choices.next(5) {
                1 => {
                    // An alias needs a finished value. Names are unique, so that an unfinished value does not hide it.
                    self.notes += 1;
                    let name = format!("n{}", self.notes);
                    write!(self.text, " &{name}").expect("writing to a string");
                    anchor = Some(name);
                }
                2 if !self.anchors.is_empty() => {
                    let (name, _) = self.anchors[self.choices.next(self.anchors.len())].clone();
                    self.is_hard = true;
                    write!(self.text, " *{name}").expect("writing to a string");
                    return self.comment();
                }
                _ => {}
            }
        }
        let kind = self.choices.next(if depth > 4 { 5 } else { 10 });
        let is_object = match kind {
            0..=2 => {
                self.scalar(column, path, anchor.is_some());
                false
            }
            3 => {
                // An implicit null.
                self.comment();
                false
            }
            4 => {
                self.text.push(' ');
                self.flow(depth);
                self.comment();
                false
            }
            5 | 6 if parent == Parent::List && anchor.is_none() => {
                self.text.extend(std::iter::repeat_n(' ', self.dash - 1));
                self.object(column + self.dash, depth, path);
                true
            }
            7 if parent == Parent::List && anchor.is_none() => {
                self.text.extend(std::iter::repeat_n(' ', self.dash - 1));
                self.list(column + self.dash, depth, path);
                false
            }
            5 | 6 | 9 => {
                self.comment();
                self.lines_between(column + self.step);
                self.indent(column + self.step);
                self.object(column + self.step, depth, path);
                true
            }
            _ => {
                let step = if parent == Parent::Object { self.list_step } else { self.step };
                self.comment();
                self.lines_between(column + step);
                self.indent(column + step);
                self.list(column + step, depth, path);
                false
            }
        };
        self.anchors.extend(anchor.map(|name| (name, is_object)));
    }

    /// Writes a scalar after a colon or a dash, with its comment.
    fn scalar(&mut self, column: usize, path: &str, has_anchor: bool) {
        if self.choices.next(12) == 1 {
            self.text.push_str(" !!str");
        }
        let has_tag = self.text.ends_with("!!str");
        self.text.push(' ');
        let start = self.text.len();
        let lines = self.step.max(1);
        match self.choices.next(9) {
            0 => self.text.push_str("'single'"),
            1 => self.text.push_str("\"double\""),
            2 => {
                self.text.push_str("\"over\n");
                self.indent(column + lines);
                self.text.push_str("two \\n lines\"");
            }
            3 => {
                self.text.push_str("plain\n");
                self.indent(column + lines);
                self.text.push_str("lines");
            }
            4 | 5 => {
                let header = ["|", "|-", ">-", "|+", "|2-", ">"][self.choices.next(6)];
                let indentation = if header.contains('2') { column + 2 } else { column + lines };
                self.text.push_str(header);
                self.comment();
                for number in 0..=self.choices.next(3) {
                    self.indent(indentation);
                    // The first line determines the indentation.
                    let first = if number == 0 && !header.contains('2') { 2 } else { 3 };
                    let line = ["text", "# no comment", "  deeper"][self.choices.next(first)];
                    self.line(line);
                    if self.choices.next(5) == 1 {
                        self.line("");
                    }
                }
                self.is_after_block = true;
                // A scalar with `|+` includes the empty lines that follow.
                return self.found(path, start, has_tag || has_anchor || header == "|+");
            }
            _ => self.text.push_str(PLAIN[self.choices.next(PLAIN.len())]),
        }
        self.comment();
        self.found(path, start, has_tag || has_anchor);
    }

    fn found(&mut self, path: &str, start: usize, is_left_out: bool) {
        if !is_left_out {
            self.scalars.push(Scalar { path: path.to_owned(), start, end: self.text.len() });
        }
    }

    /// Writes a flow collection, in one line or in several.
    fn flow(&mut self, depth: usize) {
        let is_object = self.choices.next(2) == 0;
        let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
        let count = self.choices.next(4);
        let has_lines = self.choices.next(4) == 1;
        let comma = if has_lines { ",\n      " } else { [", ", ",", " , "][self.choices.next(3)] };
        let padding = if has_lines { "\n      " } else { ["", " "][self.choices.next(2)] };
        self.text.push(open);
        self.text.push_str(padding);
        for number in 0..count {
            if number > 0 {
                self.text.push_str(comma);
            }
            if is_object {
                let key = ["a", "'b c'", "\"d\"", "e"][(number + depth) % 4];
                self.text.push_str(key);
                match self.choices.next(6) {
                    0 => {
                        // Without a value. The blank separates the comma from the key.
                        self.text.push(' ');
                        continue;
                    }
                    1 => {
                        self.text.push_str(": ");
                        continue;
                    }
                    _ => self.text.push_str(": "),
                }
            }
            match self.choices.next(if depth > 5 { 3 } else { 5 }) {
                0 => self.text.push_str(PLAIN[self.choices.next(PLAIN.len())]),
                1 => self.text.push_str("'single'"),
                2 => self.text.push_str("\"double\""),
                3 if !is_object => self.text.push_str("pair: value"),
                _ => self.flow(depth + 1),
            }
        }
        if count > 0 && self.choices.next(4) == 1 {
            self.text.push(',');
        }
        if count > 0 {
            self.text.push_str(if has_lines { "\n    " } else { padding });
        }
        self.text.push(close);
    }

    fn json(&mut self) {
        let unit = ["", "  ", "\t"][self.choices.next(3)];
        self.json_value(0, unit);
        self.line("");
    }

    fn json_value(&mut self, depth: usize, unit: &str) {
        let new_line =
            |depth: usize| if unit.is_empty() { String::new() } else { format!("\n{}", unit.repeat(depth)) };
        let gap = if unit.is_empty() { "" } else { " " };
        let kind = self.choices.next(if depth > 3 { 4 } else { 6 });
        match kind {
            _ if depth == 0 || kind > 3 => {
                let is_object = self.choices.next(3) > 0;
                self.text.push(if is_object { '{' } else { '[' });
                let count = self.choices.next(4);
                for number in 0..count {
                    let comma = if number > 0 { "," } else { "" };
                    write!(self.text, "{comma}{}", new_line(depth + 1)).expect("writing to a string");
                    if is_object {
                        write!(self.text, "\"{}\":{gap}", ["a", "b c", "\\u00e9", "\\/"][number])
                            .expect("writing to a string");
                    }
                    self.json_value(depth + 1, unit);
                }
                if count > 0 {
                    self.text.push_str(&new_line(depth));
                }
                self.text.push(if is_object { '}' } else { ']' });
            }
            _ => self.text.push_str(["1", "\"text\"", "null", "\"\\ud83d\\ude00 \\/\""][kind]),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Object,
    List,
}
