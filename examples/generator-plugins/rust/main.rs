//! A generator plugin for `ApplicationSets`: the teams of an environment.
//!
//! `generator-plugin TOKEN_FILE [ADDRESS:PORT]`
#![expect(clippy::print_stderr, reason = "an example is a program of its own")]

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, from_slice, json};
use tokio::net::TcpListener;

const TEAMS: [(&str, &[&str]); 2] = [("prod", &["shop", "web"]), ("test", &["shop"])];

/// A status and a message for the controller, which shows it in the set's conditions.
type Refusal = (StatusCode, &'static str);

/// Returns the answer: one object for each Application. Replace this function.
fn parameter_sets(parameters: &Value) -> Result<Vec<Value>, Refusal> {
    let env = &parameters["env"];
    let (env, teams) = TEAMS
        .into_iter()
        .find(|(name, _)| env == name)
        // An empty list would delete the Applications of the set.
        .ok_or((StatusCode::BAD_REQUEST, "input.parameters.env: expected one of prod, test"))?;
    Ok(teams.iter().map(|team| json!({"team": team, "namespace": format!("{team}-{env}")})).collect())
}

/// Checks the token, and answers. axum refuses bodies of more than 2 MB.
async fn answer(State(token): State<Arc<str>>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = || {
        let expected = format!("Bearer {token}");
        let found = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        if !is_equal(found, expected.as_bytes()) {
            return Err((StatusCode::UNAUTHORIZED, "expected the header `Authorization: Bearer TOKEN`"));
        }
        let body: Value = from_slice(&body).unwrap_or_default();
        if !body["input"].is_object() {
            return Err((StatusCode::BAD_REQUEST, "expected an object with `input.parameters`"));
        }
        parameter_sets(&body["input"]["parameters"])
    };
    let (status, body) = match answer() {
        Ok(sets) => (StatusCode::OK, json!({"output": {"parameters": sets}})),
        Err((status, message)) => (status, json!({"message": message})),
    };
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Compares in a time that depends only on the lengths.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |found, (one, other)| found | (one ^ other)) == 0
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let token_file = arguments.next().ok_or("usage: generator-plugin TOKEN_FILE [ADDRESS:PORT]")?;
    let token: Arc<str> = std::fs::read_to_string(&token_file)?.trim().into();
    if token.is_empty() {
        return Err(format!("{token_file}: the token is empty").into());
    }
    let listener = TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:4355")).await?;
    eprintln!("serving on http://{}", listener.local_addr()?);
    let router = Router::new().route("/api/v1/getparams.execute", post(answer)).with_state(token);
    Ok(axum::serve(listener, router).await?)
}
