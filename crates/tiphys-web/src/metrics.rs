//! The HTTP endpoint of a server without pages: `/metrics` for collectors, `/healthz` and `/readyz` for probes.
//!
//! It is read-only and without authentication, so it must not contain secrets.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::endpoint::Endpoint;
pub use crate::limited::CONNECTIONS_MAX as METRICS_CONNECTIONS_MAX;
use crate::limited::LimitedListener;

/// Limit for a request of a collector. Responses take no time.
const REQUEST_MAX: Duration = Duration::from_secs(5);

/// The state that the endpoint reports.
pub trait Observed: fmt::Debug + Send + Sync {
    /// Returns the content of `/metrics` for each request.
    fn metrics(&self) -> String;
    /// Its media type.
    fn content_type(&self) -> &'static str;
    /// Returns the content of `/healthz`.
    fn health(&self) -> Health;
    /// Returns the content of `/readyz`.
    fn readiness(&self) -> Health {
        self.health()
    }
}

/// The result of `/healthz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Status 200.
    Serving,
    /// Status 503: not yet, or no longer.
    NotServing,
}

impl Endpoint {
    /// Serves metrics and probes while the future is polled.
    pub async fn serve_metrics(self, observed: Arc<dyn Observed>) -> io::Result<()> {
        let router = Router::new()
            .route("/metrics", get(metrics))
            .route("/healthz", get(health))
            .route("/readyz", get(readiness))
            .with_state(observed);
        axum::serve(LimitedListener::new(self.listener, REQUEST_MAX), router).await
    }
}

async fn metrics(State(observed): State<Arc<dyn Observed>>) -> Response {
    ([(CONTENT_TYPE, observed.content_type()), (CACHE_CONTROL, "no-store")], observed.metrics())
        .into_response()
}

async fn health(State(observed): State<Arc<dyn Observed>>) -> Response {
    answer(observed.health())
}

async fn readiness(State(observed): State<Arc<dyn Observed>>) -> Response {
    answer(observed.readiness())
}

fn answer(health: Health) -> Response {
    let (status, text) = match health {
        Health::Serving => (StatusCode::OK, "serving\n"),
        Health::NotServing => (StatusCode::SERVICE_UNAVAILABLE, "not serving\n"),
    };
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    (status, headers, text).into_response()
}

#[cfg(test)]
mod tests;
