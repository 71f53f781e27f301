//! Stale, missing and unexpected generated files.

use super::*;
use crate::tidy::synthetic::Synthetic;

/// The code of the first proto file.
const PLUGIN_CODE: &str = "crates/tiphys-cmp/src/generated/plugin.rs";

/// Every compiled proto file, with one message each.
const PROTO_FILES: [(&str, &str); 3] = [
    (
        "crates/tiphys-cmp/proto/plugin.proto",
        "syntax = \"proto3\";\npackage plugin;\nmessage File { bytes chunk = 1; }\n",
    ),
    (
        "crates/tiphys-cmp/proto/version.proto",
        "syntax = \"proto3\";\npackage version;\nmessage VersionMessage { string version = 1; }\n",
    ),
    (
        "crates/tiphys-cmp/proto/askpass.proto",
        "syntax = \"proto3\";\npackage askpass;\nmessage CredentialsRequest { string nonce = 1; }\n",
    ),
];

/// The proto files with their generated code.
fn tree() -> Synthetic {
    let tree = Synthetic::new(&PROTO_FILES);
    for (name, text) in proto::generate(&tree.root().join(proto::PROTO_DIR)).unwrap() {
        tree.write(&format!("{}/{name}", proto::GENERATED_DIR), &text);
    }
    tree
}

#[test]
fn current_code_has_no_findings() {
    let tree = tree();
    let text = std::fs::read_to_string(tree.root().join(PLUGIN_CODE)).unwrap();
    assert!(text.contains("pub struct File"), "{text}");
    assert_eq!(tree.findings(&CHECK), Vec::<String>::new());
}

#[test]
fn stale_code_is_found() {
    let tree = tree();
    let text = std::fs::read_to_string(tree.root().join(PLUGIN_CODE)).unwrap();
    tree.write(PLUGIN_CODE, text.replace("chunk", "piece"));
    assert_eq!(tree.findings(&CHECK), [format!("{PLUGIN_CODE}: is not what the proto files make")]);
}

#[test]
fn missing_code_is_found() {
    let tree = tree();
    std::fs::remove_file(tree.root().join(PLUGIN_CODE)).unwrap();
    assert_eq!(tree.findings(&CHECK), [format!("{PLUGIN_CODE}: is missing")]);
}

#[test]
fn code_without_a_proto_file_is_found() {
    let tree = tree();
    tree.write("crates/tiphys-cmp/src/generated/other.rs", "");
    assert_eq!(tree.findings(&CHECK), ["crates/tiphys-cmp/src/generated/other.rs: comes from no proto file"]);
}

#[test]
fn invalid_proto_file_is_a_failure_with_its_name() {
    let tree = Synthetic::new(&[("crates/tiphys-cmp/proto/plugin.proto", "message {")]);
    let failure = (CHECK.run)(&tree.subject()).unwrap_err().to_string();
    assert!(failure.contains("plugin.proto"), "{failure}");
}
