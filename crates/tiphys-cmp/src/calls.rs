//! The calls of the plugin protocol: files in, one answer out (`spec/cmp.md` 1.4).

mod answer;
mod deadline;

use std::fmt;
use std::sync::Arc;

use tiphys_plugin::{Deadline, Match, Plugin, PluginError, Request, chain};
use tiphys_tree::Store;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataMap;
use tonic::{Response, Status, Streaming};

use crate::announcement::to_message;
use crate::generated::plugin::config_management_plugin_service_server::ConfigManagementPluginService;
use crate::generated::plugin::{
    AppStreamRequest, CheckPluginConfigurationResponse, ManifestResponse, ParametersAnnouncementResponse,
    RepositoryResponse,
};
use crate::metrics::{Method, Metrics};
use crate::receive::receive;
use crate::server::ServerOptions;

/// Joins the spans of calls to the traces of their callers.
pub trait Traces: fmt::Debug + Send + Sync {
    /// Makes `span`, which has just begun, a part of the caller's trace. `header` gives the request's metadata by name,
    /// `traceparent` for instance.
    fn join(&self, span: &tracing::Span, header: &dyn Fn(&str) -> Option<String>);
}

/// The four calls of one plugin.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) plugin: Arc<dyn Plugin>,
    pub(crate) store: Arc<Store>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) options: ServerOptions,
}

impl Service {
    /// Receives a call's files. The request's token is cancelled when the answer's future is dropped, which tonic does when the
    /// caller goes away.
    async fn request(
        &self,
        call: &str,
        stream: Streaming<AppStreamRequest>,
        deadline: Instant,
    ) -> Result<(Request, tokio_util::sync::DropGuard), Status> {
        let received = receive(stream, Arc::clone(&self.store), self.plugin.modes())
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
        deadline::deadline(metadata, self.options.call_timeout)
    }

    async fn generate(
        &self,
        stream: Streaming<AppStreamRequest>,
        deadline: Instant,
    ) -> Result<ManifestResponse, Status> {
        let (request, _guard) = self.request("generate manifest", stream, deadline).await?;
        let generated = self
            .plugin
            .generate(&request)
            .await
            .map_err(|error| status("error generating manifests", &error))?;
        let manifests = generated.documents.into_iter().map(|document| document.text).collect();
        Ok(ManifestResponse { manifests, source_type: String::new() })
    }

    async fn configuration(&self) -> Result<CheckPluginConfigurationResponse, Status> {
        let configuration = self
            .plugin
            .configuration()
            .await
            .map_err(|error| status("check plugin configuration error", &error))?;
        Ok(CheckPluginConfigurationResponse {
            is_discovery_configured: configuration.discovery_configured,
            provide_git_creds: configuration.provide_git_creds,
        })
    }

    async fn matches(
        &self,
        stream: Streaming<AppStreamRequest>,
        deadline: Instant,
    ) -> Result<RepositoryResponse, Status> {
        let (request, _guard) = self.request("match repository", stream, deadline).await?;
        let found =
            self.plugin.matches(&request).await.map_err(|error| status("match repository error", &error))?;
        Ok(RepositoryResponse {
            is_supported: found == Match::Supported,
            is_discovery_enabled: found != Match::DiscoveryNotConfigured,
        })
    }

    async fn announce(
        &self,
        stream: Streaming<AppStreamRequest>,
        deadline: Instant,
    ) -> Result<ParametersAnnouncementResponse, Status> {
        let (request, _guard) = self.request("parameters announcement", stream, deadline).await?;
        let announcements = self
            .plugin
            .announce(&request)
            .await
            .map_err(|error| status("get parameters announcement error", &error))?;
        let parameter_announcements = announcements.iter().map(to_message).collect();
        Ok(ParametersAnnouncementResponse { parameter_announcements })
    }
}

#[tonic::async_trait]
impl ConfigManagementPluginService for Service {
    async fn generate_manifest(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<ManifestResponse>, Status> {
        let (metadata, _, stream) = request.into_parts();
        let work = self.generate(stream, self.deadline(&metadata));
        self.answered(Method::GenerateManifest, &metadata, work).await
    }

    async fn check_plugin_configuration(
        &self,
        request: tonic::Request<()>,
    ) -> Result<Response<CheckPluginConfigurationResponse>, Status> {
        self.answered(Method::CheckPluginConfiguration, request.metadata(), self.configuration()).await
    }

    async fn match_repository(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<RepositoryResponse>, Status> {
        let (metadata, _, stream) = request.into_parts();
        let work = self.matches(stream, self.deadline(&metadata));
        self.answered(Method::MatchRepository, &metadata, work).await
    }

    async fn get_parameters_announcement(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<ParametersAnnouncementResponse>, Status> {
        let (metadata, _, stream) = request.into_parts();
        let work = self.announce(stream, self.deadline(&metadata));
        self.answered(Method::GetParametersAnnouncement, &metadata, work).await
    }
}

/// A failure as the caller sees it: the code by `spec/cmp.md` 1.7, the text with all causes.
fn status(call: &str, error: &PluginError) -> Status {
    let text = format!("{call}: {}", chain(error));
    match error {
        PluginError::DeadlineExceeded { .. } => Status::deadline_exceeded(text),
        PluginError::DeadlineInQueue { .. } => Status::deadline_exceeded(text),
        PluginError::Busy { .. } => Status::resource_exhausted(text),
        PluginError::Cancelled => Status::cancelled(text),
        _ => Status::unknown(text),
    }
}
