//! The HTTP endpoint of a server that has no pages: `/metrics` for a collector, `/healthz` for whoever watches over it.
//!
//! What it tells is for anybody who reaches the address, so it must hold nothing that is not. It has nothing that can be changed.

mod bounded;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
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
    /// Takes an address. All addresses of version 6 are all of version 4 where there is no version 6. The error does not name the address.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = bind_all(address, async |address| TcpListener::bind(address).await).await?;
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

/// Takes an address by `bind`, with the other one for all addresses.
async fn bind_all<L>(address: SocketAddr, bind: impl AsyncFn(SocketAddr) -> io::Result<L>) -> io::Result<L> {
    match bind(address).await {
        Err(error) if address.ip() == Ipv6Addr::UNSPECIFIED && is_without_version_6(&error) => {
            bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()))).await
        }
        result => result,
    }
}

/// Whether the kernel has no version 6 (not built, or disabled at its start), or no address of it (disabled later).
fn is_without_version_6(error: &io::Error) -> bool {
    /// `EAFNOSUPPORT` of Linux, for which there is no kind.
    const NO_SUCH_FAMILY: i32 = 97;
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(NO_SUCH_FAMILY)
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
