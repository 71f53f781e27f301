//! Comments and key order of values files.

use std::collections::HashMap;

use tiphys_helm_values::PathItem;
use tiphys_yaml::{Data, LIMITS, Limits, Node, read_documents_within};

use super::GLOBAL;

/// Maximum length of a comment in characters.
const COMMENT_CHARS_MAX: usize = 1_000;

/// Notes on a value, and on those below it.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Position of the key among those of all files, from 0. `None` sorts last.
    rank: Option<usize>,
    /// The comment above the key.
    comment: String,
    below: HashMap<PathItem, Notes>,
    /// Descriptions elsewhere in the file, by name of the value (`@param`).
    elsewhere: HashMap<String, String>,
    next_rank: usize,
}

/// The lines of a file.
struct Lines<'a> {
    lines: Vec<&'a str>,
    /// Indentation and preceding comment, by line number.
    comments: HashMap<usize, (usize, String)>,
}

impl Notes {
    /// Adds a file at a place among the values. Notes of earlier files take precedence. A file with more than `nodes_max` keys and values
    /// is ignored.
    pub(super) fn add(&mut self, place: &[&str], text: &[u8], nodes_max: usize) {
        let limits = Limits { nodes_max, ..LIMITS };
        // The reader of values reports invalid YAML.
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
            // Globals of a subchart are shared by all charts.
            if let Some(globals) = document.get(GLOBAL).filter(|_| !place.is_empty()) {
                let notes = self.below.entry(PathItem::Key(GLOBAL.to_owned())).or_default();
                notes.add_node(globals, &mut lines, &mut next_rank);
            }
        }
        self.next_rank = next_rank;
    }

    /// Returns the notes on a key or an item of this value.
    pub(super) fn of(&self, item: &PathItem) -> Option<&Self> {
        self.below.get(item)
    }

    /// Returns the description of a value by name (`@param`).
    pub(super) fn elsewhere(&self, name: &str) -> Option<&str> {
        self.elsewhere.get(name).map(String::as_str)
    }

    /// The comment above the key; may be empty.
    pub(super) fn comment(&self) -> &str {
        &self.comment
    }

    /// Sort key: the order in which values were written.
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
    /// Returns the comment above a key that starts its line. Cached, since aliases can repeat a key any number of times.
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

/// Returns the comment at the end of these lines, if it is indented like the key below. Other indentation usually marks an example for the
/// value above. Lines for tools (`@schema`, `@section`) and helm-docs prefixes are removed.
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

/// Splits a line such as `## @param image.tag [string] Tag of the image` into name and description.
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

/// Limits the length of a description.
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
