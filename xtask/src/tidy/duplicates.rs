//! The program contains each library once. A second version adds code, and its types are incompatible.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::PLATFORMS;
use super::{Check, Findings, Subject};
use crate::Failure;
use crate::cargo::{cargo_program, output, program};

/// Libraries with several versions, each with the reason and the condition that ends it.
const EXCEPTIONS: &[&str] = &[
    // jaq needs 0.1 and the reader of git's index 0.2. Ends when jaq uses 0.2.
    "foldhash",
    // `ring` needs 0.2 and the Kubernetes client's YAML reader 0.3. Ends when both use 0.4.
    "getrandom",
];

pub(super) const CHECK: Check =
    Check { name: "duplicates", keeps: "the program contains no library in two versions", run };

/// Runs `cargo tree`, which excludes dependencies of builds, tests and procedural macros.
fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for platform in PLATFORMS {
        let listed = output(
            program(cargo_program())
                .args(["tree", "--locked", "--package", "tiphys", "--edges", "normal,no-proc-macro"])
                .args(["--duplicates", "--prefix", "none", "--depth", "0", "--target", platform])
                .current_dir(subject.tree.root()),
        )?;
        for line in listed.lines() {
            if let Some((name, version)) = line.split_once(' ') {
                versions.entry(name.to_owned()).or_default().insert(version.to_owned());
            }
        }
    }
    for (name, versions) in versions.iter().filter(|(name, _)| !EXCEPTIONS.contains(&name.as_str())) {
        let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
        findings.add(
            name,
            format!("is there in {} versions: {}", versions.len(), versions.join(", ")),
            "see `cargo tree -p tiphys -d`; choose versions of the dependents that agree, or add the name to EXCEPTIONS with the reason",
        );
    }
    for name in EXCEPTIONS.iter().filter(|name| !versions.contains_key(**name)) {
        findings.add(*name, "is there once and has an exception", "remove the exception");
    }
    Ok(())
}
