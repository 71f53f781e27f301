//! Unified diffs as blocks of lines, which the page shows below each other or side by side.

use serde_json::Value;
use tiphys_engine::diff::{DEFAULT_CONTEXT_LINES, unified};
use tiphys_service::documents::ObjectDifferenceDocument;
use tiphys_yaml::write_yaml;

/// More lines than an object has.
const ALL_LINES: usize = 1 << 30;

/// The fewest unchanged lines that are folded.
const FOLDED_LINES_MIN: usize = 4;

/// Consecutive lines of a unified diff, with their prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block<'a> {
    /// Names of files and places of hunks.
    Header(&'a str),
    /// Unchanged lines beside changed ones.
    Same(&'a str),
    /// Other unchanged lines.
    Folded { lines: usize, text: &'a str },
    /// Removed lines, and the added lines that replace them.
    Changed { removed: &'a str, added: &'a str },
}

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Header,
    Same,
    Removed,
    Added,
}

/// Returns the unified diff of an object with all unchanged lines.
pub(crate) fn whole(object: &ObjectDifferenceDocument) -> String {
    let yaml = |side: &Option<Value>| side.as_ref().map(write_yaml).unwrap_or_default();
    unified(&yaml(&object.before), &yaml(&object.after), ALL_LINES)
}

/// Splits a unified diff of one or several files into blocks.
pub(crate) fn blocks(patch: &str) -> Vec<Block<'_>> {
    let runs = runs(patch);
    let mut blocks = Vec::new();
    for (index, &(kind, text)) in runs.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| runs[index].0);
        let after = runs.get(index + 1).map(|run| run.0);
        match kind {
            LineKind::Header => blocks.push(Block::Header(text)),
            LineKind::Same => {
                let context = |kind: Option<LineKind>| match kind {
                    Some(LineKind::Removed | LineKind::Added) => DEFAULT_CONTEXT_LINES,
                    _ => 0,
                };
                blocks.extend(folded(text, context(before), context(after)));
            }
            LineKind::Removed => {
                let added = if after == Some(LineKind::Added) { runs[index + 1].1 } else { "" };
                blocks.push(Block::Changed { removed: text, added });
            }
            LineKind::Added if before == Some(LineKind::Removed) => {}
            LineKind::Added => blocks.push(Block::Changed { removed: "", added: text }),
        }
    }
    blocks
}

/// Returns unchanged lines. The first and the last ones are not folded.
fn folded(text: &str, first: usize, last: usize) -> impl Iterator<Item = Block<'_>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let hidden = lines.len().saturating_sub(first + last);
    let size = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let (start, end) = if hidden < FOLDED_LINES_MIN {
        (0, 0)
    } else {
        (size(&lines[..first]), text.len() - size(&lines[lines.len() - last..]))
    };
    let blocks = [
        Block::Same(&text[..start]),
        Block::Folded { lines: hidden, text: &text[start..end] },
        Block::Same(&text[end..]),
    ];
    blocks.into_iter().filter(|block| match block {
        Block::Same(text) | Block::Folded { text, .. } => !text.is_empty(),
        Block::Header(_) | Block::Changed { .. } => true,
    })
}

/// Returns the lines of each kind that follow each other. Inside a hunk, whose header has the numbers of its lines, `--- ` is a removed line.
fn runs(patch: &str) -> Vec<(LineKind, &str)> {
    let mut runs: Vec<(LineKind, usize, usize)> = Vec::new();
    let (mut old, mut new, mut start) = (0, 0, 0);
    for line in patch.split_inclusive('\n') {
        let last = runs.last().map_or(LineKind::Header, |run| run.0);
        let kind = match line.as_bytes().first() {
            // A missing newline at the end of the line before.
            Some(b'\\') => last,
            Some(b'-') if old > 0 => {
                old -= 1;
                LineKind::Removed
            }
            Some(b'+') if new > 0 => {
                new -= 1;
                LineKind::Added
            }
            _ if old > 0 && new > 0 => {
                (old, new) = (old - 1, new - 1);
                LineKind::Same
            }
            _ => {
                (old, new) = hunk_lengths(line).unwrap_or_default();
                LineKind::Header
            }
        };
        let end = start + line.len();
        match runs.last_mut().filter(|run| run.0 == kind) {
            Some(run) => run.2 = end,
            None => runs.push((kind, start, end)),
        }
        start = end;
    }
    runs.into_iter().map(|(kind, start, end)| (kind, &patch[start..end])).collect()
}

/// Returns the numbers of lines that a hunk has of the old and of the new side.
fn hunk_lengths(header: &str) -> Option<(usize, usize)> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let new = rest.split_once(' ')?.0;
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(old)?, length(new)?))
}

#[cfg(test)]
mod tests;
