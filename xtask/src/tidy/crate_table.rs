//! A crate of the workspace depends on exactly the crates of the workspace that its row of the code map names. Since every crate is checked
//! against its own row, the rule covers indirect dependencies, too.

use std::collections::BTreeSet;

use super::architecture::{DOCUMENT, code_map};
use super::graph::Need;
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "crate-table",
    keeps: "a crate depends on exactly the crates of the workspace that its row of the code map names",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let map = code_map(&subject.tree)?;
    for (_, package, _) in subject.graph.members() {
        // A crate without a row is the business of the check `code-map`.
        let Some(row) = map.iter().find(|row| row.name == package.name) else { continue };
        let Some(allowed) = &row.may_depend_on else { continue };
        let needed = package.needs(&[Need::Normal, Need::Build]).map(|index| &subject.graph.packages[index]);
        let needed: BTreeSet<&str> =
            needed.filter(|needed| needed.member.is_some()).map(|needed| needed.name.as_str()).collect();
        for name in &needed {
            if !allowed.iter().any(|allowed| allowed == name) {
                findings.add(
                    &package.name,
                    format!("depends on {name}, which {DOCUMENT}:{} does not allow", row.line),
                    "move the code to a crate that may, or change the row and say why in the commit",
                );
            }
        }
        for name in allowed.iter().filter(|name| !needed.contains(name.as_str())) {
            findings.add(
                &package.name,
                format!("does not depend on {name}, which {DOCUMENT}:{} allows", row.line),
                "remove the name from the row",
            );
        }
    }
    Ok(())
}
