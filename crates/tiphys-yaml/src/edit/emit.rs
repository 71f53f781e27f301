//! Patches of bytes that make the text what a draft says.

mod block;
mod flow;
mod replace;

use std::collections::HashMap;

use super::NewValue;
use super::draft::{Content, Draft};
use super::habits::{Habits, Manner, block_values};
use super::lines::Lines;
use super::patch::Patches;
use super::render::{FlowStyle, Rendered, Renderer, Steps};
use crate::reader::ScalarStyle;
use crate::reader::spans::{Child, Collection, CollectionKind, Id, Layout, Shape, Span, Tree};

/// Columns from a dash to its item, where nothing says otherwise.
const DASH_STEP: usize = 2;

/// Makes patches.
pub(super) struct Emitter<'a> {
    text: &'a str,
    lines: &'a Lines<'a>,
    tree: &'a Tree,
    habits: Habits,
    patches: Patches,
    /// Where block texts end, and whether all empty lines below belong to them.
    block_ends: HashMap<usize, bool>,
}

/// There is no place for what is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unwritable;

/// Where a value stands.
#[derive(Clone, Debug)]
enum Place<'s> {
    /// It is a document.
    Root,
    /// Behind the colon of an entry by indentation. `behind`: the place behind the colon, which is missing in `? key` alone.
    Key { behind: Option<usize>, column: usize, steps: Steps },
    /// Behind a dash.
    Dash { behind: usize, column: usize },
    /// In brackets. `colon`: what must come before a value that is written where nothing was.
    Flow { behind: usize, colon: &'static str, style: &'s FlowStyle },
}

/// A child of a collection as it shall be.
struct Slot<'d, 'a> {
    from: Option<usize>,
    key: Option<&'d str>,
    value: &'d Draft<'a>,
}

/// Where a new child is put: beside one that stays, which is named by its number.
#[derive(Clone, Copy, Debug)]
enum Beside {
    Before(usize),
    Behind(usize),
}

impl<'a> Emitter<'a> {
    pub(super) fn new(text: &'a str, lines: &'a Lines<'a>, tree: &'a Tree, manner: Manner) -> Self {
        let habits = Habits::of(text, lines, tree, manner);
        let patches = Patches::new(habits.line_break);
        let block_ends = tree
            .spans()
            .filter(|span| scalar_style(span) == Some(ScalarStyle::Block))
            .map(|span| (span.end, header(text, span).contains('+')))
            .collect();
        Self { text, lines, tree, habits, patches, block_ends }
    }

    /// The patches for a target.
    pub(super) fn patches(mut self, target: &Draft<'_>) -> Result<Patches, Unwritable> {
        if let Some(id) = target.origin {
            let style = self.target_flow_style();
            let place = self.place_of_target(id, &style);
            self.draft(target, &place)?;
        } else {
            let value = target.value();
            if value != NewValue::Null {
                let Rendered { head, lines } = self.root(&value);
                self.patches.insert_lines(self.text.len(), &format!("{head}\n{lines}"));
            }
        }
        self.keep_last_block_text();
        if self.patches.settle() { Ok(self.patches) } else { Err(Unwritable) }
    }

    /// A block text at the very end of a text without a final line break has none either. If lines come behind it, it must say so.
    fn keep_last_block_text(&mut self) {
        let end = self.text.len();
        let last = self.tree.spans().find(|span| {
            scalar_style(span) == Some(ScalarStyle::Block) && span.end == end && self.lines.start(end) != end
        });
        let Some(last) = last else { return };
        let is_replaced =
            self.patches.ranges().iter().any(|range| range.start <= last.content && range.end > last.content);
        if is_replaced || !self.patches.has_lines_at(end) {
            return;
        }
        let written = header(self.text, last);
        if !written.contains('-') {
            let range = last.content..last.content + written.len();
            self.patches.replace(range, &format!("{}-", written.replace('+', "")));
        }
    }

    /// Where the target stands: it may be a document or anything in one.
    fn place_of_target<'s>(&self, id: Id, style: &'s FlowStyle) -> Place<'s> {
        let parent = self.tree.collections().find_map(|(span, collection)| {
            let child = collection.children.iter().find(|child| child.value == id)?;
            Some((span, collection, child))
        });
        match parent {
            None if self.tree.is_json => Place::Flow { behind: self.tree[id].content, colon: "", style },
            None => Place::Root,
            Some((span, collection, child)) => {
                let steps = self.steps_in(span, collection);
                Self::place(span, collection, child, steps, style)
            }
        }
    }

    /// Where a child of a collection stands. `steps`: those in the collection.
    fn place<'s>(
        span: &Span,
        collection: &Collection,
        child: &Child,
        steps: Steps,
        style: &'s FlowStyle,
    ) -> Place<'s> {
        match (collection.layout, &child.key) {
            (Layout::Block, Some(_)) => Place::Key { behind: child.colon, column: span.column, steps },
            (Layout::Block, None) => Place::Dash { behind: child.lead + 1, column: span.column },
            (_, Some(_)) => match child.colon {
                Some(colon) => Place::Flow { behind: colon, colon: " ", style },
                None => Place::Flow { behind: child.end, colon: ": ", style },
            },
            (_, None) => Place::Flow { behind: child.lead, colon: "", style },
        }
    }

    fn renderer(&self) -> Renderer<'_> {
        Renderer { habits: &self.habits }
    }

    fn steps(&self) -> Steps {
        Steps { object: self.habits.object_step, list: self.habits.list_step, dash: DASH_STEP }
    }

    /// The steps below the keys of an object: those that it has itself, else those of the file.
    fn steps_in(&self, span: &Span, collection: &Collection) -> Steps {
        let own = |kind| {
            block_values(span, collection, self.tree)
                .rev()
                .find(|value| value.kind == kind)
                .map(|value| value.step)
        };
        let steps = self.steps();
        Steps {
            object: own(CollectionKind::Object).filter(|step| (1..10).contains(step)).unwrap_or(steps.object),
            list: own(CollectionKind::List).unwrap_or(steps.list),
            ..steps
        }
    }

    /// Writes what is different in a value that stands in the text.
    fn draft(&mut self, draft: &Draft<'_>, place: &Place<'_>) -> Result<(), Unwritable> {
        let Some(id) = draft.origin else { return Ok(()) };
        let slots: Vec<Slot<'_, '_>> = match &draft.content {
            Content::Same(_) => return Ok(()),
            Content::Flat(_) => Vec::new(),
            Content::List(items) => {
                items.iter().map(|item| Slot { from: item.from, key: None, value: &item.value }).collect()
            }
            Content::Object(object) => object
                .entries
                .iter()
                .filter_map(|entry| {
                    Some(Slot { from: entry.from, key: entry.key.as_deref(), value: entry.value.as_ref()? })
                })
                .collect(),
        };
        let tree = self.tree;
        let span = &tree[id];
        match (span.collection(), slots.iter().find_map(|slot| slot.from)) {
            // Something of it stays, so that it is changed child by child.
            (Some(collection), Some(first)) => match collection.layout {
                Layout::Block => self.block(span, collection, &slots, first),
                Layout::Flow { .. } => self.flow(span, collection, &slots, place, first),
                Layout::Pair => self.pair(span, collection, &slots, place, &draft.value()),
            },
            _ => self.replace(span, &draft.value(), place),
        }
    }
}

/// `|` or `>` and what says more about a block text.
fn header<'a>(text: &'a str, span: &Span) -> &'a str {
    let rest = text.get(span.content..).unwrap_or_default();
    let end = rest.find(|next| !matches!(next, '|' | '>' | '+' | '-' | '0'..='9')).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

fn scalar_style(span: &Span) -> Option<ScalarStyle> {
    match span.shape {
        Shape::Scalar(style) => Some(style),
        Shape::Nothing | Shape::Alias | Shape::Collection(_) => None,
    }
}
