use serde_json::json;

use super::annotated_pointers;

#[test]
fn annotation_has_pointers_or_is_ignored() {
    for (annotation, expected) in [
        ("jsonPointers: [/spec/x, a/spec/y, /none/z]", json!({"z": 3})),
        ("jsonPointers:\n- /spec/x\njqPathExpressions: [.spec.z]\n", json!({"y": 2, "z": 3})),
        ("{\"jsonpointers\": [\"/spec/z\"]}", json!({"x": 1, "y": 2})),
        ("jsonPointers: []", json!({"x": 1, "y": 2, "z": 3})),
        ("jsonPointers: /spec/x", json!({"x": 1, "y": 2, "z": 3})),
        ("jsonPointers: [/spec/x, 1]", json!({"x": 1, "y": 2, "z": 3})),
        ("jsonPointers: [", json!({"x": 1, "y": 2, "z": 3})),
        ("/spec/x", json!({"x": 1, "y": 2, "z": 3})),
        ("", json!({"x": 1, "y": 2, "z": 3})),
    ] {
        let metadata = json!({"annotations": {"argocd.argoproj.io/ignore-differences": annotation}});
        let mut object = json!({"spec": {"x": 1, "y": 2, "z": 3}});
        for pointer in annotated_pointers(&metadata) {
            pointer.remove_from(&mut object);
        }
        assert_eq!(object["spec"], expected, "{annotation}");
    }
}
