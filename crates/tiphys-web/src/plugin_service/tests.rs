use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderName, StatusCode};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{BearerToken, PluginServiceAnswers, PluginServiceLimits, PluginServiceSettings, Served, answer};

const SHIPPED: &str = "/api/v1/getparams.execute";
const PROPOSAL: &str = "/v1/generator.getParams";
const BODY: &str = r#"{"applicationSetName":"web","input":{"parameters":{"n":1}}}"#;

fn served(answers: PluginServiceAnswers) -> Served {
    let limits =
        PluginServiceLimits { request_bytes_max: 100, request_timeout: Duration::from_secs(30), jobs: 1 };
    let settings =
        PluginServiceSettings { token: Some(BearerToken::new("secret")), bare_list: false, limits };
    Served { settings, answers, jobs: Semaphore::new(1), shutdown: CancellationToken::new() }
}

/// Answers the decoded body as the only parameter set.
fn echo() -> PluginServiceAnswers {
    Arc::new(|request| {
        let set: Map<String, Value> = [("body".to_owned(), request.object)].into_iter().collect();
        Box::pin(async { Ok(vec![set]) })
    })
}

async fn send(served: Served, first: &str, headers: &[(HeaderName, &str)], body: &str) -> (u16, Value) {
    let (method, path) = first.split_once(' ').expect("METHOD PATH");
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let request = request.body(Body::from(body.to_owned())).expect("a valid request");
    let response = answer(State(Arc::new(served)), request).await;
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, serde_json::from_slice(&body).expect("JSON"))
}

#[tokio::test]
async fn answer_has_the_form_of_the_contract() {
    let headers = [(AUTHORIZATION, "Bearer secret"), (CONTENT_TYPE, "application/json; charset=utf-8")];
    let set = |body: Value| json!([{"body": body}]);
    let body: Value = serde_json::from_str(BODY).expect("JSON");
    let (status, found) = send(served(echo()), &format!("POST {SHIPPED}"), &headers, BODY).await;
    assert_eq!((status, found), (200, json!({"output": {"parameters": set(body.clone())}})));
    let (status, found) = send(served(echo()), &format!("POST {PROPOSAL}"), &headers, r#"{"n":1}"#).await;
    assert_eq!((status, found), (200, set(json!({"n": 1}))));
    let mut bare = served(echo());
    bare.settings.bare_list = true;
    let (status, found) = send(bare, &format!("POST {SHIPPED}"), &headers, BODY).await;
    assert_eq!((status, found), (200, set(body)));
}

#[tokio::test]
async fn refused_request_gets_a_json_message() {
    let (token, json) = ((AUTHORIZATION, "bearer secret"), (CONTENT_TYPE, "application/json"));
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(100));
    let expected =
        r#"invalid body: expected {"applicationSetName": STRING, "input": {"parameters": OBJECT}}"#;
    let unauthorized = "expected the header `Authorization: Bearer TOKEN` with the token of this server";
    let paths = "expected POST /api/v1/getparams.execute, or POST /v1/generator.getParams of the proposal";
    let post = format!("POST {SHIPPED}");
    let cases = [
        (post.as_str(), vec![json.clone()], BODY, 401, unauthorized),
        (&post, vec![json.clone(), (AUTHORIZATION, "Bearer Secret")], BODY, 401, unauthorized),
        (&post, vec![json.clone(), (AUTHORIZATION, "Basic secret")], BODY, 401, unauthorized),
        (&post, vec![json.clone(), token.clone(), token.clone()], BODY, 401, unauthorized),
        ("GET /", vec![], "", 401, unauthorized),
        ("GET /", vec![token.clone()], "", 404, paths),
        (
            &format!("GET {SHIPPED}"),
            vec![token.clone()],
            "",
            405,
            "expected POST /api/v1/getparams.execute, found GET",
        ),
        (&post, vec![token.clone()], BODY, 415, "expected the header `Content-Type: application/json`"),
        (
            &post,
            vec![token.clone(), json.clone(), (ORIGIN, "null")],
            BODY,
            403,
            "requests of browsers are refused",
        ),
        (
            &post,
            vec![token.clone(), json.clone()],
            "x",
            400,
            "invalid body: expected value at line 1 column 1",
        ),
        (&post, vec![token.clone(), json.clone()], r#"{"n":1}"#, 400, expected),
        (
            &post,
            vec![token.clone(), json.clone()],
            r#"{"applicationSetName":"a","input":{"parameters":[]}}"#,
            400,
            expected,
        ),
        (
            &format!("POST {PROPOSAL}"),
            vec![token.clone(), json.clone()],
            "[]",
            400,
            "invalid body: expected an object, the parameters",
        ),
        (
            &post,
            vec![token, json],
            &long,
            413,
            "the body has more than 100 bytes (limit plugin-request-bytes-max)",
        ),
    ];
    for (first, headers, body, status, message) in cases {
        let found = send(served(echo()), first, &headers, body).await;
        assert_eq!(found, (status, json!({"message": message})), "{first} {headers:?} {body}");
    }
}

#[tokio::test(start_paused = true)]
async fn late_failed_and_cancelled_answers_are_errors() {
    let headers = [(AUTHORIZATION, "Bearer secret"), (CONTENT_TYPE, "application/json")];
    let post = format!("POST {SHIPPED}");
    let never: PluginServiceAnswers = Arc::new(|_| Box::pin(std::future::pending()));
    let message = json!({"message": "no answer within 30s (limit plugin-request-timeout)"});
    assert_eq!(send(served(never.clone()), &post, &headers, BODY).await, (504, message.clone()));
    let busy = served(echo());
    busy.jobs.forget_permits(1);
    assert_eq!(send(busy, &post, &headers, BODY).await, (504, message));
    let stopping = served(never);
    stopping.shutdown.cancel();
    let message = json!({"message": "the server is stopping"});
    assert_eq!(send(stopping, &post, &headers, BODY).await, (503, message));
    let failing: PluginServiceAnswers = Arc::new(|_| Box::pin(async { Err("exit status 1".to_owned()) }));
    let status = StatusCode::INTERNAL_SERVER_ERROR.as_u16();
    assert_eq!(
        send(served(failing), &post, &headers, BODY).await,
        (status, json!({"message": "exit status 1"}))
    );
}
