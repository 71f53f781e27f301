//! The table of invariants in ARCHITECTURE.md names every check of this module, and no other.

use super::architecture::{DOCUMENT, named_checks};
use super::{CHECKS, Check, Findings, Subject};
use crate::Failure;

/// Invariants without a check here: those of the compiler, its lints and documentation.
const ELSEWHERE: &[&str] = &["rustc", "clippy", "rustdoc", "rustfmt"];

pub(super) const CHECK: Check =
    Check { name: "invariants", keeps: "the table of invariants names every check, and no other", run };

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let named = named_checks(&subject.tree)?;
    for (line, name) in &named {
        if !CHECKS.iter().any(|check| check.name == name) && !ELSEWHERE.contains(&name.as_str()) {
            findings.add(
                format!("{DOCUMENT}:{line}"),
                format!("names the check {name}, which does not exist"),
                "correct the name; `cargo xtask tidy --list` shows all",
            );
        }
    }
    for check in CHECKS.iter().filter(|check| !named.iter().any(|(_, name)| name == check.name)) {
        findings.add(
            DOCUMENT,
            format!("does not name the check {}", check.name),
            format!("add the invariant: {}", check.keeps),
        );
    }
    Ok(())
}
