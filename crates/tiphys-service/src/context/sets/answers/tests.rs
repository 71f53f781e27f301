use std::path::Path;

use serde_json::json;
use tiphys_engine::appset::Question;

use super::RecordedAnswers;

fn parse(content: &str) -> Result<RecordedAnswers, String> {
    RecordedAnswers::parse(Path::new("a.json"), content.as_bytes()).map_err(|error| error.message())
}

#[test]
fn first_answer_with_the_matched_fields_counts() {
    let answers = parse(
        r#"{"answers": [
            {"generator": "plugin", "match": {"configMap": "x", "body": {"input": {"parameters": {"a": 1}}}}, "parameters": [{"n": 1}]},
            {"generator": "plugin", "match": {"configMap": "x"}, "parameters": [{"n": 2}]},
            {"generator": "git", "parameters": []}
        ]}"#,
    )
    .expect("valid answers");
    let ask =
        |generator, request| answers.answer(&Question { generator, request, parameters: String::new() });
    let number =
        |answer: super::Answer| answer.map(|objects| objects.first().map(|object| object["n"].clone()));
    let body = |a: u32| json!({"configMap": "x", "body": {"input": {"parameters": {"a": a, "b": 2}}}});
    assert_eq!(number(ask("plugin", body(1))), Ok(Some(json!(1))));
    assert_eq!(number(ask("plugin", body(2))), Ok(Some(json!(2))));
    assert_eq!(number(ask("git", json!({"repoURL": "u"}))), Ok(None));
    let missing = r#"no recorded answer fits; add the entry {"generator":"plugin","match":{"configMap":"y"},"parameters":[]}"#;
    assert_eq!(number(ask("plugin", json!({"configMap": "y"}))), Err(missing.to_owned()));
}

#[test]
fn entry_for_a_plugin_answers_a_service_of_any_config_map() {
    let answers = parse(
        r#"{"answers": [
            {"generator": "git", "parameters": [{"n": 0}]},
            {"generator": "plugin", "match": {"configMap": "x", "contract": "proposal"}, "parameters": [{"n": 1}]},
            {"generator": "plugin", "match": {"configMap": "y", "body": {"input": {"parameters": {"a": 1}}}}, "parameters": [{"n": 2}]}
        ]}"#,
    )
    .expect("valid answers");
    let ask = |contract: &str, a: u32| {
        let answer = answers.answer_plugin(contract, &json!({"input": {"parameters": {"a": a}}}));
        answer.map(|sets| json!(sets))
    };
    assert_eq!(ask("shipped", 1), Ok(json!([{"n": 2}])));
    assert_eq!(ask("proposal", 1), Ok(json!([{"n": 1}])));
    let missing = r#"no recorded answer fits; add the entry {"generator":"plugin","match":{"body":{"input":{"parameters":{"a":3}}},"contract":"shipped"},"parameters":[]}"#;
    assert_eq!(ask("shipped", 3), Err(missing.to_owned()));
}

#[test]
fn negative_zero_is_recorded_with_its_sign() {
    let question = Question { generator: "plugin", request: json!({}), parameters: String::new() };
    let answer = json!({"n": -0.0}).as_object().cloned();
    let recorded = RecordedAnswers::of([(question.clone(), Ok(answer.into_iter().collect()))]);
    let answers = parse(&tiphys_yaml::write_go_json(&recorded.to_json())).expect("valid answers");
    let number = answers.answer(&question).expect("an answer")[0]["n"].clone();
    assert_eq!(tiphys_yaml::write_go_json(&number), "-0");
}

#[test]
fn invalid_answers_are_located() {
    for (content, expected) in [
        ("[]", "a.json: expected an object with a list `answers`"),
        (r#"{"answers": [{}]}"#, "a.json: answers[0].generator: expected the kind of a generator"),
        (
            r#"{"answers": [{"generator": "git", "match": 1}]}"#,
            "a.json: answers[0].match: expected an object",
        ),
        (
            r#"{"answers": [{"generator": "git"}]}"#,
            "a.json: answers[0].parameters: expected a list of objects",
        ),
        (
            r#"{"answers": [{"generator": "git", "parameters": [1]}]}"#,
            "a.json: answers[0].parameters: expected a list of objects",
        ),
    ] {
        assert_eq!(parse(content).err().as_deref(), Some(expected));
    }
}

#[test]
fn recorded_urls_have_no_password_and_fit_again() {
    let question = |url: &str| Question {
        generator: "git",
        request: json!({"repoURL": url, "revision": "HEAD"}),
        parameters: String::new(),
    };
    let asked = question("https://user:PASSWORD@git.example.org/a.git");
    let sets = vec![json!({"path": "a"}).as_object().cloned().expect("an object")];
    let recorded = RecordedAnswers::of([(asked.clone(), Ok(sets.clone()))]);
    assert_eq!(
        recorded.to_json(),
        json!({"answers": [{
            "generator": "git",
            "match": {"repoURL": "https://user:***@git.example.org/a.git", "revision": "HEAD"},
            "parameters": [{"path": "a"}],
        }]})
    );
    assert_eq!(recorded.answer(&asked), Ok(sets));
    assert!(recorded.answer(&question("https://git.example.org/b.git")).is_err());
}
