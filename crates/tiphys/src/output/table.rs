//! Tables as kubectl prints them: columns padded with blanks, without lines.

use tiphys_process::escape_text;

use crate::terminal::without_controls;

/// Blanks between columns.
const GAP: usize = 3;

/// A column with cut cells has at least this many characters.
const CUT_CHARS_MIN: usize = 8;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with this heading.
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    /// Adds a row. Line breaks and control characters become blanks, an empty cell becomes `-`.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let shown = |cell: String| if cell.is_empty() { "-".to_owned() } else { without_controls(&cell) };
        self.rows.push(cells.into_iter().map(shown).collect());
    }

    /// The table as text.
    pub(crate) fn render(&self) -> String {
        self.text(&self.widths())
    }

    /// The table as text whose lines have at most this many characters, if possible. Only the cells of the column with this heading are cut,
    /// with an ellipsis: names and places are complete.
    pub(crate) fn render_within(&self, columns: usize, cut: &str) -> String {
        let mut widths = self.widths();
        let gaps = widths.len().saturating_sub(1) * GAP;
        let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
        let heading = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let width = heading.iter().position(|cell| cell == cut).and_then(|index| widths.get_mut(index));
        if let Some(width) = width.filter(|width| **width > CUT_CHARS_MIN) {
            *width = width.saturating_sub(excess).max(CUT_CHARS_MIN);
        }
        self.text(&widths)
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0; columns];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }

    fn text(&self, widths: &[usize]) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, &width) in row.iter().zip(widths) {
                let chars = cell.chars().count();
                if chars > width {
                    line.extend(cell.chars().take(width - 1).chain(['…']));
                } else {
                    line.push_str(cell);
                }
                line.extend(std::iter::repeat_n(' ', GAP + width.saturating_sub(chars)));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        escape_text(&text)
    }
}

#[cfg(test)]
mod tests;
