use std::time::UNIX_EPOCH;

use tiphys_model::resources::ApplicationSet;
use tiphys_yaml::read_document;

use crate::appset::{Answers, GenerateOptions, generate};

/// The parameters that the first question has.
fn sent(generator: &str) -> String {
    let set = format!("metadata: {{name: set}}\nspec:\n  generators:\n  - {generator}\n  template: {{}}\n");
    let node = read_document(set.as_bytes()).expect("YAML").expect("a document");
    let set = ApplicationSet::decode(&node).expect("a set").value;
    let generated =
        generate(&set, &Answers::default(), GenerateOptions::at(UNIX_EPOCH)).expect("valid options");
    generated.questions[0].parameters.clone()
}

#[test]
fn parameters_are_sent_as_written_unless_interpolated() {
    let parameters =
        r#"{z: 1.0, "<": 1e3, a: [12345678901234567890, 9007199254740993], "b": "<", nul: null}"#;
    let shipped = format!("plugin: {{configMapRef: {{name: cm}}, input: {{parameters: {parameters}}}}}");
    let proposal = format!("plugin: {{configMapRef: cm, params: {parameters}}}");
    let list = |element: &str| {
        format!("matrix: {{generators: [{{list: {{elements: [{element}]}}}}, {{{shipped}}}]}}")
    };
    let written = r#"{"<":1e3,"a":[12345678901234567890,9007199254740993],"b":"<","nul":null,"z":1.0}"#;
    let encoded = r#"{"<":1000,"a":[12345678901234567000,9007199254740992],"b":"\u003c","nul":null,"z":1}"#;
    for (generator, expected) in [
        (shipped.as_str(), written),
        (&proposal, written),
        // An empty parameter set interpolates nothing.
        (&list("{}"), written),
        (&list("{a: b}"), encoded),
        (&list("{a: b}").replace(parameters, "{b: '<'}"), r#"{"b":"\u003c"}"#),
        ("plugin: {configMapRef: {name: cm}}", "{}"),
    ] {
        assert_eq!(sent(generator), expected, "{generator}");
    }
}
