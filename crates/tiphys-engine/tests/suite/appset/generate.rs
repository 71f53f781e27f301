//! Recorded answers of Argo CD for whole sets. Those with plugins are tested where plugins are asked.

use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use tiphys_engine::appset::{Answers, GenerateErrorReason, GenerateOptions, generate};
use tiphys_model::resources::ApplicationSet;
use tiphys_testkit::oracle::{self, Difference};
use tiphys_testkit::recorded_sets::{clusters, git, has_panicked, is_equal, ours, outputs, recorded};
use tiphys_yaml::read_json;

/// Questions lead to questions once for each level of generators.
const ROUNDS_MAX: usize = 4;

#[test]
fn sets_generate_recorded_applications() {
    oracle::check("appset-generate", |case| {
        let answer = answer(&case["input"])?;
        let outputs = outputs(case);
        let is_recorded = outputs.iter().map(recorded).any(|recorded| is_equal(&answer, &recorded));
        Some(if is_recorded || has_panicked(&outputs) {
            Ok(())
        } else {
            Err(Difference::new(answer, recorded(&outputs[0])))
        })
    });
}

/// Returns what [`recorded`] should be; none if a plugin is asked.
fn answer(input: &Value) -> Option<Value> {
    let text = input["applicationSet"].to_string();
    let set = match ApplicationSet::decode(&read_json(text.as_bytes()).expect("JSON")) {
        Ok(set) => set.value,
        Err(error) => return Some(json!([null, error.to_string()])),
    };
    let mut answers = Answers::default();
    for _ in 0..ROUNDS_MAX {
        let generated = match generate(&set, &answers, GenerateOptions::at(UNIX_EPOCH)) {
            Ok(generated) => generated,
            Err(error) => return Some(json!([null, error.to_string()])),
        };
        if generated.questions.is_empty() {
            let applications =
                generated.applications.into_iter().map(|generated| generated.application.value());
            let error = generated.errors.first().map(|error| match error.reason {
                GenerateErrorReason::Generator => {
                    ("ApplicationGenerationFromParamsError", error.message.as_str())
                }
                GenerateErrorReason::Template => ("RenderTemplateParamsError", error.message.as_str()),
            });
            return Some(ours(applications.collect(), error));
        }
        for question in &generated.questions {
            let answer = match question.generator {
                "clusters" => Ok(clusters(input)),
                "git" => git(&input["git"], &question.request),
                "plugin" => return None,
                other => panic!("no case asks {other}"),
            };
            answers.insert(question, answer);
        }
    }
    panic!("more than {ROUNDS_MAX} rounds of questions")
}

#[test]
fn entry_without_a_generator_is_an_error() {
    let set = json!({"metadata": {"name": "a"}, "spec": {"generators": [{"list": {"elements": [{"name": "x"}]}}, {}]}});
    let set =
        ApplicationSet::decode(&read_json(set.to_string().as_bytes()).expect("JSON")).expect("a set").value;
    let generated =
        generate(&set, &Answers::default(), GenerateOptions::at(UNIX_EPOCH)).expect("valid options");
    let errors: Vec<&str> = generated.errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(errors, ["spec.generators[1] has no generator; check its spelling"]);
}
