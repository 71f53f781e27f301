//! The code map of ARCHITECTURE.md has one row for each crate, and no others. A crate and its directory have the same name.

use super::architecture::{DOCUMENT, code_map};
use super::graph::Member;
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "code-map",
    keeps: "every crate has one row in the code map and the reverse; folder and crate have one name",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let map = code_map(&subject.tree)?;
    for (_, package, Member { dir, .. }) in subject.graph.members() {
        let folder = dir.rsplit('/').next().unwrap_or_default();
        if dir.starts_with("crates/") && folder != package.name {
            findings.add(dir, format!("holds the crate {}", package.name), "give both one name");
        }
        let rows: Vec<_> = map.iter().filter(|row| row.name == package.name).collect();
        match rows.as_slice() {
            [] => findings.add(dir, "has no row in the code map", format!("add one to {DOCUMENT}")),
            [row] if row.dir != *dir => findings.add(
                format!("{DOCUMENT}:{}", row.line),
                format!("links {:?} for {}, which is in {dir}", row.dir, package.name),
                "correct the link",
            ),
            [_] => {}
            [_, again, ..] => findings.add(
                format!("{DOCUMENT}:{}", again.line),
                format!("names {} again", package.name),
                "remove one of the rows",
            ),
        }
    }
    for row in map {
        if !subject.graph.members().any(|(_, package, _)| package.name == row.name) {
            findings.add(
                format!("{DOCUMENT}:{}", row.line),
                format!("names {}, which is not a crate of the workspace", row.name),
                "remove the row, or add it with the crate's first code",
            );
        }
    }
    Ok(())
}
