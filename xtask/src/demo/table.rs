//! The rows as text for people.

use super::row::Row;

const HEADING: [&str; 8] =
    ["APPLICATION", "SOURCE", "PLUGIN", "CHOSEN BY", "PARAMETERS", "OBJECTS", "TIME", "IN PLUGIN"];

/// Blanks between two columns.
const GAP: usize = 3;

/// The rows under a heading, in columns.
pub(super) fn of(rows: &[Row]) -> String {
    let lines: Vec<[String; 8]> =
        [HEADING.map(str::to_owned)].into_iter().chain(rows.iter().map(cells)).collect();
    let widths: [usize; 8] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for line in &lines {
        let begin = text.len();
        for (cell, width) in line.iter().zip(widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width + GAP - cell.chars().count()));
        }
        text.truncate(begin + text[begin..].trim_end().len());
        text.push('\n');
    }
    text
}

fn cells(row: &Row) -> [String; 8] {
    let source = if row.sources > 1 { format!("{}: {}", row.position, row.path) } else { row.path.clone() };
    [
        row.application.clone(),
        source,
        row.maker.clone(),
        row.choice.name().to_owned(),
        format!("{} of {}", row.set, row.announced.len()),
        row.objects.to_string(),
        milliseconds(row.seconds),
        milliseconds(row.plugin_seconds),
    ]
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.0} ms", seconds * 1_000.0)
}
