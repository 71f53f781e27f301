use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::mpsc;

use super::post;
use crate::posted::FORM_BYTES_MAX;

/// Returns the status for a body without a declared length. Previews are not answered.
async fn status(body: Bytes) -> StatusCode {
    let (asks, asked) = mpsc::channel(1);
    drop(asked);
    let mut headers = HeaderMap::new();
    headers
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8"));
    post(State(asks), headers, Body::from(body)).await.status()
}

#[tokio::test]
async fn size_of_a_form_without_length_is_limited() {
    let largest = vec![b'a'; FORM_BYTES_MAX];
    assert_eq!(status(Bytes::from(largest.clone())).await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(status(Bytes::from([largest, vec![b'a']].concat())).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn non_utf8_body_is_rejected() {
    assert_eq!(status(Bytes::from_static(b"/a=%FF")).await, StatusCode::BAD_REQUEST);
}
