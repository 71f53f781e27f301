//! Patches of bytes that make the text what a draft says.

mod flow;

use std::collections::HashMap;
use std::ops::Range;

use super::NewValue;
use super::draft::{Content, Draft};
use super::habits::{self, Habits, block_values};
use super::lines::{Line, Lines};
use super::patch::Patches;
use super::render::{FlowStyle, Rendered, Renderer, Steps};
use crate::reader::ScalarStyle;
use crate::reader::spans::{Child, Collection, Id, Layout, Shape, Span, Tree};
use crate::writer::style::Indentation;

/// Columns from a dash to its item, where nothing says otherwise.
const DASH_STEP: usize = 2;

/// Makes patches.
pub(super) struct Emitter<'a> {
    text: &'a str,
    lines: Lines<'a>,
    tree: &'a Tree,
    habits: Habits,
    patches: Patches,
    /// Where block texts end, and whether all empty lines below belong to them.
    block_ends: HashMap<usize, bool>,
    /// Something cannot be written.
    failed: bool,
}

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

impl<'a> Emitter<'a> {
    pub(super) fn new(text: &'a str, tree: &'a Tree, lines: habits::Lines) -> Self {
        let habits = Habits::of(text, tree, lines);
        let patches = Patches::new(habits.line_break);
        let block_ends = tree
            .spans()
            .filter(|span| scalar_style(span) == Some(ScalarStyle::Block))
            .map(|span| (span.end, header(text, span).contains('+')))
            .collect();
        Self { text, lines: Lines(text), tree, habits, patches, block_ends, failed: false }
    }

    /// The patches for a target; `None` if it cannot be written.
    pub(super) fn patches(mut self, target: &Draft<'_>) -> Option<Patches> {
        if let Some(id) = target.origin {
            let style = self.target_flow_style();
            let place = self.place_of_target(id, &style);
            self.draft(target, &place);
        } else {
            let value = target.value();
            if value != NewValue::Null {
                let Rendered { head, lines } = self.root(&value);
                self.patches.insert_lines(self.text.len(), &format!("{head}\n{lines}"));
            }
        }
        self.keep_last_block_text();
        (self.patches.settle() && !self.failed).then_some(self.patches)
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
            Some((span, collection, child)) => self.place(span, collection, child, style),
        }
    }

    fn place<'s>(
        &self,
        span: &Span,
        collection: &Collection,
        child: &Child,
        style: &'s FlowStyle,
    ) -> Place<'s> {
        match (collection.layout, &child.key) {
            (Layout::Block, Some(_)) => Place::Key {
                behind: child.colon,
                column: span.column,
                steps: self.steps_in(span, collection),
            },
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
        let own = |is_object| {
            block_values(span, collection, self.tree)
                .rev()
                .find(|value| value.is_object == is_object)
                .map(|value| value.step)
        };
        let steps = self.steps();
        Steps {
            object: own(true).filter(|step| (1..10).contains(step)).unwrap_or(steps.object),
            list: own(false).unwrap_or(steps.list),
            ..steps
        }
    }

    fn draft(&mut self, draft: &Draft<'_>, place: &Place<'_>) {
        let Some(id) = draft.origin else { return };
        let slots: Vec<Slot<'_, '_>> = match &draft.content {
            Content::Same(_) => return,
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
        match span.collection() {
            // Something of it stays, so that it is changed child by child.
            Some(collection) if slots.iter().any(|slot| slot.from.is_some()) => match collection.layout {
                Layout::Block => self.block(span, collection, &slots),
                Layout::Flow { .. } => self.flow(span, collection, &slots, place),
                Layout::Pair => self.pair(span, collection, &slots, place, &draft.value()),
            },
            _ => self.replace(span, &draft.value(), place),
        }
    }

    /// Changes children that stand by indentation.
    fn block(&mut self, span: &Span, collection: &Collection, slots: &[Slot<'_, '_>]) {
        let children = &collection.children;
        let column = span.column;
        let style = FlowStyle { is_json: false, gap: " ", comma_gap: " ", padding: "", unit: None };
        let mut after: Option<usize> = None;
        let mut kept = vec![false; children.len()];
        for (number, slot) in slots.iter().enumerate() {
            if let Some((index, child)) = slot.from.and_then(|index| Some((index, children.get(index)?))) {
                let place = self.place(span, collection, child, &style);
                self.draft(slot.value, &place);
                kept[index] = true;
                after = Some(index);
                continue;
            }
            let steps = self.steps_in(span, collection);
            let value = slot.value.value();
            let lines = if let Some(key) = slot.key {
                self.renderer().entry(key, &value, column, steps)
            } else {
                let dash = self.dash_step(children);
                self.renderer().item(&value, column, Steps { dash, ..steps })
            };
            if let Some(child) = after.and_then(|index| children.get(index)) {
                let at = self.end_of_block_child(child, column);
                self.patches.insert_lines(at, &lines);
            } else {
                let next = slots.iter().skip(number).find_map(|slot| slot.from);
                if let Some(next) = next.and_then(|index| children.get(index)) {
                    self.insert_block_child_before(next, &lines, column, children);
                }
            }
        }
        let mut index = 0;
        while index < children.len() {
            let begin = index;
            while kept.get(index) == Some(&false) {
                index += 1;
            }
            if begin < index {
                self.remove_block_children(span, children, begin..index);
            }
            index += 1;
        }
    }

    /// Where what comes behind a child is put: behind its last line, and behind comments below it that are indented deeper than
    /// its list or object.
    fn end_of_block_child(&self, child: &Child, column: usize) -> usize {
        let mut at = self.lines.next(self.lines.tail(child.end));
        while let Line::Comment { column: comment } = self.lines.kind(at)
            && comment > column
        {
            at = self.lines.next(self.lines.end(at));
        }
        at
    }

    fn insert_block_child_before(&mut self, next: &Child, lines: &str, column: usize, children: &[Child]) {
        let is_inline = children.first().is_some_and(|first| !self.lines.is_first(first.lead));
        if is_inline {
            // The first one stands behind a dash; the new one takes its place.
            let text = format!("{}{}", lines.trim_start_matches(' '), " ".repeat(column));
            self.patches.insert(next.lead, &text);
        } else {
            let at = self.own_comments(self.lines.start(next.lead), column, 0);
            self.patches.insert_lines(at, lines);
        }
    }

    /// Where the comments begin that stand directly above a line and in its column, if there are any; else the line itself.
    fn own_comments(&self, line: usize, column: usize, floor: usize) -> usize {
        let mut start = line;
        while let Some(above) = self.lines.above(start)
            && above >= floor
            && self.lines.kind(above) == (Line::Comment { column })
        {
            start = above;
        }
        start
    }

    /// Removes children that follow each other, with their lines and comments. Others stay.
    fn remove_block_children(&mut self, span: &Span, children: &[Child], run: Range<usize>) {
        let (Some(first), Some(last)) =
            (children.get(run.start), run.end.checked_sub(1).and_then(|last| children.get(last)))
        else {
            return;
        };
        let next = children.get(run.end);
        if !self.lines.is_first(first.lead)
            && let Some(next) = next
        {
            let between = self.text.get(self.lines.tail(last.end)..next.lead).unwrap_or_default();
            if between.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
                // The next one moves up behind the dash.
                self.patches.delete(first.lead..next.lead);
            } else {
                self.patches.delete(self.lines.before_blanks(first.lead)..self.lines.tail(last.end));
            }
            return;
        }
        let floor =
            run.start.checked_sub(1).and_then(|previous| children.get(previous)).map_or(0, |child| child.end);
        let range = self.lines_of_block_children(first, last, span.column, floor);
        self.patches.delete(range);
    }

    /// The lines of children that follow each other, with their comments, and with the blank lines above them if there are some
    /// below too. Nothing before `floor` belongs to them.
    fn lines_of_block_children(
        &self,
        first: &Child,
        last: &Child,
        column: usize,
        floor: usize,
    ) -> Range<usize> {
        let mut end = self.end_of_block_child(last, column);
        let mut start = self.own_comments(self.lines.start(first.lead), column, floor);
        if matches!(self.lines.kind(end), Line::Blank | Line::None) {
            while let Some(above) = self.lines.above(start)
                && above >= floor.max(1)
                && self.lines.kind(above) == Line::Blank
            {
                start = above;
            }
        }
        // Empty lines and deep comments below must not become part of a block text above.
        if let Some(keeps) = self.block_ends.get(&start) {
            let mut below = end;
            while match self.lines.kind(below) {
                Line::Blank => true,
                Line::Comment { column: comment } => comment > column,
                Line::Content | Line::None => false,
            } {
                below = self.lines.next(self.lines.end(below));
            }
            let has_text = self.text.get(end..below).unwrap_or_default().contains([' ', '\t']);
            if *keeps || has_text {
                end = below;
            }
        }
        start..end
    }

    /// Columns from the dashes of a list to its items.
    fn dash_step(&self, children: &[Child]) -> usize {
        let step = children.iter().rev().find_map(|child| {
            let value = &self.tree[child.value];
            let is_inline = self.lines.start(child.lead) == self.lines.start(value.start)
                && !matches!(value.shape, Shape::Nothing);
            is_inline.then(|| value.start - child.lead)
        });
        step.filter(|step| (2..10).contains(step)).unwrap_or(DASH_STEP)
    }

    /// Writes another value where one stands, whatever that is.
    fn replace(&mut self, span: &Span, value: &NewValue, place: &Place<'_>) {
        self.remove_tag(span);
        match place {
            Place::Flow { behind, colon, style } => {
                let indentation = self.lines.indentation(span.content);
                let text = self.renderer().flow(value, style, indentation, scalar_style(span));
                if matches!(span.shape, Shape::Nothing) {
                    let at = span.properties_end.unwrap_or(*behind);
                    let colon = if span.properties_end.is_some() { " " } else { colon };
                    self.patches.insert(at, &format!("{colon}{text}"));
                } else {
                    self.patches.replace(span.content..span.end, &text);
                }
            }
            Place::Root => self.replace_root(span, value),
            Place::Key { behind: None, .. } => self.failed = true,
            Place::Key { behind: Some(behind), column, steps } => {
                let rendered = self.behind_key(span, value, *column, *steps);
                self.replace_block(span, rendered, *behind, *column);
            }
            Place::Dash { behind, column } => {
                let rendered = self.behind_dash(span, value, *behind, *column);
                self.replace_block(span, rendered, *behind, *column);
            }
        }
    }

    fn behind_key(&self, span: &Span, value: &NewValue, column: usize, steps: Steps) -> Rendered {
        match value {
            NewValue::Text(text) => self.replaced_text(span, text, column, steps.object),
            value => self.renderer().of_key(value, column, steps),
        }
    }

    fn behind_dash(&self, span: &Span, value: &NewValue, behind: usize, column: usize) -> Rendered {
        let is_inline = self.lines.start(behind) == self.lines.start(span.start);
        // A tag goes, so that the value begins where the tag did.
        let dash = if is_inline && !matches!(span.shape, Shape::Nothing) {
            span.start + 1 - behind
        } else {
            DASH_STEP
        };
        match value {
            NewValue::Text(text) => self.replaced_text(span, text, column, DASH_STEP),
            // Behind an anchor no key and no dash may stand.
            value if span.anchor.is_some() => {
                let steps = Steps { object: DASH_STEP, list: DASH_STEP, dash: DASH_STEP };
                self.renderer().of_key(value, column, steps)
            }
            value => self.renderer().of_dash(value, column, Steps { dash, ..self.steps() }),
        }
    }

    /// A text in the style of the one that it replaces, if that can hold it.
    fn replaced_text(&self, span: &Span, text: &str, column: usize, step: usize) -> Rendered {
        let old = scalar_style(span);
        let old_text = self.text.get(span.content..span.end).unwrap_or_default();
        let keeps_quotes = old == Some(ScalarStyle::DoubleQuoted) && old_text.contains("\\n");
        if !keeps_quotes {
            let step = self.literal_step(span, column).unwrap_or(step);
            if let Some(rendered) = self.renderer().literal(text, Indentation { parent: column, step }) {
                return rendered;
            }
        }
        Rendered::flat(self.renderer().text(text, old))
    }

    /// Columns that the lines of a block text are indented with.
    fn literal_step(&self, span: &Span, column: usize) -> Option<usize> {
        if scalar_style(span) != Some(ScalarStyle::Block) {
            return None;
        }
        let mut line = self.lines.next(self.lines.end(span.content));
        while line < span.end && self.lines.kind(line) == Line::Blank {
            line = self.lines.next(self.lines.end(line));
        }
        let blanks = self.text.get(line..span.end)?.bytes().take_while(|byte| *byte == b' ').count();
        blanks.checked_sub(column).filter(|step| (1..10).contains(step))
    }

    /// Writes a value where another one stands behind a colon or a dash.
    fn replace_block(&mut self, span: &Span, rendered: Rendered, behind: usize, column: usize) {
        let behind = span.properties_end.unwrap_or(behind);
        let Rendered { head, lines } = rendered;
        let below = match &span.shape {
            Shape::Nothing => {
                self.insert_head(behind, &head);
                self.lines.next(self.lines.tail(behind))
            }
            Shape::Collection(Collection { layout: Layout::Block, children, .. }) => {
                let (Some(first), Some(last)) = (children.first(), children.last()) else { return };
                if self.lines.is_first(first.lead) {
                    self.insert_head(behind, &head);
                    let range = self.lines_of_block_children(first, last, span.column.max(column), behind);
                    let floor = self.lines.next(self.lines.end(behind));
                    self.patches.delete(range.start.max(floor)..range.end);
                    floor
                } else {
                    let tail = self.lines.tail(span.end);
                    self.replace_head(behind, span.content..tail, &head);
                    self.lines.next(tail)
                }
            }
            Shape::Scalar(ScalarStyle::Block) => {
                let length = header(self.text, span).len();
                self.replace_head(behind, span.content..span.content + length, &head);
                let below = self.lines.next(self.lines.end(span.content));
                if below < span.end {
                    self.patches.delete(below..span.end);
                }
                below
            }
            Shape::Scalar(_) | Shape::Alias | Shape::Collection(_) => {
                self.replace_head(behind, span.content..span.end, &head);
                self.lines.next(self.lines.tail(span.end))
            }
        };
        self.patches.insert_lines(below, &lines);
    }

    fn insert_head(&mut self, behind: usize, head: &str) {
        if !head.is_empty() {
            self.patches.insert(behind, &format!(" {head}"));
        }
    }

    fn replace_head(&mut self, behind: usize, range: Range<usize>, head: &str) {
        if head.is_empty() {
            // The blanks before it go too.
            self.patches.delete(self.lines.before_blanks(range.start).max(behind)..range.end);
        } else {
            self.patches.replace(range, head);
        }
    }

    /// A value as a document.
    fn root(&self, value: &NewValue) -> Rendered {
        match value {
            // YAML 1.1 and 1.2 do not agree on indentation that is counted from nothing.
            NewValue::Text(text) => Rendered::flat(self.renderer().text(text, None)),
            value => self.renderer().of_dash(value, 0, Steps { dash: 0, ..self.steps() }),
        }
    }

    /// Writes another value where a whole document stands.
    fn replace_root(&mut self, span: &Span, value: &NewValue) {
        let Rendered { head, lines } = self.root(value);
        let all = format!("{head}\n{lines}");
        if matches!(span.shape, Shape::Nothing) {
            let at = span.properties_end.map_or(span.content, |end| self.lines.next(self.lines.tail(end)));
            self.patches.insert_lines(at, &all);
            return;
        }
        let tail = self.lines.tail(span.end);
        if self.lines.is_first(span.content) && lines.is_empty() {
            self.patches.replace(span.content..span.end.min(tail), &head);
        } else if self.lines.is_first(span.content) && self.lines.after_blanks(span.end) >= tail {
            self.patches
                .replace(self.lines.start(span.content)..tail, all.strip_suffix('\n').unwrap_or(&all));
        } else {
            self.patches.delete(self.lines.before_blanks(span.content)..span.end);
            self.patches.insert_lines(self.lines.next(tail), &all);
        }
    }

    /// A tag says what the old value is.
    fn remove_tag(&mut self, span: &Span) {
        let Some(tag) = &span.tag else { return };
        let behind = self.lines.after_blanks(tag.end);
        if self.lines.is_last(tag.end) {
            self.patches.delete(self.lines.before_blanks(tag.start)..tag.end);
        } else {
            self.patches.delete(tag.start..behind);
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
