//! Committed generated code equals the output of `cargo xtask proto`.

use std::collections::BTreeMap;

use super::{Check, Finding, Findings as _, Subject};
use crate::{Failure, proto};

pub(super) const CHECK: Check = Check {
    name: "generated",
    keeps: "the committed code of the plugin protocol is generated from its proto files",
    run: |subject| {
        let expected = proto::generate(&subject.tree.root().join(proto::PROTO_DIR))?;
        compare(subject, &expected)
    },
};

fn compare(subject: &Subject, expected: &BTreeMap<String, String>) -> Result<Vec<Finding>, Failure> {
    let remedy = "run `cargo xtask proto` and commit what it writes";
    let mut findings = Vec::new();
    for (name, text) in expected {
        let path = format!("{}/{name}", proto::GENERATED_DIR);
        if !subject.tree.has(&path) {
            findings.add(path, "is missing", remedy);
        } else if subject.tree.text(&path)?.as_ref() != Some(text) {
            findings.add(path, "is not what the proto files make", remedy);
        }
    }
    let prefix = format!("{}/", proto::GENERATED_DIR);
    for path in subject.tree.paths() {
        if path.strip_prefix(&prefix).is_some_and(|name| !expected.contains_key(name)) {
            findings.add(path, "comes from no proto file", "remove it");
        }
    }
    Ok(findings)
}
