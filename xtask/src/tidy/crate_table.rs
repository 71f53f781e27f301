//! A crate of the workspace depends on exactly the crates of the workspace that its row of the code map names. Since every crate is checked
//! against its own row, the rule covers indirect dependencies, too. A name such as `tiphys-model::limits` permits that module only.

use std::collections::BTreeSet;

use super::architecture::{DOCUMENT, code_map};
use super::graph::Need;
use super::source::names_after;
use super::tree::Tree;
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "crate-table",
    keeps: "a crate depends on exactly the crates of the workspace that its row of the code map names",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let map = code_map(&subject.tree)?;
    for (_, package, member) in subject.graph.members() {
        // A crate without a row is the business of the check `code-map`.
        let Some(row) = map.iter().find(|row| row.name == package.name) else { continue };
        let Some(allowed) = &row.may_depend_on else { continue };
        let needed = package.needs(&[Need::Normal, Need::Build]).map(|index| &subject.graph.packages[index]);
        let mut used = BTreeSet::new();
        for needed in needed.filter(|needed| needed.member.is_some()) {
            let prefix = format!("{}::", needed.name);
            if allowed.iter().any(|allowed| allowed.starts_with(&prefix)) {
                used.extend(modules(&subject.tree, &member.dir, &prefix)?);
            } else {
                used.insert(needed.name.clone());
            }
        }
        for name in &used {
            if !allowed.contains(name) {
                findings.add(
                    &package.name,
                    format!("depends on {name}, which {DOCUMENT}:{} does not allow", row.line),
                    "move the code to a crate that may, or change the row and say why in the commit",
                );
            }
        }
        for name in allowed.iter().filter(|&name| !used.contains(name)) {
            findings.add(
                &package.name,
                format!("does not depend on {name}, which {DOCUMENT}:{} allows", row.line),
                "remove the name from the row",
            );
        }
    }
    Ok(())
}

/// Returns the modules of another crate that the sources of a crate name, as `CRATE::MODULE`.
fn modules(tree: &Tree, dir: &str, prefix: &str) -> Result<BTreeSet<String>, Failure> {
    let (sources, path) = (format!("{dir}/src/"), prefix.replace('-', "_"));
    let mut modules = BTreeSet::new();
    for file in tree.with_extension("rs").filter(|file| file.starts_with(&sources)) {
        let text = tree.text(file)?.unwrap_or_default();
        modules.extend(names_after(&text, &path).map(|name| format!("{prefix}{name}")));
    }
    Ok(modules)
}
