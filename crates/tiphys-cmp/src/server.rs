//! The plugin server: one plugin behind one socket.

mod options;

use std::sync::Arc;

use tiphys_plugin::Plugin;
use tiphys_tree::Store;
use tokio::net::UnixListener;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;

use crate::calls::Service;
use crate::connection::Connection;
use crate::generated::plugin::config_management_plugin_service_server::ConfigManagementPluginServiceServer;
use crate::metrics::Metrics;

pub use options::{CALL_TIMEOUT, GRACE, STALL_MAX, ServerOptions, UNPACKING_MAX};

/// Why serving ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The transport failed.
    #[error("plugin server")]
    Transport(#[from] tonic::transport::Error),
}

/// A plugin server.
#[derive(Debug)]
pub struct Server {
    plugin: Arc<dyn Plugin>,
    store: Arc<Store>,
    metrics: Arc<Metrics>,
    options: ServerOptions,
}

impl Server {
    /// A server of one plugin that unpacks what it receives into the store.
    pub fn new(
        plugin: Arc<dyn Plugin>,
        store: Arc<Store>,
        metrics: Arc<Metrics>,
        options: ServerOptions,
    ) -> Self {
        Self { plugin, store, metrics, options }
    }

    /// Serves until `stop` fires, then finishes the calls that are running.
    pub async fn serve(self, listener: UnixListener, stop: CancellationToken) -> Result<(), ServeError> {
        let (health, health_service) = tonic_health::server::health_reporter();
        let message_bytes_max = self.options.message_bytes_max;
        let service = ConfigManagementPluginServiceServer::new(Service {
            plugin: self.plugin,
            store: self.store,
            metrics: self.metrics,
            options: self.options,
        })
        .max_decoding_message_size(message_bytes_max)
        .max_encoding_message_size(message_bytes_max);
        health.set_serving::<ConfigManagementPluginServiceServer<Service>>().await;
        let connections = UnixListenerStream::new(listener).map(|stream| stream.map(Connection::new));
        tonic::transport::Server::builder()
            .add_service(health_service)
            .add_service(service)
            .serve_with_incoming_shutdown(connections, stop.cancelled_owned())
            .await?;
        Ok(())
    }
}
