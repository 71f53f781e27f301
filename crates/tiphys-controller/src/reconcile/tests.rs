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
