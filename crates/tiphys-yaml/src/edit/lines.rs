//! Lines of a text by byte offset. Line breaks are those of YAML 1.1, including U+0085, U+2028 and U+2029.

/// Line breaks. `\r\n` counts as one.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A text divided into lines.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Start of each line. They are computed once, so that long lines need not be scanned for every part in them.
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

    /// Returns the number of lines that begin at or before an offset.
    fn count_to(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    fn bytes_from(&self, at: usize) -> &'a [u8] {
        self.text.as_bytes().get(at..).unwrap_or_default()
    }

    fn bytes_to(&self, at: usize) -> &'a [u8] {
        self.text.as_bytes().get(..at).unwrap_or_default()
    }

    /// Returns the length of the line break that begins here.
    fn break_at(&self, at: usize) -> usize {
        match self.bytes_from(at) {
            [b'\r', b'\n', ..] | [0xC2, 0x85, ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
            _ => 0,
        }
    }

    /// Returns the length of the line break that ends here.
    fn break_before(&self, at: usize) -> usize {
        match self.bytes_to(at) {
            [.., b'\r', b'\n'] | [.., 0xC2, 0x85] => 2,
            [.., b'\r' | b'\n'] => 1,
            [.., 0xE2, 0x80, 0xA8 | 0xA9] => 3,
            _ => 0,
        }
    }

    /// Returns the start of the line with this offset.
    pub(super) fn start(&self, at: usize) -> usize {
        self.count_to(at).checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or_default()
    }

    /// Returns the end of the line with this offset, without its break.
    pub(super) fn end(&self, at: usize) -> usize {
        match self.starts.get(self.count_to(at)) {
            Some(next) => next - self.break_before(*next),
            None => self.text.len(),
        }
    }

    /// Returns the start of the next line, or the end of the text. `end` is the end of a line.
    pub(super) fn next(&self, end: usize) -> usize {
        end + self.break_at(end)
    }

    /// Returns the end, without its break, of the line on which a value ends. A block scalar ends after the break of its last line.
    pub(super) fn tail(&self, end: usize) -> usize {
        match self.break_before(end) {
            0 => self.end(end),
            bytes => end - bytes,
        }
    }

    /// Returns whether only blanks precede the offset on its line.
    pub(super) fn is_first(&self, at: usize) -> bool {
        let before = self.text.get(self.start(at)..at).unwrap_or_default();
        before.bytes().all(is_blank)
    }

    /// Returns whether only blanks or a comment follow the offset on its line.
    pub(super) fn is_last(&self, at: usize) -> bool {
        let rest = self.text.get(at..self.end(at)).unwrap_or_default();
        let text = rest.trim_start_matches([' ', '\t']);
        text.is_empty() || text.starts_with('#')
    }

    /// Returns the start of the blanks before the offset.
    pub(super) fn before_blanks(&self, at: usize) -> usize {
        at - self.bytes_to(at).iter().rev().take_while(|byte| is_blank(**byte)).count()
    }

    /// Returns the end of the blanks after the offset.
    pub(super) fn after_blanks(&self, at: usize) -> usize {
        at + self.bytes_from(at).iter().take_while(|byte| is_blank(**byte)).count()
    }

    /// Returns the leading white space of the line with this offset.
    pub(super) fn indentation(&self, at: usize) -> &'a str {
        let start = self.start(at);
        self.text.get(start..self.after_blanks(start)).unwrap_or_default()
    }

    /// Returns the start of the previous line, if any. `start` is the start of a line.
    pub(super) fn above(&self, start: usize) -> Option<usize> {
        match self.break_before(start) {
            0 => None,
            bytes => Some(self.start(start - bytes)),
        }
    }

    /// Returns the kind of the line that begins here.
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

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Blank,
    Comment {
        column: usize,
    },
    Content,
    /// The end of the text.
    None,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
