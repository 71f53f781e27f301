//! Children of flow collections: their commas and lines.

use std::ops::Range;

use super::{Beside, Context, Emitter, Slot, Unwritable};
use crate::edit::NewValue;
use crate::edit::render::FlowStyle;
use crate::reader::ScalarStyle;
use crate::reader::spans::{Child, Collection, CollectionKind, Id, Layout, Shape, Span};

/// Whether a comma is required after a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comma {
    Wanted,
    Unwanted,
}

impl Emitter<'_> {
    /// Returns the style of a target that is itself a flow collection.
    pub(super) fn target_flow_style(&self) -> FlowStyle {
        let is_json = self.tree.is_json;
        let gap = if is_json { self.habits.json_gap } else { " " };
        FlowStyle { is_json, gap, comma_gap: gap, padding: "", unit: self.habits.json_unit.clone() }
    }

    /// Changes the children of a flow collection. `first` is the first one that stays.
    pub(super) fn flow(
        &mut self,
        span: &Span,
        collection: &Collection,
        slots: &[Slot<'_, '_>],
        context: &Context<'_>,
        first: usize,
    ) -> Result<(), Unwritable> {
        let children = &collection.children;
        let outer = match context {
            Context::Flow { style, .. } => Some(*style),
            Context::Root | Context::Key { .. } | Context::Dash { .. } => None,
        };
        let style = self.flow_style(span, collection, outer);
        let keeps_comma = matches!(collection.layout, Layout::Flow { trailing_comma: Some(_) });
        let mut beside = Beside::Before(first);
        let mut kept = vec![false; children.len()];
        for (number, slot) in slots.iter().enumerate() {
            let is_last = number + 1 == slots.len();
            let comma = if is_last && !keeps_comma { Comma::Unwanted } else { Comma::Wanted };
            if let Some(index) = slot.from {
                let inner = Self::context(span, collection, &children[index], self.steps(), &style);
                self.draft(slot.value, &inner)?;
                self.settle_comma(collection, index, comma);
                kept[index] = true;
                beside = Beside::Behind(index);
            } else {
                self.insert_flow_child(collection, slot, beside, comma, &style);
            }
        }
        self.remove_other_flow_children(collection, &kept);
        Ok(())
    }

    /// Adds or removes the comma after a child that stays.
    fn settle_comma(&mut self, collection: &Collection, index: usize, comma: Comma) {
        match (collection.comma_after(index), comma) {
            (None, Comma::Wanted) => {
                let child = &collection.children[index];
                // Without a blank, the comma would be part of the unquoted key.
                let is_open = child.colon == Some(child.end);
                self.patches.insert(child.end, if is_open { " ," } else { "," });
            }
            (Some(at), Comma::Unwanted) => self.patches.delete(at..at + 1),
            (Some(_), Comma::Wanted) | (None, Comma::Unwanted) => {}
        }
    }

    /// Inserts a new child, on a line of its own if its neighbour has one.
    fn insert_flow_child(
        &mut self,
        collection: &Collection,
        slot: &Slot<'_, '_>,
        beside: Beside,
        comma: Comma,
        style: &FlowStyle,
    ) {
        let (Beside::Before(index) | Beside::Behind(index)) = beside;
        let sibling = &collection.children[index];
        let is_on_own_line = self.lines.is_first(sibling.lead);
        let indentation = self.lines.indentation(sibling.lead);
        let value = slot.value.value();
        let mut text = match slot.key {
            Some(key) => self.renderer().flow_entry(key, &value, style, indentation),
            None => self.renderer().flow(&value, style, indentation, None),
        };
        if comma == Comma::Wanted {
            text.push(',');
        }
        match beside {
            Beside::Before(_) if is_on_own_line => {
                self.patches.insert(sibling.lead, &format!("{text}\n{indentation}"));
            }
            Beside::Before(_) => self.patches.insert(sibling.lead, &format!("{text}{}", style.comma_gap)),
            Beside::Behind(_) => {
                let end = collection.comma_after(index).map_or(sibling.end, |comma| comma + 1);
                if is_on_own_line {
                    // After a comment on the same line.
                    let at = if self.lines.is_last(end) { self.lines.end(end) } else { end };
                    self.patches.insert(at, &format!("\n{indentation}{text}"));
                } else {
                    self.patches.insert(end, &format!("{}{text}", style.comma_gap));
                }
            }
        }
    }

    /// Removes the children that are not kept.
    fn remove_other_flow_children(&mut self, collection: &Collection, kept: &[bool]) {
        // Children after the last kept one are removed with the blanks before them, others with the blanks after them.
        let last_kept = kept.iter().rposition(|kept| *kept);
        for (index, (child, is_kept)) in collection.children.iter().zip(kept).enumerate() {
            if !is_kept {
                let is_last = last_kept.is_some_and(|last| last < index);
                let range = self.flow_child(child, collection.comma_after(index), is_last);
                self.patches.delete(range);
            }
        }
    }

    /// Changes an object that is a single pair in a list. If it is not one pair any more, it gets braces.
    pub(super) fn pair(
        &mut self,
        span: &Span,
        collection: &Collection,
        slots: &[Slot<'_, '_>],
        context: &Context<'_>,
        value: &NewValue,
    ) -> Result<(), Unwritable> {
        let (Context::Flow { style, .. }, [child]) = (context, &collection.children[..]) else {
            return Err(Unwritable);
        };
        if let [Slot { from: Some(_), value, .. }] = slots {
            let inner = Self::context(span, collection, child, self.steps(), style);
            self.draft(value, &inner)
        } else {
            let text = self.renderer().flow(value, style, "", None);
            self.patches.replace(span.content..span.end, &text);
            Ok(())
        }
    }

    /// Returns the range of a child with its comma, including the lines if they contain nothing else.
    fn flow_child(&self, child: &Child, comma: Option<usize>, is_last: bool) -> Range<usize> {
        let end = comma.map_or(child.end, |comma| comma + 1);
        if self.lines.is_first(child.lead) && self.lines.is_last(end) {
            let line = self.lines.start(child.lead);
            let column = child.lead - line;
            return self.own_comments(line, column, 0)..self.lines.next(self.lines.end(end));
        }
        if (is_last || self.lines.is_last(end)) && !self.lines.is_first(child.lead) {
            self.lines.before_blanks(child.lead)..end
        } else {
            child.lead..self.lines.after_blanks(end)
        }
    }

    /// Returns the style of a flow collection's children.
    pub(super) fn flow_style(
        &self,
        span: &Span,
        collection: &Collection,
        outer: Option<&FlowStyle>,
    ) -> FlowStyle {
        let is_quoted = |id: Id| matches!(self.tree[id].shape, Shape::Scalar(ScalarStyle::DoubleQuoted));
        let first_key = |collection: &Collection| {
            collection.children.first().and_then(|child| child.key.as_ref()).map(|key| key.span)
        };
        let first = collection.children.first();
        let looks_like_json = match first.map(|child| &self.tree[child.value]) {
            _ if collection.kind == CollectionKind::Object => first_key(collection).is_some_and(is_quoted),
            Some(value) => match value.collection() {
                Some(inner) => first_key(inner).is_some_and(is_quoted),
                None => matches!(value.shape, Shape::Scalar(ScalarStyle::DoubleQuoted)),
            },
            None => false,
        };
        let gap_of = |is_wide| if is_wide { " " } else { "" };
        let gap = collection
            .children
            .iter()
            .filter(|child| !matches!(self.tree[child.value].shape, Shape::Nothing))
            .find_map(|child| Some(gap_of(self.tree[child.value].start > child.colon?)))
            .or(outer.map(|style| style.gap))
            .unwrap_or(" ");
        let comma_gap = collection
            .children
            .iter()
            .find_map(|child| Some(gap_of(child.lead > child.comma? + 1)))
            .unwrap_or(if self.tree.is_json { gap } else { " " });
        let has_padding = self.text.get(span.content..).is_some_and(|text| text.starts_with("{ "));
        FlowStyle {
            is_json: self.tree.is_json || looks_like_json,
            gap,
            comma_gap,
            padding: if has_padding { " " } else { "" },
            unit: self.flow_unit(span, collection),
        }
    }

    /// Returns the indentation of multi-line children: like their siblings, else like the JSON file.
    fn flow_unit(&self, span: &Span, collection: &Collection) -> Option<String> {
        let unit = self.habits.json_unit.clone()?;
        let is_in_one_line = |span: &Span| self.lines.end(span.content) >= span.end;
        if is_in_one_line(span) {
            return None;
        }
        let sibling = collection
            .children
            .iter()
            .rev()
            .map(|child| &self.tree[child.value])
            .find(|value| value.collection().is_some_and(|inner| !inner.children.is_empty()));
        match sibling {
            Some(sibling) if is_in_one_line(sibling) => None,
            _ => Some(unit),
        }
    }
}
