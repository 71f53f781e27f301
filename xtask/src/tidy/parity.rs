//! The Helm plugin's parity document has one row for each behaviour of Argo CD's native support, and names each test of the plugin's whole
//! runs. `named-tests` checks that the tests in the rows exist.

use std::collections::BTreeSet;

use super::markdown::{code_words, prose, tables};
use super::source;
use super::tree::has_extension;
use super::{Check, Findings, Subject};
use crate::Failure;

/// The document.
const DOCUMENT: &str = "plugins/helm/PARITY.md";

/// Number of rows.
const ROWS: usize = 116;

/// Directories of the tests that run the plugin as a program.
const TESTS: [&str; 2] = ["plugins/helm/tests/generate/", "plugins/helm/tests/announce/"];

pub(super) const CHECK: Check = Check {
    name: "parity",
    keeps: "PARITY.md of the Helm plugin has each row once, in order, and a place for each test of whole runs",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let text = subject.tree.text(DOCUMENT)?.unwrap_or_default();
    let mut due = 1;
    for table in tables(&text) {
        let (Some(number), Some(_)) = (table.column("row"), table.column("test")) else { continue };
        for row in &table.rows {
            let place = format!("{DOCUMENT}:{}", row.line);
            match row.cell(number).parse::<usize>() {
                Ok(found) => {
                    if found != due {
                        let problem = format!("is row {found}, expected row {due}");
                        findings.add(place, problem, "keep each row once, in order");
                    }
                    due = found + 1;
                }
                Err(_) => findings.add(place, "has no number", "write the row's number first"),
            }
        }
    }
    if due != ROWS + 1 {
        let problem = format!("ends with row {}, and the list has {ROWS}", due - 1);
        findings.add(DOCUMENT, problem, "keep one row for each behaviour of native support");
    }
    let named: BTreeSet<&str> = prose(&text).flat_map(|(_, line)| code_words(line)).collect();
    let is_of_runs =
        |path: &&str| has_extension(path, "rs") && TESTS.iter().any(|folder| path.starts_with(folder));
    for path in subject.tree.paths().filter(is_of_runs) {
        let Some(source) = subject.tree.text(path)? else { continue };
        for test in source::tests(path, &source)?.iter().filter(|test| !named.contains(test.as_str())) {
            findings.add(
                path,
                format!("has the test {test}, which {DOCUMENT} does not name"),
                "add its name to the row that it tests, or to the table of other tests",
            );
        }
    }
    Ok(())
}
