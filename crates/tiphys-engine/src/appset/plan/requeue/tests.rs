use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_json;

use super::requeue_after_seconds;

#[test]
fn lowest_wish_of_generators_counts() {
    let wish = |kind: &str, seconds: Value| json!({kind: {"requeueAfterSeconds": seconds}});
    let list = json!({"list": {}});
    let cases = [
        (vec![], None),
        (vec![list.clone(), json!({"clusters": {}})], None),
        (vec![json!({"git": {}})], Some(60)),
        (vec![json!({"oci": {}})], Some(60)),
        (vec![json!({"clusterDecisionResource": {}})], Some(60)),
        (vec![json!({"plugin": {}})], Some(1800)),
        (vec![json!({"plugin": {"configMapRef": "cm", "requeueAfterSeconds": 10}})], Some(10)),
        (vec![json!({"scmProvider": {}})], Some(1800)),
        (vec![json!({"pullRequest": {}})], Some(1800)),
        (vec![wish("git", json!(0))], None),
        (vec![wish("git", json!(-1)), wish("plugin", json!(5))], None),
        (vec![wish("git", json!(0)), wish("plugin", json!(5)), list.clone()], Some(5)),
        (vec![wish("git", json!(90)), json!({"plugin": {}})], Some(90)),
        (vec![json!({"matrix": {"generators": [list, wish("git", json!(7))]}}), json!({"git": {}})], Some(7)),
        (
            vec![json!({"merge": {"generators": [{"matrix": {"generators": [{"git": {}}, {"list": {}}]}}]}})],
            Some(60),
        ),
    ];
    for (generators, expected) in cases {
        let set = json!({"metadata": {"name": "set"}, "spec": {"generators": generators}});
        let document = read_json(set.to_string().as_bytes()).expect("JSON");
        let set = ApplicationSet::decode(&document).expect("a set").value;
        assert_eq!(requeue_after_seconds(&set, 60), expected, "{generators:?}");
    }
}
