//! The examples of docs/reference/generator-plugin.openapi.yaml are what is sent and accepted.

use serde_json::{Value, json};
use tiphys_generators::{PluginError, PluginErrorCause, PluginForm, PluginQuestion};
use tiphys_testkit::canned_server::{Canned, CannedServer};
use tiphys_testkit::workspace_root;
use tiphys_yaml::{read_document, write_go_json};

use crate::{QUESTION, services};

fn document() -> Value {
    let file = workspace_root().join("docs/reference/generator-plugin.openapi.yaml");
    let content = std::fs::read(file).expect("the document can be read");
    read_document(&content).expect("it is YAML").expect("it is not empty").to_value()
}

/// Returns a value of the document, through a reference.
fn found<'a>(document: &'a Value, pointer: &str) -> &'a Value {
    let value = document.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is missing"));
    match value["$ref"].as_str() {
        Some(reference) => found(document, reference.trim_start_matches('#')),
        None => value,
    }
}

#[tokio::test]
async fn examples_of_the_document_are_sent_and_accepted() {
    let document = document();
    let token = found(&document, "/components/securitySchemes/token");
    assert_eq!((&token["type"], &token["scheme"]), (&json!("http"), &json!("bearer")));
    let paths = document["paths"].as_object().expect("paths");
    assert_eq!(paths.len(), 2);
    for (form, path, request, list) in [
        (PluginForm::Shipped, "/api/v1/getparams.execute", "/input/parameters", "/output/parameters"),
        (PluginForm::Proposal, "/v1/generator.getParams", "", ""),
    ] {
        let operation = format!("/paths/{}/post", path.replace('/', "~1"));
        let body =
            &found(&document, &format!("{operation}/requestBody"))["content"]["application/json"]["example"];
        let parameters = write_go_json(body.pointer(request).expect("parameters"));
        let question = PluginQuestion { application_set: "teams", form, parameters: &parameters, ..QUESTION };

        let answer = found(&document, &format!("{operation}/responses/200"));
        let answer = &answer["content"]["application/json"]["example"];
        let canned = answer.to_string();
        let server = CannedServer::start(None, move |_| Canned::new(200, canned.clone()));
        let sets = services(&server, &[]).ask(&question).await.expect("the answer is accepted");
        assert_eq!(Some(&json!(sets)), answer.pointer(list), "{path}");
        let requests = server.requests();
        let [sent] = &requests[..] else { panic!("one request") };
        assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", path));
        assert_eq!(sent.header("Authorization"), Some("Bearer s3cr3t"));
        assert_eq!(serde_json::from_str::<Value>(&sent.body).expect("JSON"), *body, "{path}");

        for (status, code) in [("400", 400), ("401", 401), ("default", 500)] {
            let error = found(&document, &format!("{operation}/responses/{status}"));
            let error = &error["content"]["application/json"]["example"];
            let canned = error.to_string();
            let server = CannedServer::start(None, move |_| Canned::new(code, canned.clone()));
            let failed = services(&server, &[]).try_ask(&question).await;
            let message = format!(
                "error listing params: error get api 'teams': API error with status code {code}: {}",
                error["message"].as_str().expect("a message")
            );
            assert_eq!(failed, Err(PluginError { message, cause: PluginErrorCause::Status(code) }));
        }
    }
}
