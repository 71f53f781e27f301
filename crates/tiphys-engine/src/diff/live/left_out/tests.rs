use serde_json::{Value, json};

use super::LeftOutReason;
use crate::Manifest;

#[test]
fn annotations_exclude_objects_from_comparison() {
    use LeftOutReason::{Extraneous, Hook, NoName, NotPruned};
    let cases = [
        (json!({}), None, None),
        (json!({"argocd.argoproj.io/hook": "PreSync"}), Some(Hook), Some(Hook)),
        (json!({"helm.sh/hook": "pre-install,pre-upgrade"}), Some(Hook), Some(Hook)),
        (json!({"helm.sh/hook": "crd-install"}), None, None),
        (json!({"argocd.argoproj.io/sync-options": "Validate=false, Prune=false"}), None, Some(NotPruned)),
        (json!({"argocd.argoproj.io/sync-options": "Prune=confirm"}), None, None),
        (json!({"argocd.argoproj.io/compare-options": "IgnoreExtraneous"}), None, Some(Extraneous)),
    ];
    for (annotations, rendered, live) in cases {
        let object =
            json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "annotations": annotations}});
        let Value::Object(object) = object else { panic!("{object}") };
        let manifest = Manifest::new(object);
        assert_eq!(
            (LeftOutReason::of_rendered(&manifest), LeftOutReason::of_live(&manifest)),
            (rendered, live),
            "{manifest:?}"
        );
    }
    let Value::Object(unnamed) = json!({"kind": "X", "metadata": {"generateName": "a-"}}) else { panic!() };
    assert_eq!(LeftOutReason::of_rendered(&Manifest::new(unnamed)), Some(NoName));
}

#[test]
fn deleted_objects_are_not_removed_again() {
    let metadata =
        json!({"name": "a", "deletionTimestamp": "2026-01-02T03:04:05Z", "finalizers": ["example.org/wait"]});
    let Value::Object(deleted) = json!({"kind": "X", "metadata": metadata}) else { panic!() };
    let deleted = Manifest::new(deleted);
    let reasons = (LeftOutReason::of_rendered(&deleted), LeftOutReason::of_live(&deleted));
    assert_eq!(reasons, (None, Some(LeftOutReason::Deleted)));
}
