//! A crate of the workspace depends only on the crates that its row of the code map allows. Since every crate is held to its own row,
//! this holds for everything that it reaches, too.

#[cfg(test)]
mod tests;

use super::architecture::{Allowed, DOCUMENT, code_map};
use super::graph::Need;
use super::{Check, Finding, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "crate-table",
    keeps: "a crate depends only on the crates of the workspace that its row of the code map allows",
    run,
};

fn run(subject: &Subject) -> Result<Vec<Finding>, Failure> {
    let map = code_map(&subject.tree)?;
    let mut findings = Vec::new();
    for (_, package) in subject.graph.members() {
        // A crate without a row is the business of the check `code-map`.
        let Some(row) = map.iter().find(|row| row.name == package.name) else { continue };
        let Allowed::These(allowed) = &row.may_depend_on else { continue };
        for index in package.needs(&[Need::Normal, Need::Build]) {
            let needed = &subject.graph.packages[index];
            if needed.is_member() && !allowed.contains(&needed.name) {
                findings.push(Finding::new(
                    &package.name,
                    format!("depends on {}, which {DOCUMENT}:{} does not allow", needed.name, row.line),
                    "move the code to a crate that may, or change the row and say why in the commit",
                ));
            }
        }
    }
    Ok(findings)
}
