//! Creates byte patches from a draft.

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

/// The default number of columns from a dash to its item.
const DASH_STEP: usize = 2;

/// Creates patches.
pub(super) struct Emitter<'a> {
    text: &'a str,
    lines: &'a Lines<'a>,
    tree: &'a Tree,
    habits: Habits,
    patches: Patches,
    /// Ends of block scalars, and whether each keeps all empty lines below.
    block_ends: HashMap<usize, bool>,
}

/// The value cannot be written in its context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unwritable;

/// The context of a value.
#[derive(Clone, Debug)]
enum Context<'s> {
    /// A document.
    Root,
    /// After the colon of a block entry. `behind` is the end of the colon; `None` for `? key` without one.
    Key { behind: Option<usize>, column: usize, steps: Steps },
    /// After a dash.
    Dash { behind: usize, column: usize },
    /// In a flow collection. `colon` must precede a value where none is written yet.
    Flow { behind: usize, colon: &'static str, style: &'s FlowStyle },
}

/// A child of the changed collection.
struct Slot<'d, 'a> {
    from: Option<usize>,
    key: Option<&'d str>,
    value: &'d Draft<'a>,
}

/// The position of a new child relative to an existing one, given by its index.
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

    /// Returns the patches for a target.
    pub(super) fn patches(mut self, target: &Draft<'_>) -> Result<Patches, Unwritable> {
        if let Some(id) = target.origin {
            let style = self.target_flow_style();
            let context = self.context_of_target(id, &style);
            self.draft(target, &context)?;
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

    /// Changes the chomping of a final block scalar without a final line break, if lines are added after it. Otherwise it would get one.
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

    /// Returns the context of the target, which may be a document or any part of one.
    fn context_of_target<'s>(&self, id: Id, style: &'s FlowStyle) -> Context<'s> {
        let parent = self.tree.collections().find_map(|(span, collection)| {
            let child = collection.children.iter().find(|child| child.value == id)?;
            Some((span, collection, child))
        });
        match parent {
            None if self.tree.is_json => Context::Flow { behind: self.tree[id].content, colon: "", style },
            None => Context::Root,
            Some((span, collection, child)) => {
                let steps = self.steps_in(span, collection);
                Self::context(span, collection, child, steps, style)
            }
        }
    }

    /// Returns the context of a child. `steps` are those of the collection.
    fn context<'s>(
        span: &Span,
        collection: &Collection,
        child: &Child,
        steps: Steps,
        style: &'s FlowStyle,
    ) -> Context<'s> {
        match (collection.layout, &child.key) {
            (Layout::Block, Some(_)) => Context::Key { behind: child.colon, column: span.column, steps },
            (Layout::Block, None) => Context::Dash { behind: child.lead + 1, column: span.column },
            (_, Some(_)) => match child.colon {
                Some(colon) => Context::Flow { behind: colon, colon: " ", style },
                None => Context::Flow { behind: child.end, colon: ": ", style },
            },
            (_, None) => Context::Flow { behind: child.lead, colon: "", style },
        }
    }

    fn renderer(&self) -> Renderer<'_> {
        Renderer { habits: &self.habits }
    }

    fn steps(&self) -> Steps {
        Steps { object: self.habits.object_step, list: self.habits.list_step, dash: DASH_STEP }
    }

    /// Returns the indentation below the keys of an object: its own, else that of the file.
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

    /// Adds the patches for a value in the text.
    fn draft(&mut self, draft: &Draft<'_>, context: &Context<'_>) -> Result<(), Unwritable> {
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
            // Some children stay, so the others are changed one by one.
            (Some(collection), Some(first)) => match collection.layout {
                Layout::Block => self.block(span, collection, &slots, first),
                Layout::Flow { .. } => self.flow(span, collection, &slots, context, first),
                Layout::Pair => self.pair(span, collection, &slots, context, &draft.value()),
            },
            _ => self.replace(span, &draft.value(), context),
        }
    }
}

/// Returns the header of a block scalar: `|` or `>` and the indicators after it.
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
