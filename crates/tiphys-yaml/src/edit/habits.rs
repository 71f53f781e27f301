//! Detects the style of a file, so that additions match it.

use super::lines::Lines;
use crate::reader::ScalarStyle;
use crate::reader::spans::{Collection, CollectionKind, Layout, Shape, Span, Tree};

/// The maximum indentation indicator of a block scalar.
const STEP_COLUMNS_MAX: usize = 9;

/// The style of a whole file. The defaults are those of `kubectl`.
#[derive(Debug)]
pub(super) struct Habits {
    /// Columns from an object to an object that is the value of one of its keys.
    pub(super) object_step: usize,
    /// Columns from an object to the dashes of a list that is the value of one of its keys.
    pub(super) list_step: usize,
    pub(super) quote: Quote,
    pub(super) manner: Manner,
    pub(super) line_break: &'static str,
    /// The indentation of each level in multi-line JSON; `None` if it is in one line.
    pub(super) json_unit: Option<String>,
    /// The white space after colons in JSON.
    pub(super) json_gap: &'static str,
}

/// The preferred quotes of a string that requires them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Single,
    Double,
}

/// Whether readability may influence the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Multi-line strings are block scalars, and additions are separated by empty lines where others are.
    Neat,
    /// Multi-line strings are quoted, and no empty lines are added. Used if the content below allows neither.
    Safe,
}

impl Habits {
    pub(super) fn of(text: &str, lines: &Lines<'_>, tree: &Tree, manner: Manner) -> Self {
        let mut object_steps = Counts::default();
        let mut list_steps = Counts::default();
        let (mut single, mut double) = (0_usize, 0_usize);
        for span in tree.spans() {
            match &span.shape {
                Shape::Scalar(ScalarStyle::SingleQuoted) => single += 1,
                Shape::Scalar(ScalarStyle::DoubleQuoted) => double += 1,
                Shape::Collection(collection) => {
                    for child in block_values(span, collection, tree) {
                        match child.kind {
                            CollectionKind::Object => object_steps.add(child.step),
                            CollectionKind::List => list_steps.add(child.step),
                        }
                    }
                }
                Shape::Scalar(_) | Shape::Nothing | Shape::Alias => {}
            }
        }
        let (json_unit, json_gap) = if tree.is_json { json_habits(lines, tree) } else { (None, " ") };
        Self {
            object_step: object_steps.most_common().unwrap_or(2).clamp(1, STEP_COLUMNS_MAX),
            list_step: list_steps.most_common().unwrap_or(0),
            quote: if single > double { Quote::Single } else { Quote::Double },
            manner,
            line_break: line_break(text),
            json_unit,
            json_gap,
        }
    }
}

/// A block collection that is the value of a key.
pub(super) struct BlockValue {
    pub(super) kind: CollectionKind,
    /// Columns relative to the key.
    pub(super) step: usize,
}

/// Returns the values of an object that are block collections.
pub(super) fn block_values<'a>(
    span: &'a Span,
    collection: &'a Collection,
    tree: &'a Tree,
) -> impl DoubleEndedIterator<Item = BlockValue> + 'a {
    let is_block_object = collection.layout == Layout::Block && collection.kind == CollectionKind::Object;
    let children = if is_block_object { collection.children.as_slice() } else { &[] };
    children.iter().filter_map(move |child| {
        let value = &tree[child.value];
        let inner = value.collection().filter(|inner| inner.layout == Layout::Block)?;
        Some(BlockValue { kind: inner.kind, step: value.column.checked_sub(span.column)? })
    })
}

fn line_break(text: &str) -> &'static str {
    match text.find(['\n', '\r']) {
        Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with("\r\n")) => "\r\n",
        Some(at) if text.get(at..).is_some_and(|rest| rest.starts_with('\r')) => "\r",
        _ => "\n",
    }
}

/// Returns the indentation of multi-line JSON, and the white space after colons.
fn json_habits(lines: &Lines<'_>, tree: &Tree) -> (Option<String>, &'static str) {
    let unit = tree.collections().find_map(|(span, collection)| {
        let child = collection.children.first().filter(|child| lines.is_first(child.lead))?;
        let unit = lines.indentation(child.lead).strip_prefix(lines.indentation(span.content))?;
        Some(unit.to_owned())
    });
    let gap = tree.collections().flat_map(|(_, collection)| &collection.children).find_map(|child| {
        let colon = child.colon?;
        Some(if tree[child.value].content > colon { " " } else { "" })
    });
    // Without any evidence, the default is a blank after colons.
    (unit, gap.unwrap_or(" "))
}

/// Counts occurrences of numbers.
#[derive(Default)]
struct Counts(Vec<(usize, usize)>);

impl Counts {
    fn add(&mut self, number: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == number) {
            Some((_, count)) => *count += 1,
            None => self.0.push((number, 1)),
        }
    }

    /// Returns the most frequent number; of several, the one that occurred first.
    fn most_common(&self) -> Option<usize> {
        self.0.iter().rev().max_by_key(|(_, count)| *count).map(|(number, _)| *number)
    }
}
