//! Checks that the document does not name, and names of no check.

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
fn a_table_that_names_every_check_holds() {
    assert_eq!(findings(&format!("{}| no unsafe code | `rustc` |\n", all_rows())), Vec::<String>::new());
}

#[test]
fn a_check_that_the_table_does_not_name_is_found() {
    let rows = all_rows().replace("| x | `licences` |\n", "");
    assert_eq!(findings(&rows), ["ARCHITECTURE.md: does not name the check licences"]);
}

#[test]
fn a_name_of_no_check_is_found() {
    let rows = format!("| y | `gone` |\n{}", all_rows());
    assert_eq!(findings(&rows), ["ARCHITECTURE.md:3: names the check gone, which does not exist"]);
}
