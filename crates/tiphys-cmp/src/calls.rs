//! The calls of the plugin protocol: files in, one answer out.

mod answer;
mod deadline;
mod failure;
mod running;

use std::sync::Arc;

use tiphys_plugin::{Deadline, Discovery, Match, Plugin, PluginError, Request};
use tiphys_tree::RepoPath;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Extensions, Response, Status, Streaming};

use crate::announcement::to_message;
use crate::connection::{ConnectionCalls, RunningCall};
use crate::generated::plugin::config_management_plugin_service_server::ConfigManagementPluginService;
use crate::generated::plugin::{
    AppStreamRequest, CheckPluginConfigurationResponse, ManifestResponse, ParametersAnnouncementResponse,
    RepositoryResponse,
};
use crate::metrics::{Method, Metrics, Refusal};
use crate::options::ServerOptions;
use crate::receive::{Clock, Files, FilesNeeded, Received, Receiver, StopOnDrop};

pub(crate) use running::Running;

/// The four calls of one plugin.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) plugin: Arc<dyn Plugin>,
    pub(crate) receiver: Receiver,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) options: ServerOptions,
    /// Counter of running calls.
    pub(crate) running: Running,
    /// Fires when running calls are cancelled.
    pub(crate) abort: CancellationToken,
}

impl Service {
    async fn generate(
        &self,
        stream: Streaming<AppStreamRequest>,
        clock: &Clock,
    ) -> Result<ManifestResponse, Status> {
        let received = self.receive("generate manifest", stream, FilesNeeded::Tree, clock).await?;
        let (request, _guard) = request(received, inside, clock)?;
        let checked = self.plugin.check_parameters(&request);
        checked.map_err(|error| self.failed(Method::GenerateManifest, &error))?;
        let generated = self.plugin.generate(&request).await;
        let generated = generated.map_err(|error| self.failed(Method::GenerateManifest, &error))?;
        let manifests = generated.documents.into_iter().map(|document| document.text()).collect();
        self.within_message_limit(ManifestResponse { manifests, source_type: String::new() })
    }

    async fn configuration(&self) -> Result<CheckPluginConfigurationResponse, Status> {
        let configuration = self.plugin.configuration().await;
        let configuration =
            configuration.map_err(|error| self.failed(Method::CheckPluginConfiguration, &error))?;
        Ok(CheckPluginConfigurationResponse {
            is_discovery_configured: configuration.discovery_configured,
            provide_git_creds: configuration.provide_git_creds,
        })
    }

    async fn matches(
        &self,
        stream: Streaming<AppStreamRequest>,
        clock: &Clock,
    ) -> Result<RepositoryResponse, Status> {
        let needed = match self.plugin.discovery() {
            Discovery::NotConfigured => FilesNeeded::Nothing,
            Discovery::Entries => FilesNeeded::Entries,
            Discovery::Run => FilesNeeded::Tree,
        };
        let received = self.receive("match repository", stream, needed, clock).await?;
        let found = match received.files {
            Files::Nothing => Ok(Match::DiscoveryNotConfigured),
            Files::Entries(entries) => {
                let (plugin, app_path) = (Arc::clone(&self.plugin), clamped(&received.app_rel_path)?);
                let stop = StopOnDrop::default();
                let stopped = stop.flag();
                let looking = tokio::task::spawn_blocking(move || {
                    plugin.matches_entries(&entries, &app_path, &stopped)
                });
                looking.await.unwrap_or(Err(PluginError::Cancelled))
            }
            Files::Tree(_) => {
                let (request, _guard) = request(received, clamped, clock)?;
                self.plugin.matches(&request).await
            }
        };
        let found = found.map_err(|error| self.failed(Method::MatchRepository, &error))?;
        Ok(RepositoryResponse {
            is_supported: found == Match::Supported,
            is_discovery_enabled: found != Match::DiscoveryNotConfigured,
        })
    }

    async fn announce(
        &self,
        stream: Streaming<AppStreamRequest>,
        clock: &Clock,
    ) -> Result<ParametersAnnouncementResponse, Status> {
        let received = self.receive("parameters announcement", stream, FilesNeeded::Tree, clock).await?;
        let (request, _guard) = request(received, inside, clock)?;
        let announcements = self.plugin.announce(&request).await;
        let announcements =
            announcements.map_err(|error| self.failed(Method::GetParametersAnnouncement, &error))?;
        let parameter_announcements = announcements.list.iter().map(to_message).collect();
        self.within_message_limit(ParametersAnnouncementResponse { parameter_announcements })
    }

    async fn receive(
        &self,
        call: &str,
        stream: Streaming<AppStreamRequest>,
        needed: FilesNeeded,
        clock: &Clock,
    ) -> Result<Received, Status> {
        self.receiver.receive(stream, needed, clock).await.map_err(|error| error.into_status(call))
    }

    /// Returns the answer for a failed plugin. If the server cancelled it, the answer says so.
    fn failed(&self, method: Method, error: &PluginError) -> Status {
        if matches!(error, PluginError::Cancelled) && self.abort.is_cancelled() {
            return failure::shutting_down();
        }
        if let Some(limit) = failure::exceeded_limit(error) {
            self.metrics.refused(limit);
        }
        failure::status(method, error)
    }

    /// Returns the answer unless it is larger than a message may be.
    fn within_message_limit<T: prost::Message>(&self, answer: T) -> Result<T, Status> {
        let (bytes, bytes_max) = (answer.encoded_len(), self.options.message_bytes_max);
        if bytes <= bytes_max {
            return Ok(answer);
        }
        self.metrics.refused(Refusal::Message);
        Err(failure::answer_too_large(bytes, bytes_max))
    }
}

/// Marks the connection of a request as in use while the call runs.
fn running(extensions: &Extensions) -> Option<RunningCall> {
    extensions.get().map(ConnectionCalls::begin)
}

/// Creates the plugin's request. Its token fires when the guard is dropped, together with the future of the answer, when the caller
/// disconnects.
fn request(
    received: Received,
    app_path: impl FnOnce(&str) -> Result<RepoPath, Status>,
    clock: &Clock,
) -> Result<(Request, DropGuard), Status> {
    let Received { files: Files::Tree(tree), app_rel_path, env } = received else {
        return Err(Status::internal("the files were not unpacked"));
    };
    let app_path = app_path(&app_rel_path)?;
    let cancel = clock.abort.child_token();
    let guard = cancel.clone().drop_guard();
    let deadline = Deadline::At(clock.deadline);
    Ok((Request { tree, app_path, env, resolved: Vec::new(), context: None, deadline, cancel }, guard))
}

/// Parses the application path. A path outside the tree is an error, as in Argo CD.
fn inside(path: &str) -> Result<RepoPath, Status> {
    // A leading slash is ignored, as by Go's `filepath.Join`.
    RepoPath::new(path.trim_start_matches('/'))
        .map_err(|_| Status::unknown("illegal appPath: out of workDir bound"))
}

/// Parses the application path of `MatchRepository`, where `..` stops at the tree's root, as in Argo CD.
fn clamped(path: &str) -> Result<RepoPath, Status> {
    let mut clamped = RepoPath::default();
    for component in path.split('/').filter(|component| !component.is_empty()) {
        clamped = match component {
            ".." => clamped.parent().unwrap_or_default(),
            name => {
                clamped.join(name).map_err(|_| Status::unknown("illegal appPath: out of workDir bound"))?
            }
        };
    }
    Ok(clamped)
}

#[tonic::async_trait]
impl ConfigManagementPluginService for Service {
    async fn generate_manifest(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<ManifestResponse>, Status> {
        let (metadata, extensions, stream) = request.into_parts();
        let _call = running(&extensions);
        let clock = self.clock(&metadata);
        self.answered(Method::GenerateManifest, &metadata, &clock, self.generate(stream, &clock)).await
    }

    async fn check_plugin_configuration(
        &self,
        request: tonic::Request<()>,
    ) -> Result<Response<CheckPluginConfigurationResponse>, Status> {
        let _call = running(request.extensions());
        let clock = self.clock(request.metadata());
        let work = self.configuration();
        self.answered(Method::CheckPluginConfiguration, request.metadata(), &clock, work).await
    }

    async fn match_repository(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<RepositoryResponse>, Status> {
        let (metadata, extensions, stream) = request.into_parts();
        let _call = running(&extensions);
        let clock = self.clock(&metadata);
        self.answered(Method::MatchRepository, &metadata, &clock, self.matches(stream, &clock)).await
    }

    async fn get_parameters_announcement(
        &self,
        request: tonic::Request<Streaming<AppStreamRequest>>,
    ) -> Result<Response<ParametersAnnouncementResponse>, Status> {
        let (metadata, extensions, stream) = request.into_parts();
        let _call = running(&extensions);
        let clock = self.clock(&metadata);
        self.answered(Method::GetParametersAnnouncement, &metadata, &clock, self.announce(stream, &clock))
            .await
    }
}

#[cfg(test)]
mod tests;
