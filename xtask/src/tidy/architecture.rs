//! The tables of ARCHITECTURE.md: the document states the rules, and the checks read them there.

use super::markdown::{Row, Table, code_words, tables};
use super::tree::Tree;
use crate::Failure;

/// The document, relative to the workspace's root.
pub(super) const DOCUMENT: &str = "ARCHITECTURE.md";

/// A line of the code map.
pub(super) struct MapRow {
    /// Line number, from 1.
    pub(super) line: usize,
    /// The crate's name.
    pub(super) name: String,
    /// The crate's directory in the row's link; empty without a link.
    pub(super) dir: String,
    /// The crates of the workspace that it may depend on; `None` for any.
    pub(super) may_depend_on: Option<Vec<String>>,
}

/// A line of the table of modules.
pub(super) struct ModuleRow {
    /// Line number, from 1.
    pub(super) line: usize,
    /// The module's name.
    pub(super) name: String,
    /// The module's file without `.rs`, which is its directory.
    pub(super) path: String,
    /// The modules of the crate that it may use.
    pub(super) may_use: Vec<String>,
}

/// A line of the table of restricted third-party crates.
pub(super) struct Restriction {
    /// Names; a `*` at the end matches any suffix.
    pub(super) patterns: Vec<String>,
    /// The crates of the workspace that may depend on them. Other crates get them only through these.
    pub(super) only_in: Vec<String>,
}

impl Restriction {
    /// Whether the restriction applies to a third-party crate.
    pub(super) fn covers(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == pattern,
        })
    }
}

/// The code map: the table with the columns `crate` and `may depend on`.
pub(super) fn code_map(tree: &Tree) -> Result<Vec<MapRow>, Failure> {
    let (table, columns) = table(tree, ["crate", "may depend on"])?;
    let row = |row: &Row| {
        let (name, dir) = link(row.cell(columns[0]))?;
        let allowed = row.cell(columns[1]);
        let names = || code_words(allowed).into_iter().map(str::to_owned).collect();
        let may_depend_on = (allowed != "any").then(names);
        Some(MapRow { line: row.line, name, dir, may_depend_on })
    };
    Ok(table.rows.iter().filter_map(row).collect())
}

/// The modules: the table with the columns `module` and `may use`.
pub(super) fn modules(tree: &Tree) -> Result<Vec<ModuleRow>, Failure> {
    let (table, columns) = table(tree, ["module", "may use"])?;
    let row = |row: &Row| {
        let (name, file) = link(row.cell(columns[0]))?;
        let path = file.trim_end_matches(".rs").to_owned();
        let may_use = code_words(row.cell(columns[1])).into_iter().map(str::to_owned).collect();
        Some(ModuleRow { line: row.line, name, path, may_use })
    };
    Ok(table.rows.iter().filter_map(row).collect())
}

/// The restrictions: the table with the columns `third-party crates` and `only in`.
pub(super) fn restrictions(tree: &Tree) -> Result<Vec<Restriction>, Failure> {
    let (table, columns) = table(tree, ["third-party crates", "only in"])?;
    let words = |row: &Row, column| code_words(row.cell(column)).into_iter().map(str::to_owned).collect();
    let restriction =
        |row: &Row| Restriction { patterns: words(row, columns[0]), only_in: words(row, columns[1]) };
    Ok(table.rows.iter().map(restriction).collect())
}

/// Returns the name and the target of a link: `` [`NAME`](TARGET) ``. The target is empty without a link.
fn link(cell: &str) -> Option<(String, String)> {
    let name = code_words(cell).first().map(|&name| name.to_owned())?;
    let target = cell.split("](").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    Some((name, target.to_owned()))
}

fn table<const N: usize>(tree: &Tree, columns: [&str; N]) -> Result<(Table, [usize; N]), Failure> {
    let text = tree.text(DOCUMENT)?.unwrap_or_default();
    for table in tables(&text) {
        let found = columns.map(|name| table.column(name));
        if found.iter().all(Option::is_some) {
            return Ok((table, found.map(Option::unwrap_or_default)));
        }
    }
    Err(Failure::new(format!("{DOCUMENT}: has no table with the columns {}", columns.join(", "))))
}
