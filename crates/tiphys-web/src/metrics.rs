//! The HTTP endpoint of a server without pages: `/metrics` for collectors, `/healthz` and `/readyz` for probes.
//!
//! It is read-only and without authentication, so it must not contain secrets.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

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

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct MetricsEndpoint {
    listener: TcpListener,
    address: SocketAddr,
}

impl MetricsEndpoint {
    /// Binds an address. `[::]` becomes `0.0.0.0` on a system without IPv6. The error does not name the address.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = bind_all(address, async |address| TcpListener::bind(address).await).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Returns the address with the port that was assigned.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves while the future is polled.
    pub async fn serve(self, observed: Arc<dyn Observed>) -> io::Result<()> {
        let router = Router::new()
            .route("/metrics", get(metrics))
            .route("/healthz", get(health))
            .route("/readyz", get(readiness))
            .with_state(observed);
        axum::serve(LimitedListener::new(self.listener, REQUEST_MAX), router).await
    }
}

/// Calls `bind` with the address, and on a system without IPv6 with `0.0.0.0` instead of `[::]`.
pub(crate) async fn bind_all<L>(
    address: SocketAddr,
    bind: impl AsyncFn(SocketAddr) -> io::Result<L>,
) -> io::Result<L> {
    match bind(address).await {
        Err(error) if address.ip() == Ipv6Addr::UNSPECIFIED && is_without_version_6(&error) => {
            bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()))).await
        }
        result => result,
    }
}

/// Whether the kernel has no IPv6 (not built, or disabled at boot), or no IPv6 address (disabled later).
fn is_without_version_6(error: &io::Error) -> bool {
    /// `EAFNOSUPPORT` on Linux, which has no `ErrorKind`.
    const NO_SUCH_FAMILY: i32 = 97;
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(NO_SUCH_FAMILY)
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
