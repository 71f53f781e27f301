//! Replacing a value, while its position, comment and anchor stay.

use std::ops::Range;

use super::{Context, DASH_STEP, Emitter, Unwritable, header, scalar_style};
use crate::edit::NewValue;
use crate::edit::lines::Line;
use crate::edit::render::{Rendered, Steps};
use crate::reader::ScalarStyle;
use crate::reader::spans::{Collection, Layout, Shape, Span};
use crate::writer::style::Indentation;

impl Emitter<'_> {
    /// Replaces a value of any kind.
    pub(super) fn replace(
        &mut self,
        span: &Span,
        value: &NewValue,
        context: &Context<'_>,
    ) -> Result<(), Unwritable> {
        self.remove_tag(span);
        match context {
            Context::Flow { behind, colon, style } => {
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
            Context::Root => self.replace_root(span, value),
            Context::Key { behind: None, .. } => return Err(Unwritable),
            Context::Key { behind: Some(behind), column, steps } => {
                let rendered = self.behind_key(span, value, *column, *steps);
                self.replace_block(span, rendered, *behind, *column);
            }
            Context::Dash { behind, column } => {
                let rendered = self.behind_dash(span, value, *behind, *column);
                self.replace_block(span, rendered, *behind, *column);
            }
        }
        Ok(())
    }

    fn behind_key(&self, span: &Span, value: &NewValue, column: usize, steps: Steps) -> Rendered {
        match value {
            NewValue::Text(text) => self.replaced_text(span, text, column, steps.object),
            value => self.renderer().of_key(value, column, steps),
        }
    }

    fn behind_dash(&self, span: &Span, value: &NewValue, behind: usize, column: usize) -> Rendered {
        let is_inline = self.lines.start(behind) == self.lines.start(span.start);
        // A tag is removed, so the value begins at its start.
        let dash = if is_inline && !matches!(span.shape, Shape::Nothing) {
            span.start + 1 - behind
        } else {
            DASH_STEP
        };
        match value {
            NewValue::Text(text) => self.replaced_text(span, text, column, DASH_STEP),
            // After an anchor, neither a key nor a dash is valid.
            value if span.anchor.is_some() => {
                let steps = Steps { object: DASH_STEP, list: DASH_STEP, dash: DASH_STEP };
                self.renderer().of_key(value, column, steps)
            }
            value => self.renderer().of_dash(value, column, Steps { dash, ..self.steps() }),
        }
    }

    /// Returns a string in the style of the replaced scalar, if possible.
    fn replaced_text(&self, span: &Span, text: &str, column: usize, step: usize) -> Rendered {
        let old = scalar_style(span);
        let old_text = self.text.get(span.content..span.end).unwrap_or_default();
        let keeps_quotes = old == Some(ScalarStyle::DoubleQuoted) && old_text.contains("\\n");
        if !keeps_quotes {
            let step = self.literal_step(span, column).unwrap_or(step);
            let has_empty_end = old == Some(ScalarStyle::Block) && header(self.text, span).contains('+');
            let indentation = Indentation { parent: column, step };
            if let Some(rendered) = self.renderer().literal(text, indentation, has_empty_end) {
                return rendered;
            }
        }
        Rendered::flat(self.renderer().text(text, old))
    }

    /// Returns the indentation of a block scalar's lines, in columns.
    fn literal_step(&self, span: &Span, column: usize) -> Option<usize> {
        if scalar_style(span) != Some(ScalarStyle::Block) {
            return None;
        }
        let indicated = header(self.text, span).chars().find_map(|indicator| indicator.to_digit(10));
        if let Some(step) = indicated {
            return usize::try_from(step).ok();
        }
        let mut line = self.lines.next(self.lines.end(span.content));
        while line < span.end && self.lines.kind(line) == Line::Blank {
            line = self.lines.next(self.lines.end(line));
        }
        let blanks = self.text.get(line..span.end)?.bytes().take_while(|byte| *byte == b' ').count();
        blanks.checked_sub(column).filter(|step| (1..10).contains(step))
    }

    /// Replaces the value after a colon or a dash.
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
                    let floor = self.lines.next(self.lines.end(behind));
                    self.delete_block_children(first, last, span.column.max(column), floor);
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
            // The blanks before the value are deleted too.
            self.patches.delete(self.lines.before_blanks(range.start).max(behind)..range.end);
        } else {
            self.patches.replace(range, head);
        }
    }

    /// Returns a value as a document.
    pub(super) fn root(&self, value: &NewValue) -> Rendered {
        match value {
            // YAML 1.1 and 1.2 disagree on indentation indicators at the top level.
            NewValue::Text(text) => Rendered::flat(self.renderer().text(text, None)),
            value => self.renderer().of_dash(value, 0, Steps { dash: 0, ..self.steps() }),
        }
    }

    /// Replaces a whole document.
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

    /// Removes the tag of the old value, because it may be wrong for the new one.
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
