//! The HTTP endpoint of a server that has no pages: `/metrics` for a collector, `/healthz` for whoever watches over it.
//!
//! What it tells is for anybody who reaches the address, so it must hold nothing that is not. It has nothing that can be changed.

mod bounded;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

use bounded::Bounded;
pub use bounded::METRICS_CONNECTIONS_MAX;

/// What the endpoint tells.
pub trait Observed: fmt::Debug + Send + Sync {
    /// The text of `/metrics`, made anew for each request.
    fn metrics(&self) -> String;
    /// Its media type.
    fn content_type(&self) -> &'static str;
    /// Whether `/healthz` says that all is well.
    fn health(&self) -> Health;
}

/// What `/healthz` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// 200.
    Serving,
    /// 503: not yet, or not any more.
    NotServing,
}

/// The endpoint's address, taken and not served yet.
#[derive(Debug)]
pub struct MetricsEndpoint {
    listener: TcpListener,
    address: SocketAddr,
}

impl MetricsEndpoint {
    /// Takes an address. The error does not name it.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address, with the port that was free if any was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves for as long as the future is polled.
    pub async fn serve(self, observed: Arc<dyn Observed>) -> io::Result<()> {
        let router =
            Router::new().route("/metrics", get(metrics)).route("/healthz", get(health)).with_state(observed);
        axum::serve(Bounded::new(self.listener), router).await
    }
}

async fn metrics(State(observed): State<Arc<dyn Observed>>) -> Response {
    ([(CONTENT_TYPE, observed.content_type()), (CACHE_CONTROL, "no-store")], observed.metrics())
        .into_response()
}

async fn health(State(observed): State<Arc<dyn Observed>>) -> Response {
    let (status, text) = match observed.health() {
        Health::Serving => (StatusCode::OK, "serving\n"),
        Health::NotServing => (StatusCode::SERVICE_UNAVAILABLE, "not serving\n"),
    };
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    (status, headers, text).into_response()
}

#[cfg(test)]
mod tests;
