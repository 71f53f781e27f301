//! Splitting a stream into YAML documents by lines, before any YAML is parsed.

use std::borrow::Cow;

use crate::Position;

/// The text of at most one document.
#[derive(Debug, PartialEq)]
pub(super) struct Chunk<'a> {
    /// The text, which always ends with a line break, so that a final block scalar keeps its last one.
    pub(super) text: Cow<'a, str>,
    /// The position of its first line.
    pub(super) position: Position,
    /// The position of its first line with content, if that begins with `---` directly followed by text. It is a string in YAML, but
    /// probably a mistyped separator.
    pub(super) glued_separator: Option<Position>,
}

/// An unfinished chunk.
#[derive(Clone, Copy)]
struct Begun {
    offset: usize,
    position: Position,
    has_content: bool,
    glued_separator: Option<Position>,
}

impl Begun {
    fn at(offset: usize, position: Position) -> Self {
        Self { offset, position, has_content: false, glued_separator: None }
    }

    fn add(&mut self, line: &str, kind: &Line, position: Position) {
        if !self.has_content && *kind == Line::Text && line.starts_with("---") {
            self.glued_separator = Some(position);
        }
        self.has_content |= *kind == Line::SeparatorAndContent || !is_blank_or_comment(line);
    }
}

/// The kind of a line.
#[derive(PartialEq)]
enum Line {
    /// `---`, followed by white space or a comment only.
    Separator,
    /// `---`, followed by the beginning of a document. Kubernetes rejects it, although it is valid YAML.
    SeparatorAndContent,
    /// Any other line, including `----` and `---text`.
    Text,
}

impl Line {
    fn of(line: &str) -> Self {
        let Some(rest) = line.strip_prefix("---") else { return Self::Text };
        let trimmed = rest.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            Self::Separator
        } else if rest.starts_with([' ', '\t']) {
            Self::SeparatorAndContent
        } else {
            Self::Text
        }
    }
}

/// Splits a text that begins at `origin`.
pub(super) fn split(text: &str, origin: Position) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    // `None` before the first line of a chunk.
    let mut begun: Option<Begun> = None;
    let mut at_stream_start = true;
    let mut offset = 0;
    let mut position = origin;
    for line in text.split_inclusive('\n') {
        let kind = Line::of(line);
        match (&mut begun, &kind) {
            (Some(chunk), Line::Separator | Line::SeparatorAndContent) => {
                let collected = text.get(chunk.offset..offset).unwrap_or_default();
                let directives = directives_at_end(collected, at_stream_start);
                let (own, tail) = collected.split_at(directives.unwrap_or(collected.len()));
                push(&mut chunks, own, chunk);
                at_stream_start = false;
                begun = if directives.is_some() {
                    // The directives belong to the document after the separator.
                    let lines = own.matches('\n').count();
                    Some(Begun::at(offset - tail.len(), chunk.position.offset(lines, 0)))
                } else if kind == Line::SeparatorAndContent {
                    Some(Begun::at(offset, position))
                } else {
                    None
                };
            }
            (Some(chunk), Line::Text) => chunk.add(line, &kind, position),
            // As in Kubernetes' reader, a separator before any text is part of the chunk.
            (None, _) => {
                let mut chunk = Begun::at(offset, position);
                if kind != Line::Separator {
                    chunk.add(line, &kind, position);
                }
                begun = Some(chunk);
            }
        }
        offset += line.len();
        position = position.offset(1, 0);
    }
    if let Some(chunk) = begun {
        let collected = text.get(chunk.offset..).unwrap_or_default();
        let directives = directives_at_end(collected, false);
        push(&mut chunks, collected.split_at(directives.unwrap_or(collected.len())).0, &chunk);
    }
    chunks
}

fn push<'a>(chunks: &mut Vec<Chunk<'a>>, text: &'a str, begun: &Begun) {
    // End markers without a preceding document are not a document.
    if text.lines().all(|line| is_blank_or_comment(line) || is_end_marker(line)) {
        return;
    }
    // Kubernetes' reader removes `\r` before `\n` and terminates the last line.
    let text =
        if text.contains("\r\r\n") { text.replace("\r\r\n", "\r\n").into() } else { Cow::Borrowed(text) };
    let text = if text.ends_with('\n') { text } else { format!("{text}\n").into() };
    chunks.push(Chunk { text, position: begun.position, glued_separator: begun.glued_separator });
}

/// Returns the offset of directives (`%YAML`, `%TAG`) at the end of the text. They are valid at the beginning of a stream or after an end
/// marker only; elsewhere a line that begins with `%` is content.
fn directives_at_end(text: &str, at_stream_start: bool) -> Option<usize> {
    let mut start = text.len();
    let mut first_directive = None;
    for line in text.split_inclusive('\n').rev() {
        if is_end_marker(line) {
            return first_directive;
        }
        start -= line.len();
        if line.starts_with('%') {
            first_directive = Some(start);
        } else if !is_blank_or_comment(line.strip_prefix('\u{FEFF}').unwrap_or(line)) {
            return None;
        }
    }
    first_directive.filter(|_| at_stream_start)
}

fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start_matches(' ').trim_end_matches(['\r', '\n']);
    // YAML has more line breaks, which end a comment.
    (line.is_empty() || line.starts_with('#')) && !line.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

fn is_end_marker(line: &str) -> bool {
    line.strip_prefix("...").is_some_and(|rest| {
        let trimmed = rest.trim_matches([' ', '\t', '\r', '\n']);
        trimmed.is_empty() || (trimmed.starts_with('#') && rest.starts_with([' ', '\t']))
    })
}

impl Chunk<'_> {
    /// Returns the text after a leading separator, with its position.
    pub(super) fn content(&self) -> (&str, Position) {
        let mut text: &str = &self.text;
        let mut position = self.position;
        if let Some(rest) = text.strip_prefix("---") {
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let skipped = rest.get(..blanks).unwrap_or_default();
            let lines = skipped.matches('\n').count();
            let columns = skipped.rsplit('\n').next().unwrap_or_default().len();
            position = position.offset(lines, if lines == 0 { columns + 3 } else { columns });
            text = rest.get(blanks..).unwrap_or_default();
        }
        (text, position)
    }
}

#[cfg(test)]
mod tests;
