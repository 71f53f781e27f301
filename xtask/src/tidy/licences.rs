//! Every crate that we build with has a licence that goes with ours.

#[cfg(test)]
mod tests;

use super::graph::Graph;
use super::spdx::is_met;
use super::{Check, Finding};

/// Licences that go with Apache-2.0 and ask for no more than a notice.
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

/// Crates whose manifest names a file instead of a licence: their names, and what a person found in the file.
const READ: &[(&str, &str)] = &[];

pub(super) const CHECK: Check = Check {
    name: "licences",
    keeps: "every crate that we build with has an accepted licence",
    run: |subject| Ok(judge(&subject.graph, READ)),
};

fn judge(graph: &Graph, read_by_us: &[(&str, &str)]) -> Vec<Finding> {
    let accepts = |name: &str| ACCEPTED.contains(&name);
    let mut findings = Vec::new();
    for package in graph.packages.iter().filter(|package| !package.is_member()) {
        let place = format!("{} {}", package.name, package.version);
        let read = read_by_us.iter().find(|(name, _)| *name == package.name).map(|&(_, licence)| licence);
        match package.licence.as_deref().or(read) {
            None => findings.push(Finding::new(
                place,
                "names no licence",
                "read its licence file, and name what it is in the list READ of this check",
            )),
            Some(expression) => match is_met(expression, &accepts) {
                Some(true) => {}
                Some(false) => findings.push(Finding::new(
                    place,
                    format!("has the licence {expression}, which is not accepted"),
                    "use another crate, or add the licence to the check if it asks for no more than a notice",
                )),
                None => findings.push(Finding::new(
                    place,
                    format!("has a licence expression that cannot be read: {expression}"),
                    "read its licence file, and use another crate if it is not one of the accepted ones",
                )),
            },
        }
    }
    for (name, _) in read_by_us {
        let needed = graph.packages.iter().any(|package| package.name == *name && package.licence.is_none());
        if !needed {
            let remedy = "remove the line from the list READ of this check";
            findings.push(Finding::new(*name, "needs no reading of its licence file any more", remedy));
        }
    }
    findings
}
