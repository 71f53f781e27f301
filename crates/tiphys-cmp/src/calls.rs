//! The calls of the plugin protocol: files in, one answer out (`spec/cmp.md` 1.4).

mod answer;
mod deadline;
mod failure;
mod running;

use std::fmt;
use std::sync::Arc;

use tiphys_plugin::{Deadline, Discovery, Match, Plugin, PluginError, Request};
use tiphys_tree::RepoPath;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Extensions, Response, Status, Streaming};
use tracing::Instrument as _;

use crate::announcement::to_message;
use crate::connection::{ConnectionCalls, RunningCall};
use crate::generated::plugin::config_management_plugin_service_server::ConfigManagementPluginService;
use crate::generated::plugin::{
    AppStreamRequest, CheckPluginConfigurationResponse, ManifestResponse, ParametersAnnouncementResponse,
    RepositoryResponse,
};
use crate::metrics::{Method, Metrics, Refusal};
use crate::receive::{Clock, Files, Received, Receiver, StopOnDrop, Wanted};
use crate::server::ServerOptions;

pub(crate) use answer::panic_text;
pub(crate) use running::Running;

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
    pub(crate) receiver: Receiver,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) options: ServerOptions,
    /// The calls that are running.
    pub(crate) running: Running,
    /// Fires when running calls are to end.
    pub(crate) abort: CancellationToken,
}

impl Service {
    async fn generate(
        &self,
        stream: Streaming<AppStreamRequest>,
        clock: &Clock,
    ) -> Result<ManifestResponse, Status> {
        let generating = async {
            let received = self.receive("generate manifest", stream, Wanted::Tree, clock).await?;
            let (request, _guard) = request(received, inside, clock)?;
            let generated = self.plugin.generate(&request).await;
            let generated = generated.map_err(|error| self.failed(Method::GenerateManifest, &error))?;
            let manifests = generated.documents.into_iter().map(|document| document.text).collect();
            self.fits(ManifestResponse { manifests, source_type: String::new() })
        };
        generating.instrument(tracing::info_span!("plugin.generateManifestGeneric")).await
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
        let wanted = match self.plugin.discovery() {
            Discovery::NotConfigured => Wanted::Nothing,
            Discovery::Entries => Wanted::Entries,
            Discovery::Run => Wanted::Tree,
        };
        let received = self.receive("match repository", stream, wanted, clock).await?;
        let found = match received.files {
            Files::Nothing => Ok(Match::DiscoveryNotConfigured),
            Files::Entries(entries) => {
                let (plugin, app_path) = (Arc::clone(&self.plugin), clamped(&received.app_rel_path)?);
                let stop = StopOnDrop::default();
                let stopped = stop.seen();
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
        let received = self.receive("parameters announcement", stream, Wanted::Tree, clock).await?;
        let (request, _guard) = request(received, inside, clock)?;
        let announcements = self.plugin.announce(&request).await;
        let announcements =
            announcements.map_err(|error| self.failed(Method::GetParametersAnnouncement, &error))?;
        let parameter_announcements = announcements.iter().map(to_message).collect();
        self.fits(ParametersAnnouncementResponse { parameter_announcements })
    }

    async fn receive(
        &self,
        call: &str,
        stream: Streaming<AppStreamRequest>,
        wanted: Wanted,
        clock: &Clock,
    ) -> Result<Received, Status> {
        let receiving = self.receiver.receive(stream, wanted, clock);
        let receiving = receiving.instrument(tracing::info_span!("cmp.ReceiveRepoStream"));
        receiving.await.map_err(|error| error.into_status(call))
    }

    /// A plugin's failure as the caller sees it. Where the server gave up on the plugin, that is why.
    fn failed(&self, method: Method, error: &PluginError) -> Status {
        if matches!(error, PluginError::Cancelled) && self.abort.is_cancelled() {
            return answer::ending();
        }
        if let Some(bound) = failure::bound(error) {
            self.metrics.refused(bound);
        }
        failure::status(method, error)
    }

    /// An answer, if it is no larger than a message may be.
    fn fits<T: prost::Message>(&self, answer: T) -> Result<T, Status> {
        let (bytes, bytes_max) = (answer.encoded_len(), self.options.message_bytes_max);
        if bytes <= bytes_max {
            return Ok(answer);
        }
        self.metrics.refused(Refusal::Message);
        Err(failure::answer_too_large(bytes, bytes_max))
    }
}

/// Keeps the connection of a request open as long as the call is running.
fn running(extensions: &Extensions) -> Option<RunningCall> {
    extensions.get().map(ConnectionCalls::begin)
}

/// What a plugin is asked. The request's token fires when the guard is dropped: with the answer's future, which goes when the caller
/// does.
fn request(
    received: Received,
    app_path: impl FnOnce(&str) -> Result<RepoPath, Status>,
    clock: &Clock,
) -> Result<(Request, DropGuard), Status> {
    let Received { files: Files::Tree(tree), app_rel_path, env } = received else {
        return Err(Status::internal("the files were not kept"));
    };
    let app_path = app_path(&app_rel_path)?;
    let cancel = clock.abort.child_token();
    let guard = cancel.clone().drop_guard();
    let deadline = Deadline::At(clock.deadline);
    Ok((Request { tree, app_path, env, context: None, deadline, cancel }, guard))
}

/// The application's folder for calls that refuse one outside of the tree (`spec/cmp.md` 6.1).
fn inside(path: &str) -> Result<RepoPath, Status> {
    // A path that begins with a slash is one below the tree's root, as Go joins paths.
    RepoPath::new(path.trim_start_matches('/'))
        .map_err(|_| Status::unknown("illegal appPath: out of workDir bound"))
}

/// The application's folder for the call whose paths end at the tree's root, however far they climb (`spec/cmp.md` 3.1).
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
