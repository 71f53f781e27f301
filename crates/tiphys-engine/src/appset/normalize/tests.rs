use serde_json::json;
use tiphys_model::resources::{APPLICATION, decode_value};

use super::normalize_spec;

#[test]
fn what_sets_nothing_vanishes() {
    let cases = [
        // (spec, normalised spec without the destination)
        (json!({}), json!({"project": "default"})),
        (json!({"project": "p", "syncPolicy": {}}), json!({"project": "p"})),
        (json!({"syncPolicy": {"syncOptions": []}}), json!({"project": "default"})),
        (
            json!({"syncPolicy": {"automated": {}}}),
            json!({"project": "default", "syncPolicy": {"automated": {}}}),
        ),
        (json!({"syncPolicy": {"retry": {}}}), json!({"project": "default", "syncPolicy": {"retry": {}}})),
        (
            json!({"source": {"repoURL": "r", "kustomize": {"images": []}, "helm": {"values": ""}, "directory": {"recurse": false}, "plugin": {}}}),
            json!({"project": "default", "source": {"repoURL": "r", "plugin": {}}}),
        ),
        (
            json!({"source": {"repoURL": "r", "kustomize": {"labelWithoutSelector": true}, "helm": {"valuesObject": {}}, "directory": {"jsonnet": {"libs": []}, "include": "*"}}}),
            json!({"project": "default", "source": {"repoURL": "r", "helm": {"valuesObject": {}}, "directory": {"include": "*"}}}),
        ),
        (
            json!({"source": {"repoURL": "r", "kustomize": {"namePrefix": "p", "labelWithoutSelector": true}, "directory": {"recurse": true}}}),
            json!({"project": "default", "source": {"repoURL": "r", "kustomize": {"namePrefix": "p", "labelWithoutSelector": true}, "directory": {"recurse": true}}}),
        ),
        // Only the sources in use are normalised.
        (
            json!({"source": {"repoURL": "r", "helm": {}}, "sources": [{"repoURL": "s", "helm": {}}]}),
            json!({"project": "default", "source": {"repoURL": "r", "helm": {}}, "sources": [{"repoURL": "s"}]}),
        ),
    ];
    for (spec, mut expected) in cases {
        let mut application = decode_value(&APPLICATION, &json!({"spec": spec})).unwrap().value;
        normalize_spec(&mut application["spec"]);
        expected["destination"] = json!({});
        assert_eq!(application["spec"], expected, "{spec}");
    }
}
