//! Every crate of the build has a licence that is compatible with ours.

#[cfg(test)]
mod tests;

use super::graph::Graph;
use super::{Check, Finding, Findings as _};

/// Licences that are compatible with Apache-2.0 and require no more than a notice.
const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates whose manifest names a file instead of a licence, with the licence in that file.
const READ: &[(&str, &str)] = &[];

pub(super) const CHECK: Check = Check {
    name: "licences",
    keeps: "every crate that we build with has an accepted licence",
    run: |subject| Ok(judge(&subject.graph, READ)),
};

fn judge(graph: &Graph, read_by_us: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in graph.packages.iter().filter(|package| !package.is_member()) {
        let place = format!("{} {}", package.name, package.version);
        let read = read_by_us.iter().find(|(name, _)| *name == package.name).map(|&(_, licence)| licence);
        match package.licence.as_deref().or(read) {
            None => findings.add(
                place,
                "names no licence",
                "read its licence file, and name what it is in the list READ of this check",
            ),
            Some(expression) if is_accepted(expression) => {}
            Some(expression) => findings.add(
                place,
                format!("has the licence {expression}, which is not accepted"),
                "use another crate, or add the licence to the check if it requires no more than a notice",
            ),
        }
    }
    for (name, _) in read_by_us {
        let needed = graph.packages.iter().any(|package| package.name == *name && package.licence.is_none());
        if !needed {
            let remedy = "remove the line from the list READ of this check";
            findings.add(*name, "needs no reading of its licence file any more", remedy);
        }
    }
    findings
}

/// Whether each part between `AND` has an accepted licence. An old `/` is `OR`. Alternatives with an `AND` inside are refused, although
/// SPDX allows them.
fn is_accepted(expression: &str) -> bool {
    expression
        .replace('/', " OR ")
        .split(" AND ")
        .all(|part| part.trim_matches(['(', ')']).split(" OR ").any(|name| ACCEPTED.contains(&name.trim())))
}
