//! The HTTP endpoint of a server that receives webhooks.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use crate::endpoint::Endpoint;
use crate::limited::LimitedListener;

/// Limit for a request. Forges send some hundred KiB.
const REQUEST_MAX: Duration = Duration::from_secs(30);

/// Maximum bytes of a body. GitHub sends up to 25 MB.
const BODY_BYTES_MAX: usize = 25 << 20;

/// Receives webhooks.
#[async_trait::async_trait]
pub trait WebhookReceiver: Send + Sync {
    /// Answers a POST request with a status and a text. Names of headers are in lower case; values that are not UTF-8 are left out.
    async fn receive(&self, path: &str, headers: &[(String, String)], body: &[u8]) -> (u16, String);
}

impl Endpoint {
    /// Receives webhooks while the future is polled.
    pub async fn serve_webhooks(self, receiver: Arc<dyn WebhookReceiver>) -> io::Result<()> {
        let router = Router::new()
            .route("/{*path}", post(receive))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(receiver);
        axum::serve(LimitedListener::new(self.listener, REQUEST_MAX), router).await
    }
}

async fn receive(
    State(receiver): State<Arc<dyn WebhookReceiver>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let headers: Vec<(String, String)> = headers.iter().filter_map(text).collect();
    let (status, text) = receiver.receive(uri.path(), &headers, &body).await;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    (status, headers, text + "\n").into_response()
}
