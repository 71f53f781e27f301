//! Parses the parts of Markdown files that checks need: tables, links, headings, words in backticks.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

/// A table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// The cells of its header in lower case.
    pub(crate) header: Vec<String>,
    /// The other rows.
    pub(crate) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Its cells, trimmed.
    pub(crate) cells: Vec<String>,
}

/// A link's target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Line number, from 1.
    pub(crate) line: usize,
    /// As written.
    pub(crate) target: String,
}

impl Table {
    /// The index of the column with this name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|cell| cell == name)
    }
}

impl Row {
    /// The text of a cell, empty if the row is too short.
    pub(crate) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }
}

/// The lines outside of fenced code, with their numbers from 1.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// All tables: a header, a line of dashes, then rows.
pub(crate) fn tables(text: &str) -> Vec<Table> {
    let lines: Vec<(usize, &str)> = prose(text).collect();
    let mut tables = Vec::new();
    let mut index = 0;
    while index + 1 < lines.len() {
        if !is_row(lines[index].1) || !is_rule(lines[index + 1].1) {
            index += 1;
            continue;
        }
        let header = cells(lines[index].1).iter().map(|cell| cell.to_lowercase()).collect();
        let rows: Vec<Row> = lines[index + 2..]
            .iter()
            .take_while(|(_, line)| is_row(line))
            .map(|&(line, text)| Row { line, cells: cells(text) })
            .collect();
        index += 2 + rows.len();
        tables.push(Table { header, rows });
    }
    tables
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

fn is_rule(line: &str) -> bool {
    is_row(line) && line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let inner = line.trim().trim_start_matches('|');
    let mut escaped = false;
    for character in inner.chars() {
        match character {
            '|' if !escaped => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(character);
                }
            }
        }
        escaped = character == '\\' && !escaped;
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().replace("\\|", "|")).collect()
}

/// The words in single backticks.
pub(crate) fn code_words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// All inline and reference links, including images, outside of backticks.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        let outside: String = text.split('`').step_by(2).collect::<Vec<_>>().join("``");
        for piece in outside.split("](").skip(1) {
            if let Some(target) = piece.split(')').next() {
                let target = target.split_whitespace().next().unwrap_or_default();
                links.push(Link { line, target: target.to_owned() });
            }
        }
        if outside.starts_with('[')
            && let Some((_, target)) = outside.split_once("]: ")
        {
            links.push(Link { line, target: target.trim().to_owned() });
        }
    }
    links
}

/// The anchors of all headings, as GitHub creates them.
pub(crate) fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let count = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *count == 0 { anchor.clone() } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}
