use serde_json::json;

use super::*;

#[test]
fn entry_changes_references_of_its_name() {
    for (reference, entry, expected) in [
        ("nginx:1", json!({"name": "nginx", "newTag": "2"}), "nginx:2"),
        ("nginx:1", json!({"name": "nginx:1", "newTag": "2"}), "nginx:2"),
        ("nginx:1", json!({"name": "nginx", "newName": "web"}), "web:1"),
        ("nginx:1", json!({"name": "nginx", "digest": "sha256:00"}), "nginx@sha256:00"),
        (
            "nginx@sha256:11",
            json!({"name": "nginx", "newTag": "2", "digest": "sha256:00"}),
            "nginx:2@sha256:00",
        ),
        ("nginx:1", json!({"name": "ngin", "newTag": "2"}), "nginx:1"),
        ("nginx:1", json!({"newTag": "2"}), "nginx:1"),
        ("nginx:1", json!("nginx"), "nginx:1"),
    ] {
        assert_eq!(changed(reference, &entry), expected, "{reference} {entry}");
    }
}
