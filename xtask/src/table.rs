//! Tables as text.

/// Joins the cells of each row, padded to the width of their column. Each line begins and ends as given.
pub(crate) fn text(rows: &[Vec<String>], [begin, between, end]: [&str; 3]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let line = [begin, &cells.join(between), end].concat();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A string for each cell.
pub(crate) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
