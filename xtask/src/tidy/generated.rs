//! Committed generated code equals the output of `cargo xtask proto`.

use super::{Check, Findings, Subject};
use crate::{Failure, proto};

pub(super) const CHECK: Check = Check {
    name: "generated",
    keeps: "the committed code of the plugin protocol is generated from its proto files",
    run,
};

fn run(subject: &Subject, findings: &mut Findings) -> Result<(), Failure> {
    let expected = proto::generate(&subject.tree.root().join(proto::PROTO_DIR))?;
    let remedy = "run `cargo xtask proto` and commit what it writes";
    for (name, text) in &expected {
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
    Ok(())
}
