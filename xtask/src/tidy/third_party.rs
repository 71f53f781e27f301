//! Third-party crates that only some crates of the workspace may bring in (ARCHITECTURE.md, "third-party crates | only in").
//!
//! A crate may depend on one only through a permitted crate of the workspace, directly or indirectly.

use super::architecture::{code_map, restrictions};
use super::graph::Need;
use super::{Check, Findings, Subject};
use crate::Failure;

pub(super) const CHECK: Check = Check {
    name: "third-party",
    keeps: "restricted third-party crates come in only through the crates that may know them",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let map = code_map(&subject.tree)?;
    let is_free = |name: &str| map.iter().any(|row| row.name == name && row.may_depend_on.is_none());
    for restriction in restrictions(&subject.tree)? {
        for (index, package, _) in subject.graph.members() {
            if is_free(&package.name) || restriction.only_in.contains(&package.name) {
                continue;
            }
            let way = subject.graph.way(
                index,
                &[Need::Normal, Need::Build],
                |next| !restriction.only_in.contains(&next.name),
                |end| end.member.is_none() && restriction.covers(&end.name),
            );
            if let Some(way) = way {
                let allowed = match restriction.only_in.as_slice() {
                    [] => "no crate of the workspace".to_owned(),
                    names => names.join(", "),
                };
                findings.add(
                    &package.name,
                    format!("brings in {} ({})", way.last().unwrap_or(&""), way.join(" -> ")),
                    format!("only {allowed} may: move the code, or change the table and say why"),
                );
            }
        }
    }
    Ok(())
}
