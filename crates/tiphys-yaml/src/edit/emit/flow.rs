//! Children in brackets: their commas, and lines of their own.

use std::ops::Range;

use super::{Emitter, Place, Slot};
use crate::edit::NewValue;
use crate::edit::render::FlowStyle;
use crate::reader::ScalarStyle;
use crate::reader::spans::{Child, Collection, Id, Layout, Shape, Span};

impl Emitter<'_> {
    /// How a target that stands in brackets itself is written.
    pub(super) fn target_flow_style(&self) -> FlowStyle {
        let is_json = self.tree.is_json;
        let gap = if is_json { self.habits.json_gap } else { " " };
        FlowStyle { is_json, gap, comma_gap: gap, padding: "", unit: self.habits.json_unit.clone() }
    }

    /// Changes children in brackets.
    pub(super) fn flow(
        &mut self,
        span: &Span,
        collection: &Collection,
        slots: &[Slot<'_, '_>],
        place: &Place<'_>,
    ) {
        let children = &collection.children;
        let outer = match place {
            Place::Flow { style, .. } => Some(*style),
            Place::Root | Place::Key { .. } | Place::Dash { .. } => None,
        };
        let style = self.flow_style(span, collection, outer);
        let keeps_comma = matches!(collection.layout, Layout::Flow { trailing_comma: Some(_) });
        let mut kept = vec![false; children.len()];
        let mut after: Option<usize> = None;
        let first = slots.iter().find_map(|slot| slot.from);
        for (number, slot) in slots.iter().enumerate() {
            let needs_comma = number + 1 < slots.len() || keeps_comma;
            if let Some((index, child)) = slot.from.and_then(|index| Some((index, children.get(index)?))) {
                let inner = Self::place(span, collection, child, self.steps(), &style);
                self.draft(slot.value, &inner);
                match collection.comma_after(index) {
                    None if needs_comma => {
                        // Without a blank a comma would be part of a key without quotes.
                        let is_open = child.colon == Some(child.end);
                        self.patches.insert(child.end, if is_open { " ," } else { "," });
                    }
                    Some(comma) if !needs_comma => self.patches.delete(comma..comma + 1),
                    _ => {}
                }
                kept[index] = true;
                after = Some(index);
                continue;
            }
            let sibling = after.or(first);
            let Some((sibling, child)) = sibling.and_then(|index| Some((index, children.get(index)?))) else {
                continue;
            };
            let is_on_own_line = self.lines.is_first(child.lead);
            let indentation = self.lines.indentation(child.lead).to_owned();
            let value = slot.value.value();
            let mut text = match slot.key {
                Some(key) => self.renderer().flow_entry(key, &value, &style, &indentation),
                None => self.renderer().flow(&value, &style, &indentation, None),
            };
            if needs_comma {
                text.push(',');
            }
            if after.is_some() {
                let end = collection.comma_after(sibling).map_or(child.end, |comma| comma + 1);
                if is_on_own_line {
                    // Behind a comment on the same line.
                    let at = if self.lines.is_last(end) { self.lines.end(end) } else { end };
                    self.patches.insert(at, &format!("\n{indentation}{text}"));
                } else {
                    self.patches.insert(end, &format!("{}{text}", style.comma_gap));
                }
            } else if is_on_own_line {
                self.patches.insert(child.lead, &format!("{text}\n{indentation}"));
            } else {
                self.patches.insert(child.lead, &format!("{text}{}", style.comma_gap));
            }
        }
        // Those that only removed ones follow take the blanks before them along, the others those behind them.
        let last_kept = kept.iter().rposition(|kept| *kept);
        for (index, child) in children.iter().enumerate() {
            if kept.get(index) == Some(&false) {
                let is_last = last_kept.is_some_and(|last| last < index);
                let range = self.flow_child(child, collection.comma_after(index), is_last);
                self.patches.delete(range);
            }
        }
    }

    /// Changes an object that is a pair in a list: what is not one pair needs braces.
    pub(super) fn pair(
        &mut self,
        span: &Span,
        collection: &Collection,
        slots: &[Slot<'_, '_>],
        place: &Place<'_>,
        value: &NewValue,
    ) {
        let (Place::Flow { style, .. }, [child]) = (place, &collection.children[..]) else {
            self.failed = true;
            return;
        };
        if let [Slot { from: Some(_), value, .. }] = slots {
            let inner = Self::place(span, collection, child, self.steps(), style);
            self.draft(value, &inner);
        } else {
            let text = self.renderer().flow(value, style, "", None);
            self.patches.replace(span.content..span.end, &text);
        }
    }

    /// The bytes of a child with its comma: its lines if nothing else is on them.
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

    /// How the children of a collection in brackets are written.
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
            _ if collection.is_object => first_key(collection).is_some_and(is_quoted),
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

    /// The indentation of what is put into a collection, if it gets several lines: as its siblings do, else as the JSON file does.
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
