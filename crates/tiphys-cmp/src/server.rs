//! The plugin server: one plugin behind one socket.

use std::sync::Arc;
use std::time::Duration;

use tiphys_plugin::{Deadline, Match, Plugin, PluginError, Request, chain};
use tiphys_tree::Store;
use tokio::net::UnixListener;
use tokio::time::Instant;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status, Streaming};

use crate::MESSAGE_BYTES_MAX;
use crate::announcement::to_message;
use crate::generated::plugin::config_management_plugin_service_server::{
    ConfigManagementPluginService, ConfigManagementPluginServiceServer,
};
use crate::generated::plugin::{
    AppStreamRequest, CheckPluginConfigurationResponse, ManifestResponse, ParametersAnnouncementResponse,
    RepositoryResponse,
};
use crate::receive::receive;

/// What is kept back from the caller's deadline so that the answer still reaches it (`spec/cmp.md` 6.4).
const DEADLINE_RESERVE: Duration = Duration::from_millis(100);

/// Bounds of the server.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// How long a call may take when the caller sets no deadline.
    pub call_timeout: Duration,
}

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
    limits: ServerLimits,
}

impl Server {
    /// A server of one plugin that unpacks what it receives into the store.
    pub fn new(plugin: Arc<dyn Plugin>, store: Arc<Store>, limits: ServerLimits) -> Self {
        Self { plugin, store, limits }
    }

    /// Serves until `shutdown` fires, then finishes the calls that are running.
    pub async fn serve(self, listener: UnixListener, shutdown: CancellationToken) -> Result<(), ServeError> {
        let (health, health_service) = tonic_health::server::health_reporter();
        let service = ConfigManagementPluginServiceServer::new(Service {
            plugin: self.plugin,
            store: self.store,
            limits: self.limits,
        })
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
        health.set_serving::<ConfigManagementPluginServiceServer<Service>>().await;
        tonic::transport::Server::builder()
            .add_service(health_service)
            .add_service(service)
            .serve_with_incoming_shutdown(UnixListenerStream::new(listener), shutdown.cancelled_owned())
            .await?;
        Ok(())
    }
}

#[derive(Debug)]
struct Service {
    plugin: Arc<dyn Plugin>,
    store: Arc<Store>,
    limits: ServerLimits,
}

impl Service {
    /// Receives a call's files. The request's token is cancelled when the answer's future is dropped, which tonic does when the
    /// caller goes away.
    async fn request(
        &self,
        call: &str,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<(Request, tokio_util::sync::DropGuard), Status> {
        let deadline = self.deadline(request.metadata());
        let received = receive(request.into_inner(), Arc::clone(&self.store), self.plugin.modes())
            .await
            .map_err(|error| error.into_status(call))?;
        let cancel = CancellationToken::new();
        let guard = cancel.clone().drop_guard();
        let request = Request {
            tree: received.tree,
            app_path: received.app_path,
            env: received.env,
            deadline: Deadline::At(deadline),
            cancel,
        };
        Ok((request, guard))
    }

    fn deadline(&self, metadata: &MetadataMap) -> Instant {
        let timeout =
            metadata.get("grpc-timeout").and_then(|value| value.to_str().ok()).and_then(parse_timeout);
        let timeout =
            timeout.map_or(self.limits.call_timeout, |timeout| timeout.saturating_sub(DEADLINE_RESERVE));
        Instant::now() + timeout
    }
}

#[tonic::async_trait]
impl ConfigManagementPluginService for Service {
    async fn generate_manifest(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<ManifestResponse>, Status> {
        let (request, _guard) = self.request("generate manifest", request).await?;
        let generated = self
            .plugin
            .generate(&request)
            .await
            .map_err(|error| status("error generating manifests", &error))?;
        let manifests = generated.documents.into_iter().map(|document| document.text).collect();
        Ok(Response::new(ManifestResponse { manifests, source_type: String::new() }))
    }

    async fn check_plugin_configuration(
        &self,
        _request: tonic::Request<()>,
    ) -> Result<Response<CheckPluginConfigurationResponse>, Status> {
        let configuration = self
            .plugin
            .configuration()
            .await
            .map_err(|error| status("check plugin configuration error", &error))?;
        Ok(Response::new(CheckPluginConfigurationResponse {
            is_discovery_configured: configuration.discovery_configured,
            provide_git_creds: configuration.provide_git_creds,
        }))
    }

    async fn match_repository(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<RepositoryResponse>, Status> {
        let (request, _guard) = self.request("match repository", request).await?;
        let found =
            self.plugin.matches(&request).await.map_err(|error| status("match repository error", &error))?;
        Ok(Response::new(RepositoryResponse {
            is_supported: found == Match::Supported,
            is_discovery_enabled: found != Match::DiscoveryNotConfigured,
        }))
    }

    async fn get_parameters_announcement(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<ParametersAnnouncementResponse>, Status> {
        let (request, _guard) = self.request("parameters announcement", request).await?;
        let announcements = self
            .plugin
            .announce(&request)
            .await
            .map_err(|error| status("get parameters announcement error", &error))?;
        let parameter_announcements = announcements.iter().map(to_message).collect();
        Ok(Response::new(ParametersAnnouncementResponse { parameter_announcements }))
    }
}

/// A failure as the caller sees it: the code by `spec/cmp.md` 1.7, the text with all causes.
fn status(call: &str, error: &PluginError) -> Status {
    let text = format!("{call}: {}", chain(error));
    match error {
        PluginError::DeadlineExceeded { .. } => Status::deadline_exceeded(text),
        PluginError::Cancelled => Status::cancelled(text),
        _ => Status::unknown(text),
    }
}

/// The header `grpc-timeout`: at most eight digits and a unit.
fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_hours(count)),
        "M" => Some(Duration::from_mins(count)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
