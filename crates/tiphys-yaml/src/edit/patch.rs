//! Byte patches and their application.

use std::ops::Range;

/// Patches that do not overlap, except for deletions.
#[derive(Debug, Default)]
pub(super) struct Patches {
    list: Vec<Patch>,
    line_break: &'static str,
}

#[derive(Debug)]
struct Patch {
    range: Range<usize>,
    text: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bytes,
    /// Whole lines, which begin on a new line.
    Lines,
}

impl Patches {
    /// Returns an empty list. `line_break` is the end of new lines.
    pub(super) fn new(line_break: &'static str) -> Self {
        Self { list: Vec::new(), line_break }
    }

    pub(super) fn delete(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.replace(at..at, text);
    }

    /// Replaces a range. Line breaks of `text` are converted to those of the file.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str) {
        if !range.is_empty() || !text.is_empty() {
            self.list.push(Patch { range, text: text.replace('\n', self.line_break), kind: Kind::Bytes });
        }
    }

    /// Inserts lines, each with its line break. `at` is the start of a line or the end of the text.
    pub(super) fn insert_lines(&mut self, at: usize, lines: &str) {
        if !lines.is_empty() {
            self.list.push(Patch {
                range: at..at,
                text: lines.replace('\n', self.line_break),
                kind: Kind::Lines,
            });
        }
    }

    /// Returns whether lines are inserted here.
    pub(super) fn has_lines_at(&self, at: usize) -> bool {
        self.list.iter().any(|patch| patch.kind == Kind::Lines && patch.range.start == at)
    }

    /// Sorts the patches. Returns `false` if some overlap.
    pub(super) fn settle(&mut self) -> bool {
        // The sort is stable, so insertions at one offset keep their order.
        self.list.sort_by_key(|patch| (patch.range.start, patch.range.end));
        let mut end = 0;
        for patch in &self.list {
            if patch.range.start < end && !patch.text.is_empty() {
                return false;
            }
            end = end.max(patch.range.end);
        }
        true
    }

    /// Returns the replaced ranges.
    pub(super) fn ranges(&self) -> Vec<Range<usize>> {
        self.list.iter().map(|patch| patch.range.clone()).collect()
    }

    /// Returns the preferred new text, and alternatives.
    pub(super) fn results(&self, text: &str) -> Vec<String> {
        let result = self.applied(text);
        let has_final_break = text.is_empty() || text.ends_with(['\n', '\r']);
        if self.list.is_empty() || has_final_break {
            return vec![result];
        }
        // The last line had no break and should have none again, but a final block scalar may need it.
        match result.strip_suffix(self.line_break) {
            Some(stripped) => vec![stripped.to_owned(), result],
            None => vec![result],
        }
    }

    fn applied(&self, text: &str) -> String {
        let added: usize = self.list.iter().map(|patch| patch.text.len()).sum();
        let mut result = String::with_capacity(text.len() + added);
        let mut done = 0;
        for Patch { range, text: new, kind } in &self.list {
            result.push_str(text.get(done..range.start).unwrap_or_default());
            if *kind == Kind::Lines
                && !result.is_empty()
                && !result.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
            {
                result.push_str(self.line_break);
            }
            result.push_str(new);
            done = done.max(range.end);
        }
        result.push_str(text.get(done..).unwrap_or_default());
        result
    }
}
