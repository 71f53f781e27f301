use super::*;

#[test]
fn status_patch_has_what_changed() {
    for (before, after, expected) in [
        (json!(null), json!({"a": 1}), Some(json!({"a": 1}))),
        (json!({"a": 1, "b": 2, "c": [1]}), json!({"a": 1, "c": [2]}), Some(json!({"b": null, "c": [2]}))),
        (json!({"a": 1}), json!({"a": 1}), None),
        (json!(null), json!({}), None),
    ] {
        assert_eq!(difference(&before, &after), expected, "{before} {after}");
    }
}

#[test]
fn guard_is_released_for_one_generation() {
    for (generation, annotation, expected) in [
        (json!(3), json!("3"), true),
        (json!(4), json!("3"), false),
        (json!(3), json!("true"), false),
        (json!(3), json!(3), false),
        (json!(3), json!(null), false),
        (json!(null), json!(""), false),
    ] {
        let set = json!({"metadata": {"generation": generation, "annotations": {ALLOW_DELETIONS_ANNOTATION: annotation}}});
        assert_eq!(permits_deletions(&set), expected, "{set}");
    }
}

#[test]
fn written_status_is_checked_beside_the_patch() {
    let (patch, expected) = (json!({"a": 1}), json!({"a": 1, "b": 2}));
    assert!(!differs_beside(&patch, &json!({"a": 1, "b": 2, "c": 3}), &expected));
    // A server may leave out what was sent.
    assert!(!differs_beside(&patch, &json!({"b": 2}), &expected));
    assert!(differs_beside(&patch, &json!({"a": 1, "b": 3}), &expected));
}
