use std::path::Path;

use serde_json::{Value, json};
use tiphys_engine::appset::Question;

use super::AnsweredQuestions;
use crate::context::sets::RecordedAnswers;

fn question(generator: &'static str, request: Value) -> Question {
    Question { generator, request, parameters: String::new() }
}

#[test]
fn entries_that_answer_nothing_are_reported() {
    let content = r#"{"answers": [
        {"generator": "plugin", "match": {"configMap": "x"}, "parameters": [{"n": 0}]},
        {"generator": "plugin", "match": {"configMap": "x", "contract": "shipped"}, "parameters": []},
        {"generator": "plugin", "match": {"contract": "shipped"}, "parameters": []},
        {"generator": "plugin", "match": {"configMap": "y"}, "parameters": []},
        {"generator": "clusters", "parameters": []}
    ]}"#;
    let answers = RecordedAnswers::parse(Path::new("a.json"), content.as_bytes()).expect("valid answers");
    let answered = AnsweredQuestions::new(answers);
    let answer = answered.answer(&question("plugin", json!({"configMap": "x", "contract": "shipped"})));
    assert_eq!(answer.map(|sets| json!(sets)), Some(json!([{"n": 0}])));
    assert_eq!(answered.answer(&question("git", json!({}))), None);
    assert!(answered.answer(&question("clusters", json!({}))).is_some());
    let never = "a.json: answers[1] is not used: answers[0] fits the same questions, and is before it";
    assert_eq!(answered.unused(false), [never]);
    assert_eq!(
        answered.unused(true),
        [
            never,
            "a.json: answers[2] is not used: answers[0] fits the same questions, and is before it",
            "a.json: answers[3] is not used: no generator asks this question",
        ]
    );
}
