//! Stale, missing and foreign generated files.

use super::*;
use crate::tidy::synthetic::Synthetic;

const PLUGIN: &str = "syntax = \"proto3\";\npackage plugin;\nmessage File { bytes chunk = 1; }\n";

fn tree(generated: &str) -> Synthetic {
    let tree = Synthetic::new(&[("crates/tiphys-cmp/proto/plugin.proto", PLUGIN)]);
    tree.write("crates/tiphys-cmp/src/generated/plugin.rs", generated);
    tree
}

fn fresh() -> String {
    let proto = tree("");
    proto::generate(&proto.root().join(proto::PROTO_DIR)).unwrap().remove("plugin.rs").unwrap()
}

#[test]
fn fresh_code_holds() {
    let text = fresh();
    assert!(text.contains("pub struct File"), "{text}");
    assert_eq!(tree(&text).findings(&CHECK), Vec::<String>::new());
}

#[test]
fn stale_code_is_found() {
    let text = fresh().replace("chunk", "piece");
    assert_eq!(
        tree(&text).findings(&CHECK),
        ["crates/tiphys-cmp/src/generated/plugin.rs: is not what the proto files make"]
    );
}

#[test]
fn missing_code_is_found() {
    let tree = Synthetic::new(&[("crates/tiphys-cmp/proto/plugin.proto", PLUGIN)]);
    assert_eq!(tree.findings(&CHECK), ["crates/tiphys-cmp/src/generated/plugin.rs: is missing"]);
}

#[test]
fn code_of_no_proto_file_is_found() {
    let tree = tree(&fresh());
    tree.write("crates/tiphys-cmp/src/generated/other.rs", "");
    assert_eq!(tree.findings(&CHECK), ["crates/tiphys-cmp/src/generated/other.rs: comes from no proto file"]);
}

#[test]
fn a_proto_file_that_does_not_parse_is_a_failure_that_names_it() {
    let tree = Synthetic::new(&[("crates/tiphys-cmp/proto/plugin.proto", "message {")]);
    let failure = (CHECK.run)(&tree.subject()).unwrap_err().to_string();
    assert!(failure.contains("plugin.proto"), "{failure}");
}
