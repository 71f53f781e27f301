//! Where one YAML document of a stream ends and the next begins: a matter of lines, decided before any YAML is read.

use std::borrow::Cow;

use crate::Position;

/// The text of at most one document.
#[derive(Debug, PartialEq)]
pub(super) struct Chunk<'a> {
    /// Always ends with a line break: a block scalar at the very end has its last one too.
    pub(super) text: Cow<'a, str>,
    /// Where the chunk begins.
    pub(super) position: Position,
}

/// What a line is for the splitting.
#[derive(PartialEq)]
enum Line {
    /// `---`, then nothing but white space or a comment.
    Separator,
    /// `---` and then the beginning of the document. Kubernetes refuses it, YAML does not.
    SeparatorAndContent,
    /// Anything else, `----` and `---text` included.
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
    // Where the chunk that is being collected begins; none is before its first line.
    let mut begun: Option<(usize, Position)> = None;
    let mut at_stream_start = true;
    let mut offset = 0;
    let mut position = origin;
    for line in text.split_inclusive('\n') {
        let kind = Line::of(line);
        match (begun, &kind) {
            (Some((start, start_position)), Line::Separator | Line::SeparatorAndContent) => {
                let collected = text.get(start..offset).unwrap_or_default();
                let directives = directives_at_end(collected, at_stream_start);
                let (own, tail) = collected.split_at(directives.unwrap_or(collected.len()));
                push(&mut chunks, own, start_position);
                at_stream_start = false;
                begun = if directives.is_some() {
                    // They belong to the document that the separator begins.
                    let lines = own.matches('\n').count();
                    Some((offset - tail.len(), start_position.offset(lines, 0)))
                } else if kind == Line::SeparatorAndContent {
                    Some((offset, position))
                } else {
                    None
                };
            }
            (Some(_), Line::Text) => {}
            // A separator before any text is part of the chunk, as in Kubernetes' reader.
            (None, _) => begun = Some((offset, position)),
        }
        offset += line.len();
        position = position.offset(1, 0);
    }
    if let Some((start, start_position)) = begun {
        let collected = text.get(start..).unwrap_or_default();
        let directives = directives_at_end(collected, false);
        push(&mut chunks, collected.split_at(directives.unwrap_or(collected.len())).0, start_position);
    }
    chunks
}

fn push<'a>(chunks: &mut Vec<Chunk<'a>>, text: &'a str, position: Position) {
    // End markers without a document before them are no document.
    if text.lines().all(|line| is_blank_or_comment(line) || is_end_marker(line)) {
        return;
    }
    let text = if text.ends_with('\n') { text.into() } else { format!("{text}\n").into() };
    chunks.push(Chunk { text, position });
}

/// Where lines of directives (`%YAML`, `%TAG`) begin that end the text. Directives stand at the beginning of a stream or after
/// an end marker; elsewhere a line that begins with `%` is content.
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
    let line = line.trim_matches([' ', '\r', '\n']);
    line.is_empty() || line.starts_with('#')
}

fn is_end_marker(line: &str) -> bool {
    line.strip_prefix("...").is_some_and(|rest| {
        let trimmed = rest.trim_matches([' ', '\t', '\r', '\n']);
        trimmed.is_empty() || (trimmed.starts_with('#') && rest.starts_with([' ', '\t']))
    })
}

impl Chunk<'_> {
    /// The text after a separator that the chunk begins with, and where that is.
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
