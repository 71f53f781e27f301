//! Lines of a text, by offsets in bytes. A line ends where YAML 1.1 says: also at U+0085, U+2028 and U+2029.

/// What ends a line; `\r\n` does as one.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A text seen as lines.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Where each line begins, so that no line is walked along for each thing that stands in it.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let behind_breaks = text.match_indices(BREAKS).filter_map(|(at, found)| {
            let end = at + found.len();
            let is_halfway = found == "\r" && text.as_bytes().get(end) == Some(&b'\n');
            (!is_halfway).then_some(end)
        });
        Self { text, starts: std::iter::once(0).chain(behind_breaks).collect() }
    }

    /// How many lines begin here or before.
    fn count_to(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    fn bytes_from(&self, at: usize) -> &'a [u8] {
        self.text.as_bytes().get(at..).unwrap_or_default()
    }

    fn bytes_to(&self, at: usize) -> &'a [u8] {
        self.text.as_bytes().get(..at).unwrap_or_default()
    }

    /// How many bytes the line break has that begins here.
    fn break_at(&self, at: usize) -> usize {
        match self.bytes_from(at) {
            [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
            _ => 0,
        }
    }

    /// How many bytes the line break has that ends here.
    fn break_before(&self, at: usize) -> usize {
        match self.bytes_to(at) {
            [.., b'\r', b'\n'] | [.., 0xC2, 0x85] => 2,
            [.., b'\r' | b'\n'] => 1,
            [.., 0xE2, 0x80, 0xA8 | 0xA9] => 3,
            _ => 0,
        }
    }

    /// Where the line begins that this place is in.
    pub(super) fn start(&self, at: usize) -> usize {
        self.count_to(at).checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or_default()
    }

    /// Where the line ends that this place is in, without its break.
    pub(super) fn end(&self, at: usize) -> usize {
        match self.starts.get(self.count_to(at)) {
            Some(next) => next - self.break_before(*next),
            None => self.text.len(),
        }
    }

    /// Where the next line begins, or the text ends; `end` is the end of a line.
    pub(super) fn next(&self, end: usize) -> usize {
        end + self.break_at(end)
    }

    /// The end, without its break, of the line on which something ends. A block text ends behind its last line break, which is
    /// that of its last line.
    pub(super) fn tail(&self, end: usize) -> usize {
        match self.break_before(end) {
            0 => self.end(end),
            bytes => end - bytes,
        }
    }

    /// Whether only blanks stand before this place on its line.
    pub(super) fn is_first(&self, at: usize) -> bool {
        let before = self.text.get(self.start(at)..at).unwrap_or_default();
        before.bytes().all(is_blank)
    }

    /// Whether only blanks or a comment stand behind this place on its line.
    pub(super) fn is_last(&self, at: usize) -> bool {
        let rest = self.text.get(at..self.end(at)).unwrap_or_default();
        let text = rest.trim_start_matches([' ', '\t']);
        text.is_empty() || text.starts_with('#')
    }

    /// Where the blanks before this place begin.
    pub(super) fn before_blanks(&self, at: usize) -> usize {
        at - self.bytes_to(at).iter().rev().take_while(|byte| is_blank(**byte)).count()
    }

    /// Where the blanks behind this place end.
    pub(super) fn after_blanks(&self, at: usize) -> usize {
        at + self.bytes_from(at).iter().take_while(|byte| is_blank(**byte)).count()
    }

    /// The white space that the line begins with that this place is in.
    pub(super) fn indentation(&self, at: usize) -> &'a str {
        let start = self.start(at);
        self.text.get(start..self.after_blanks(start)).unwrap_or_default()
    }

    /// Where the line above begins, if there is one; `start` is the beginning of a line.
    pub(super) fn above(&self, start: usize) -> Option<usize> {
        match self.break_before(start) {
            0 => None,
            bytes => Some(self.start(start - bytes)),
        }
    }

    /// What the line is that begins here.
    pub(super) fn kind(&self, start: usize) -> Line {
        let text = self.after_blanks(start);
        match self.bytes_from(text).first() {
            Some(b'#') => Line::Comment { column: text - start },
            _ if text >= self.text.len() && start < text => Line::Blank,
            None => Line::None,
            Some(_) if self.break_at(text) > 0 => Line::Blank,
            Some(_) => Line::Content,
        }
    }
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Blank,
    Comment {
        column: usize,
    },
    Content,
    /// The text ends.
    None,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
