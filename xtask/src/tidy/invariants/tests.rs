//! Checks that the document does not name, and unknown names.

use super::*;
use crate::tidy::synthetic::Synthetic;

fn findings(rows: &str) -> Vec<String> {
    let document = format!("| invariant | check |\n|---|---|\n{rows}");
    Synthetic::new(&[("ARCHITECTURE.md", &document)]).findings(&CHECK)
}

fn all_rows() -> String {
    let rows: Vec<String> = CHECKS.iter().map(|check| format!("| x | `{}` |\n", check.name)).collect();
    rows.concat()
}

#[test]
fn table_with_every_check_has_no_findings() {
    assert_eq!(findings(&format!("{}| no unsafe code | `rustc` |\n", all_rows())), Vec::<String>::new());
}

#[test]
fn check_that_the_table_does_not_name_is_found() {
    let rows = all_rows().replace("| x | `licences` |\n", "");
    assert_eq!(findings(&rows), ["ARCHITECTURE.md: does not name the check licences"]);
}

#[test]
fn unknown_check_is_found() {
    let rows = format!("| y | `gone` |\n{}", all_rows());
    assert_eq!(findings(&rows), ["ARCHITECTURE.md:3: names the check gone, which does not exist"]);
}
