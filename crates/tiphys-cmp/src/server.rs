//! A plugin server: one plugin on one socket.

mod accept;
mod ending;
mod episode;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tiphys_plugin::Plugin;
use tiphys_tree::ProcessStore;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::calls::{Running, Service};
use crate::connection::ConnectionTimeouts;
use crate::generated::plugin::config_management_plugin_service_server::ConfigManagementPluginServiceServer;
use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::receive::{Receiver, UploadLimits};
use crate::services::{reflection, version};

use accept::ConnectionLimits;
use ending::Ending;

/// Concurrent calls on one connection.
const STREAMS_MAX: u32 = 128;
/// Bytes that a caller may send on one call before the server reads them.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// The same for all calls of a connection. Calls that wait must not stop another one from being read.
const CONNECTION_WINDOW_BYTES: u32 = STREAM_WINDOW_BYTES * (STREAMS_MAX + 1);
/// Bytes of the headers of one request.
const HEADER_BYTES_MAX: u32 = 64 * 1024;
/// Interval and timeout of HTTP/2 pings. A caller that does not read would keep its answer in memory.
const PING_INTERVAL: Duration = Duration::from_mins(1);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// An error of the server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The transport failed.
    #[error("plugin server")]
    Transport(#[from] tonic::transport::Error),
    /// The descriptors of the services are invalid.
    #[error("reflection of the plugin server")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// A plugin server.
#[derive(Debug)]
pub struct Server {
    plugin: Arc<dyn Plugin>,
    store: ProcessStore,
    metrics: Arc<Metrics>,
    options: ServerOptions,
}

impl Server {
    /// Creates a server of one plugin that unpacks uploads into the store.
    pub fn new(
        plugin: Arc<dyn Plugin>,
        store: ProcessStore,
        metrics: Arc<Metrics>,
        options: ServerOptions,
    ) -> Self {
        Self { plugin, store, metrics, options }
    }

    /// Serves until `stop` fires. Then no connection is accepted. Running calls, and calls that begin before their caller learns of the
    /// shutdown, may run for the grace period, and are cancelled after it. Does not wait for processes that plugins leave behind: the
    /// plugin's run settings do (`RunSettings::endings`).
    pub async fn serve(self, listener: UnixListener, stop: CancellationToken) -> Result<(), ServeError> {
        let Self { plugin, store, metrics, options } = self;
        let (running, abort, grace) = (Running::default(), CancellationToken::new(), options.grace);
        let version = version::service(&options.versions);
        let message_bytes_max = options.message_bytes_max;
        let limits = UploadLimits {
            archive: options.archive,
            stall_max: options.stall_max,
            crowded_stall_max: options.crowded_stall_max,
            unpacking_max: options.unpacking_max,
        };
        let timeouts = ConnectionTimeouts { preface_max: options.preface_max, idle_max: options.idle_max };
        let connections = ConnectionLimits { connections_max: options.connections_max, timeouts };
        let connections = accept::connections(listener, connections, Arc::clone(&metrics));
        let receiver = Receiver::new(store, plugin.modes(), Arc::clone(&metrics), limits);
        let service =
            Service { plugin, receiver, metrics, options, running: running.clone(), abort: abort.clone() };
        let service = ConfigManagementPluginServiceServer::new(service)
            .max_decoding_message_size(message_bytes_max)
            .max_encoding_message_size(message_bytes_max);
        // From here on the health service reports the whole server as serving. It knows no other service.
        let (health, health_service) = tonic_health::server::health_reporter();
        let serving = tonic::transport::Server::builder()
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_concurrent_streams(STREAMS_MAX)
            .http2_max_header_list_size(HEADER_BYTES_MAX)
            .http2_keepalive_interval(Some(PING_INTERVAL))
            .http2_keepalive_timeout(Some(PING_TIMEOUT))
            .add_service(health_service)
            .add_service(version)
            .add_service(reflection::v1()?)
            .add_service(reflection::v1alpha()?)
            .add_service(service)
            .serve_with_incoming_shutdown(connections, stop.clone().cancelled_owned());
        let mut serving = pin!(serving);
        tokio::select! {
            ended = &mut serving => return Ok(ended?),
            () = stop.cancelled() => {}
        }
        Ok(Ending { health, running, abort, grace }.of(serving).await?)
    }

    /// Returns the maximum time between `stop` and the end of [`Server::serve`] with this grace period.
    pub const fn shutdown_max(grace: Duration) -> Duration {
        ending::shutdown_max(grace)
    }
}
