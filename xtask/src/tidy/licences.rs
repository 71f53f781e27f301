//! Every crate of the build has a licence that is compatible with ours.

use super::graph::Graph;
use super::{Check, Findings};

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

pub(super) const CHECK: Check = Check {
    name: "licences",
    keeps: "every crate that we build with has an accepted licence",
    run: |subject, findings| {
        judge(&subject.graph, findings);
        Ok(())
    },
};

fn judge(graph: &Graph, findings: &mut Findings) {
    for package in graph.packages.iter().filter(|package| package.member.is_none()) {
        // A crate whose manifest names a file instead has none.
        let licence = package.licence.as_deref().unwrap_or_default();
        if !is_accepted(licence) {
            findings.add(
                format!("{} {}", package.name, package.version),
                format!("has the licence {licence:?}, which is not accepted"),
                "use another crate, or add the licence to the check if it requires no more than a notice",
            );
        }
    }
}

/// Whether each part between `AND` has an accepted licence. An old `/` is `OR`. Alternatives with an `AND` inside are refused, although
/// SPDX allows them.
fn is_accepted(expression: &str) -> bool {
    expression
        .replace('/', " OR ")
        .split(" AND ")
        .all(|part| part.trim_matches(['(', ')']).split(" OR ").any(|name| ACCEPTED.contains(&name.trim())))
}
