//! What people wrote about values: the order of keys in their files, and the comments above them.

use std::collections::HashMap;

use tiphys_helm_values::PathItem;
use tiphys_yaml::{Data, LIMITS, Limits, Node, read_documents_within};

use super::GLOBAL;

/// Characters of a comment that are kept.
const COMMENT_CHARS_MAX: usize = 1_000;

/// What is known of a value's place, and of those below it.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Which of the keys of all files it was, from 0; what no file has is behind all others.
    rank: Option<usize>,
    /// The comment above its key.
    comment: String,
    below: HashMap<PathItem, Notes>,
    /// Descriptions that stand elsewhere in the file, by the value's name (`@param`).
    elsewhere: HashMap<String, String>,
    next_rank: usize,
}

/// The lines of a file.
struct Lines<'a> {
    lines: Vec<&'a str>,
    /// By the number of a line: how far it is indented, and the comment above it.
    comments: HashMap<usize, (usize, String)>,
}

impl Notes {
    /// Adds what a file says, at a place among the values. What an earlier file said stays. A file with more than `nodes_max` keys and values
    /// says nothing.
    pub(super) fn add(&mut self, place: &[&str], text: &[u8], nodes_max: usize) {
        let limits = Limits { nodes_max, ..LIMITS };
        // What cannot be read here is an error where the values are read.
        let Ok(documents) = read_documents_within(text, limits) else { return };
        let text = String::from_utf8_lossy(text);
        let mut lines = Lines { lines: text.lines().collect(), comments: HashMap::new() };
        let prefix: String = place.iter().flat_map(|key| [key, "."]).collect();
        for (name, description) in lines.lines.iter().filter_map(|line| described_elsewhere(line)) {
            self.elsewhere.entry(format!("{prefix}{name}")).or_insert(description);
        }
        let mut next_rank = self.next_rank;
        for document in &documents {
            let mut notes = &mut *self;
            for key in place {
                notes = notes.below.entry(PathItem::Key((*key).to_owned())).or_default();
            }
            notes.add_node(document, &mut lines, &mut next_rank);
            // Global values of a subchart are those of all.
            if let Some(globals) = document.get(GLOBAL).filter(|_| !place.is_empty()) {
                let notes = self.below.entry(PathItem::Key(GLOBAL.to_owned())).or_default();
                notes.add_node(globals, &mut lines, &mut next_rank);
            }
        }
        self.next_rank = next_rank;
    }

    /// What is known of a key or an item of this value.
    pub(super) fn of(&self, item: &PathItem) -> Option<&Self> {
        self.below.get(item)
    }

    /// The description of a value by its name, where it does not stand above its key.
    pub(super) fn elsewhere(&self, name: &str) -> Option<&str> {
        self.elsewhere.get(name).map(String::as_str)
    }

    /// The comment above the key; empty if there is none.
    pub(super) fn comment(&self) -> &str {
        &self.comment
    }

    /// A number that sorts values as they were written.
    pub(super) fn rank(&self) -> usize {
        self.rank.unwrap_or(usize::MAX)
    }

    fn add_node(&mut self, node: &Node, lines: &mut Lines<'_>, next_rank: &mut usize) {
        match &node.data {
            Data::Mapping(entries) => {
                for entry in entries {
                    let notes = self.below.entry(PathItem::Key(entry.key.text.clone())).or_default();
                    notes.take_rank(next_rank);
                    if notes.comment.is_empty() {
                        let position = entry.key.position;
                        notes.comment = lines.comment_above(position.line, position.column);
                    }
                    notes.add_node(&entry.value, lines, next_rank);
                }
            }
            Data::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.below.entry(PathItem::Index(index)).or_default().add_node(item, lines, next_rank);
                }
            }
            _ => {}
        }
    }

    fn take_rank(&mut self, next_rank: &mut usize) {
        if self.rank.is_none() {
            self.rank = Some(*next_rank);
            *next_rank += 1;
        }
    }
}

impl Lines<'_> {
    /// The comment above a key that is the first thing in its line. Aliases bring one key as often as they like, so it is looked for once.
    fn comment_above(&mut self, line: usize, column: usize) -> String {
        let lines = &self.lines;
        let (indentation, comment) = self.comments.entry(line).or_insert_with(|| {
            let above = line.checked_sub(1).and_then(|index| Some((*lines.get(index)?, lines.get(..index)?)));
            above.map_or_else(Default::default, |(key_line, above)| {
                let indentation = indentation_of(key_line);
                (indentation, comment_at_the_end(above, indentation))
            })
        });
        if *indentation == column.saturating_sub(1) { comment.clone() } else { String::new() }
    }
}

/// The comment in the last of these lines, as far as they are indented like the key below them: what is indented otherwise is mostly an
/// example for the value above. Lines of tools (`@schema`, `@section`) are left out, and so are the signs that tell helm-docs of a
/// description.
fn comment_at_the_end(lines: &[&str], indentation: usize) -> String {
    let above = lines.iter().rev();
    let mut comment: Vec<&str> = above
        .map_while(|line| line.trim_start().strip_prefix('#').filter(|_| indentation_of(line) == indentation))
        .collect();
    comment.reverse();
    let texts = comment.into_iter().map(|line| line.trim_start_matches('#').trim());
    let texts = texts.map(|text| text.strip_prefix("-- ").unwrap_or(text));
    let kept: Vec<&str> = texts.filter(|text| !text.starts_with('@') && !text.is_empty()).collect();
    shortened(&kept.join("\n"))
}

/// The name and the description of a line such as `## @param image.tag [string] Tag of the image`.
fn described_elsewhere(line: &str) -> Option<(&str, String)> {
    let text = line.trim_start().strip_prefix('#')?.trim_start_matches('#').trim_start();
    let (name, text) = text.strip_prefix("@param ")?.trim_start().split_once(' ')?;
    let text = text.trim();
    let text = match text.strip_prefix('[').and_then(|modifiers| modifiers.split_once(']')) {
        Some((_, text)) => text.trim_start(),
        None => text,
    };
    (!text.is_empty()).then(|| (name, shortened(text)))
}

/// A text that people read, of bounded length.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(COMMENT_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

fn indentation_of(line: &str) -> usize {
    line.chars().take_while(|char| *char == ' ').count()
}

#[cfg(test)]
mod tests;
