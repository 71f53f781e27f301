//! Every row of a table with a column `test` names existing tests: each documented rule is tested. A test is the name of a function, or a
//! case of the whole program as `topic/case`.

use std::collections::BTreeSet;

use super::markdown::{code_words, tables};
use super::source;
use super::{Check, Findings, Subject};
use crate::Failure;

/// Directory of the whole program's cases: one file each, in a directory per topic.
const CASES: &str = "crates/tiphys/testdata/cli/";

/// A document that must have such a table: the rules of the proposal and their tests.
const RULES: &str = "testdata/rules/proposals.md";

pub(super) const CHECK: Check = Check {
    name: "named-tests",
    keeps: "every rule in a table with a column `test` names tests that exist",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let known = test_names(subject)?;
    let mut has_rules = false;
    for path in subject.tree.with_extension("md") {
        let Some(text) = subject.tree.text(path)? else { continue };
        for table in tables(&text) {
            let Some(column) = table.column("test") else { continue };
            has_rules |= path == RULES && !table.rows.is_empty();
            for row in &table.rows {
                let place = format!("{path}:{}", row.line);
                let names = code_words(row.cell(column));
                if names.is_empty() {
                    let problem = format!("has no test for: {}", row.cell(0));
                    findings.add(&place, problem, "write one, and put its name in backticks into the row");
                }
                for name in names.into_iter().filter(|name| !known.contains(*name)) {
                    let remedy = "correct the name, or write the test";
                    findings.add(&place, format!("names the test {name}, which does not exist"), remedy);
                }
            }
        }
    }
    if !has_rules {
        let remedy = "add a row for each rule of the proposal";
        findings.add(RULES, "has no table with a column `test`", remedy);
    }
    Ok(())
}

/// Returns the names of all test functions and of all cases.
fn test_names(subject: &Subject) -> Result<BTreeSet<String>, Failure> {
    let case = |path: &str| Some(path.strip_prefix(CASES)?.strip_suffix(".txt")?.to_owned());
    let mut names: BTreeSet<String> = subject.tree.with_extension("txt").filter_map(case).collect();
    for path in subject.tree.with_extension("rs") {
        let Some(text) = subject.tree.text(path)? else { continue };
        names.extend(source::tests(path, &text)?);
    }
    Ok(names)
}
