use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_json;

use crate::appset::{Answers, GenerateOptions, generate};

#[test]
fn values_mix_parameters_of_both_only_with_fasttemplate() {
    for (is_go, value, expected) in [
        (false, "{{env}}-{{own}}-{{none}}", "dev-x-{{none}}"),
        (true, "{{.own}}", "x"),
        (true, "{{.env}}", "dev"),
        // The own parameter defers the whole string, which is rendered without those of the first generator.
        (true, "{{.env}}-{{.own}}", "<no value>-x"),
    ] {
        let plugin = json!({"configMapRef": {"name": "cm"}, "values": {"v": value}});
        let children = json!([{"list": {"elements": [{"env": "dev"}]}}, {"plugin": plugin}]);
        let set = json!({"metadata": {"name": "set"}, "spec": {
            "goTemplate": is_go,
            "generators": [{"matrix": {"generators": children}}],
            "template": {"metadata": {"name": "x"}, "spec": {}},
        }});
        let document = read_json(set.to_string().as_bytes()).expect("JSON");
        let set = ApplicationSet::decode(&document).expect("a set").value;
        let generated = |answers: &Answers| generate(&set, answers, GenerateOptions::at(UNIX_EPOCH));
        let questions = generated(&Answers::default()).expect("valid options").questions;
        let mut answers = Answers::default();
        let answer = json!({"own": "x"}).as_object().cloned();
        answers.insert(&questions[0], Ok(answer.into_iter().collect()));
        let generated = generated(&answers).expect("valid options");
        assert_eq!(generated.errors, []);
        let values = Value::from(generated.applications[0].parameters.values.clone());
        let pointer = if is_go { "/values/v" } else { "/values.v" };
        assert_eq!(values.pointer(pointer), Some(&Value::from(expected)), "{value}");
    }
}
