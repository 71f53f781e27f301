//! The address of a page, and the limits of its connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::address::LoopbackAddress;

/// Open connections. Further ones wait. A browser opens six.
const CONNECTIONS_MAX: usize = 512;

/// Time to receive the head of a request, and to keep a connection without a request.
const HEAD_MAX: Duration = Duration::from_secs(10);

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// The URL of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Serves pages until `stop` fires and running requests have ended.
    pub(crate) async fn serve(mut self, router: Router, stop: CancellationToken) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let (connections, mut open) = (GracefulShutdown::new(), JoinSet::new());
        let mut server = auto::Builder::new(TokioExecutor::new()).http1_only();
        server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
        loop {
            let accepting = async {
                // The semaphore is never closed; without a place there would only be no limit.
                let place = Arc::clone(&places).acquire_owned().await.ok();
                // It waits if the process has no file descriptors left.
                (Listener::accept(&mut self.listener).await.0, place)
            };
            let (stream, place) = tokio::select! {
                accepted = accepting => accepted,
                () = stop.cancelled() => break,
            };
            let service = TowerToHyperService::new(router.clone());
            let connection = server.serve_connection(TokioIo::new(stream), service).into_owned();
            let connection = connections.watch(connection);
            open.spawn(async move {
                // The errors are those of browsers that disconnect or send no HTTP.
                drop(connection.await);
                drop(place);
            });
            while open.try_join_next().is_some() {}
        }
        drop(self.listener);
        connections.shutdown().await;
        open.join_all().await;
    }
}

/// Binds an address. The error does not name it.
pub async fn bind(address: LoopbackAddress) -> io::Result<Bound> {
    let listener = TcpListener::bind(address.get()).await?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}
