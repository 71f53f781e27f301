//! Children of block collections: the range of their lines, and the comments that belong to them.

use std::ops::Range;

use super::{Beside, DASH_STEP, Emitter, Slot, Unwritable};
use crate::edit::NewValue;
use crate::edit::habits::Manner;
use crate::edit::lines::Line;
use crate::edit::render::{FlowStyle, Steps};
use crate::reader::spans::{Child, Collection, CollectionKind, Layout, Shape, Span};

/// The style of a flow collection.
struct Brackets {
    kind: CollectionKind,
    style: FlowStyle,
}

impl Emitter<'_> {
    /// Changes the children of a block collection. `first` is the first one that stays.
    pub(super) fn block(
        &mut self,
        span: &Span,
        collection: &Collection,
        slots: &[Slot<'_, '_>],
        first: usize,
    ) -> Result<(), Unwritable> {
        let children = &collection.children;
        let column = span.column;
        let style = FlowStyle { is_json: false, gap: " ", comma_gap: " ", padding: "", unit: None };
        let steps = Steps { dash: self.dash_step(children), ..self.steps_in(span, collection) };
        let is_spaced = self.habits.manner == Manner::Neat && self.is_spaced(children, column);
        let gap = if is_spaced { "\n" } else { "" };
        let brackets = self.brackets_of_last(children);
        let mut beside = Beside::Before(first);
        let mut kept = vec![false; children.len()];
        // Consecutive new children are inserted at once.
        for run in slots.chunk_by(|one, next| one.from.is_none() && next.from.is_none()) {
            if let [Slot { from: Some(index), value, .. }] = run {
                let context = Self::context(span, collection, &children[*index], steps, &style);
                self.draft(value, &context)?;
                kept[*index] = true;
                beside = Beside::Behind(*index);
                continue;
            }
            let new: Vec<String> =
                run.iter().map(|slot| self.new_block_child(slot, brackets.as_ref(), column, steps)).collect();
            match beside {
                Beside::Before(index) => {
                    self.insert_before_block_child(&children[index], &new.concat(), column, children);
                }
                Beside::Behind(index) => self.insert_behind_block_child(&children[index], &new, column, gap),
            }
        }
        self.remove_other_block_children(span, children, &kept);
        Ok(())
    }

    /// Returns a new child, as lines.
    fn new_block_child(
        &self,
        slot: &Slot<'_, '_>,
        brackets: Option<&Brackets>,
        column: usize,
        steps: Steps,
    ) -> String {
        let value = slot.value.value();
        match slot.key {
            Some(key) => self.renderer().entry(key, &value, column, steps),
            None => self
                .bracketed_item(brackets, &value, column, steps)
                .unwrap_or_else(|| self.renderer().item(&value, column, steps)),
        }
    }

    /// Returns whether there are empty lines between all children.
    fn is_spaced(&self, children: &[Child], column: usize) -> bool {
        let has_gap_above = |child: &Child| {
            let start = self.own_comments(self.lines.start(child.lead), column, 0);
            self.lines.above(start).is_some_and(|above| self.lines.kind(above) == Line::Blank)
        };
        children.len() > 1 && children.iter().skip(1).all(has_gap_above)
    }

    /// Returns the style of the last child, if it is a flow collection in one line.
    fn brackets_of_last(&self, children: &[Child]) -> Option<Brackets> {
        let last = &self.tree[children.last()?.value];
        let inner = last.collection().filter(|inner| {
            matches!(inner.layout, Layout::Flow { .. })
                && !inner.children.is_empty()
                && self.lines.end(last.content) >= last.end
        })?;
        Some(Brackets { kind: inner.kind, style: self.flow_style(last, inner, None) })
    }

    /// Returns an item in flow style, as a line, if the last item has the same kind and is in flow style. Values with multi-line strings
    /// are more readable in block style.
    fn bracketed_item(
        &self,
        brackets: Option<&Brackets>,
        value: &NewValue,
        column: usize,
        steps: Steps,
    ) -> Option<String> {
        let kind = match value {
            NewValue::Object(entries) if !entries.is_empty() => CollectionKind::Object,
            NewValue::List(items) if !items.is_empty() => CollectionKind::List,
            _ => return None,
        };
        let brackets = brackets.filter(|brackets| brackets.kind == kind && !value.has_lines())?;
        let text = self.renderer().flow(value, &brackets.style, "", None);
        let (indentation, blanks) = (" ".repeat(column), " ".repeat(steps.dash - 1));
        Some(format!("{indentation}-{blanks}{text}\n"))
    }

    /// Returns the offset at which a child can be inserted after this one: after its last line, and after comments below it that are
    /// indented deeper than the collection.
    fn end_of_block_child(&self, child: &Child, column: usize) -> usize {
        let mut at = self.lines.next(self.lines.tail(child.end));
        while let Line::Comment { column: comment } = self.lines.kind(at)
            && comment > column
        {
            at = self.lines.next(self.lines.end(at));
        }
        at
    }

    /// Inserts children after this one. `gap` is the separating empty line, if children are separated by one.
    fn insert_behind_block_child(&mut self, child: &Child, new: &[String], column: usize, gap: &str) {
        let at = self.end_of_block_child(child, column);
        // After `|+`, an empty line would be part of the scalar.
        let gap = if self.block_ends.get(&at) == Some(&true) { "" } else { gap };
        let lines: String = new.iter().flat_map(|lines| [gap, lines]).collect();
        self.patches.insert_lines(at, &lines);
    }

    fn insert_before_block_child(&mut self, next: &Child, lines: &str, column: usize, children: &[Child]) {
        let is_inline = children.first().is_some_and(|first| !self.lines.is_first(first.lead));
        if is_inline {
            // The first child follows a dash, so the new one is inserted there.
            let text = format!("{}{}", lines.trim_start_matches(' '), " ".repeat(column));
            self.patches.insert(next.lead, &text);
        } else {
            let at = self.own_comments(self.lines.start(next.lead), column, 0);
            self.patches.insert_lines(at, lines);
        }
    }

    /// Returns the start of the comments directly above a line and in its column, else of the line itself.
    pub(super) fn own_comments(&self, line: usize, column: usize, floor: usize) -> usize {
        let mut start = line;
        while let Some(above) = self.lines.above(start)
            && above >= floor
            && self.lines.kind(above) == (Line::Comment { column })
        {
            start = above;
        }
        start
    }

    /// Removes the children that are not kept.
    fn remove_other_block_children(&mut self, span: &Span, children: &[Child], kept: &[bool]) {
        let mut begin = 0;
        for run in kept.chunk_by(PartialEq::eq) {
            let end = begin + run.len();
            if run.first() == Some(&false) {
                self.remove_block_children(span, children, begin..end);
            }
            begin = end;
        }
    }

    /// Removes consecutive children with their lines and comments.
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
                // The next child moves up to the dash.
                self.patches.delete(first.lead..next.lead);
            } else {
                self.patches.delete(self.lines.before_blanks(first.lead)..self.lines.tail(last.end));
            }
            return;
        }
        let floor =
            run.start.checked_sub(1).and_then(|previous| children.get(previous)).map_or(0, |child| child.end);
        let range = self.delete_block_children(first, last, span.column, floor);
        // At the beginning of the collection, the empty lines after the removed children are not needed.
        let above = self.lines.above(range.start).map(|above| self.lines.kind(above));
        if run.start == 0 && next.is_some() && above.is_none_or(|above| above == Line::Content) {
            self.patches.delete(range.end..self.below_blanks(range.end));
        }
    }

    /// Returns the end of the empty lines that begin here.
    fn below_blanks(&self, mut line: usize) -> usize {
        while self.lines.kind(line) == Line::Blank {
            line = self.lines.next(self.lines.end(line));
        }
        line
    }

    /// Deletes the lines of consecutive children with their comments, and with the empty lines above if there are some below too. Nothing
    /// before `floor` is deleted. Returns the deleted range.
    pub(super) fn delete_block_children(
        &mut self,
        first: &Child,
        last: &Child,
        column: usize,
        floor: usize,
    ) -> Range<usize> {
        let end = self.end_of_block_child(last, column);
        let mut start = self.own_comments(self.lines.start(first.lead), column, floor);
        if matches!(self.lines.kind(end), Line::Blank | Line::None) {
            while let Some(above) = self.lines.above(start)
                && above >= floor.max(1)
                && self.lines.kind(above) == Line::Blank
            {
                start = above;
            }
        }
        self.patches.delete(start..end);
        // Empty lines and deep comments below must not become part of a block scalar above. They are deleted by a separate patch, since
        // lines may be inserted before them.
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
                self.patches.delete(end..below);
            }
        }
        start..end
    }

    /// Returns the columns from the dashes of a list to its items.
    fn dash_step(&self, children: &[Child]) -> usize {
        let step = children.iter().rev().find_map(|child| {
            let value = &self.tree[child.value];
            let is_inline = self.lines.start(child.lead) == self.lines.start(value.start)
                && !matches!(value.shape, Shape::Nothing);
            is_inline.then(|| value.start - child.lead)
        });
        step.filter(|step| (2..10).contains(step)).unwrap_or(DASH_STEP)
    }
}
