//! Children by indentation: where their lines begin and end, and which comments are theirs.

use std::ops::Range;

use super::{Beside, DASH_STEP, Emitter, Slot, Unwritable};
use crate::edit::NewValue;
use crate::edit::habits::Manner;
use crate::edit::lines::Line;
use crate::edit::render::{FlowStyle, Steps};
use crate::reader::spans::{Child, Collection, CollectionKind, Layout, Shape, Span};

/// How a collection in brackets is written.
struct Brackets {
    kind: CollectionKind,
    style: FlowStyle,
}

impl Emitter<'_> {
    /// Changes children that stand by indentation. `first`: the first one that stays.
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
        // New ones that follow each other are written at once.
        for run in slots.chunk_by(|one, next| one.from.is_none() && next.from.is_none()) {
            if let [Slot { from: Some(index), value, .. }] = run {
                let place = Self::place(span, collection, &children[*index], steps, &style);
                self.draft(value, &place)?;
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

    /// A new child, as lines.
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

    /// Whether empty lines stand between all children.
    fn is_spaced(&self, children: &[Child], column: usize) -> bool {
        let has_gap_above = |child: &Child| {
            let start = self.own_comments(self.lines.start(child.lead), column, 0);
            self.lines.above(start).is_some_and(|above| self.lines.kind(above) == Line::Blank)
        };
        children.len() > 1 && children.iter().skip(1).all(has_gap_above)
    }

    /// How the last child is written, if it stands in brackets and in one line.
    fn brackets_of_last(&self, children: &[Child]) -> Option<Brackets> {
        let last = &self.tree[children.last()?.value];
        let inner = last.collection().filter(|inner| {
            matches!(inner.layout, Layout::Flow { .. })
                && !inner.children.is_empty()
                && self.lines.end(last.content) >= last.end
        })?;
        Some(Brackets { kind: inner.kind, style: self.flow_style(last, inner, None) })
    }

    /// An item in brackets, as a line, if the last one is of the same kind and stands in brackets. Texts of several lines are
    /// better read by indentation.
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

    /// `gap`: what stands between children, if an empty line does.
    fn insert_behind_block_child(&mut self, child: &Child, new: &[String], column: usize, gap: &str) {
        let at = self.end_of_block_child(child, column);
        // Behind `|+` an empty line would be part of the text.
        let gap = if self.block_ends.get(&at) == Some(&true) { "" } else { gap };
        let lines: String = new.iter().flat_map(|lines| [gap, lines]).collect();
        self.patches.insert_lines(at, &lines);
    }

    fn insert_before_block_child(&mut self, next: &Child, lines: &str, column: usize, children: &[Child]) {
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
        let range = self.delete_block_children(first, last, span.column, floor);
        // What was between the first one and the next is not needed at the beginning.
        let above = self.lines.above(range.start).map(|above| self.lines.kind(above));
        if run.start == 0 && next.is_some() && above.is_none_or(|above| above == Line::Content) {
            self.patches.delete(range.end..self.below_blanks(range.end));
        }
    }

    /// Where the empty lines end that begin here, if there are any.
    fn below_blanks(&self, mut line: usize) -> usize {
        while self.lines.kind(line) == Line::Blank {
            line = self.lines.next(self.lines.end(line));
        }
        line
    }

    /// Deletes the lines of children that follow each other, with their comments, and with the blank lines above them if there
    /// are some below too. Nothing before `floor` belongs to them. Gives what was deleted.
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
        // Empty lines and deep comments below must not become part of a block text above. They go on their own, since something may
        // be put before them.
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
}
