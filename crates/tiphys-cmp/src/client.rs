//! Plugins of other processes, called over their sockets.

use std::fs;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use tiphys_model::params::merge_announcements;
use tiphys_plugin::{Announced, Configuration, Discovery, Generated, Match, Plugin, PluginError, Request};
use tiphys_tree::{Entries, Modes, RepoPath};
use tokio::net::UnixStream;
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::announcement::from_message;
use crate::archives::{Archive, Archives};
use crate::generated::plugin::config_management_plugin_service_client::ConfigManagementPluginServiceClient;
use crate::generated::plugin::{
    AppStreamRequest, EnvEntry, File, ManifestRequestMetadata, app_stream_request::Request as StreamItem,
};
use crate::{ABOVE_LIMIT_KEY, MESSAGE_BYTES_MAX};

/// Bytes of one chunk. Argo CD sends 1,024; its server accepts any size.
const CHUNK_BYTES: usize = 64 * 1024;

/// Timeout of connecting. A plugin server on the same machine answers at once or not at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout of the request for a plugin's configuration, which a server answers from memory.
const CONFIGURATION_TIMEOUT: Duration = Duration::from_mins(1);

/// An error while sockets are listed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The directory could not be read.
    #[error("failed to list all plugins in dir {dir}")]
    List {
        /// The directory.
        dir: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

/// Returns the plugins of all sockets in a directory, sorted by name. Connects when a plugin is first called.
pub fn remote_plugins(dir: &Path, archives: &Arc<Archives>) -> Result<Vec<RemotePlugin>, ConnectError> {
    let failed = |source| ConnectError::List { dir: dir.to_path_buf(), source };
    let mut sockets = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_socket() {
            sockets.push(entry.path());
        }
    }
    sockets.sort();
    Ok(sockets.into_iter().map(|socket| RemotePlugin::new(socket, Arc::clone(archives))).collect())
}

/// A plugin of another process.
#[derive(Clone, Debug)]
pub struct RemotePlugin {
    name: String,
    socket: PathBuf,
    channel: Channel,
    archives: Arc<Archives>,
}

impl RemotePlugin {
    /// Creates a plugin with the name of the socket file without `.sock`.
    pub fn new(socket: PathBuf, archives: Arc<Archives>) -> Self {
        let file = socket.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = file.strip_suffix(".sock").unwrap_or(&file).to_owned();
        let channel = channel(socket.clone());
        Self { name, socket, channel, archives }
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    fn client(&self) -> ConfigManagementPluginServiceClient<Channel> {
        ConfigManagementPluginServiceClient::new(self.channel.clone())
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    fn failed(&self, message: impl Into<String>) -> PluginError {
        let socket = self.socket.display().to_string();
        PluginError::Remote { socket, message: message.into(), is_above_announcement_limit: false }
    }

    /// Returns the error of a failed call. `redacted` removes what the message must not contain.
    fn refused(&self, status: &tonic::Status, redacted: impl FnOnce(&str) -> String) -> PluginError {
        PluginError::Remote {
            socket: self.socket.display().to_string(),
            message: redacted(&refusal(status)),
            is_above_announcement_limit: status.metadata().contains_key(ABOVE_LIMIT_KEY),
        }
    }

    /// Packs the request's tree and returns the stream that sends it.
    async fn upload(
        &self,
        request: &Request,
    ) -> Result<tonic::Request<impl stream::Stream<Item = AppStreamRequest> + use<>>, PluginError> {
        let (archives, tree) = (Arc::clone(&self.archives), request.tree.clone());
        let archive = tokio::task::spawn_blocking(move || archives.archive(&tree))
            .await
            .map_err(|_| self.failed("packing the tree failed"))?
            .map_err(|message| self.failed(message))?;
        let metadata = metadata(request, &archive)?;
        let head = AppStreamRequest { request: Some(StreamItem::Metadata(metadata)) };
        let chunks = stream::iter(Chunks { archive, offset: 0 });
        let mut upload = tonic::Request::new(stream::StreamExt::chain(stream::iter([head]), chunks));
        let now = Instant::now();
        upload.set_timeout(request.deadline.from(now).saturating_duration_since(now));
        Ok(upload)
    }

    /// Waits for an answer, or until the caller cancels.
    async fn answer<T>(
        &self,
        request: &Request,
        call: impl Future<Output = Result<tonic::Response<T>, tonic::Status>>,
    ) -> Result<T, PluginError> {
        tokio::select! {
            answer = call => answer.map(tonic::Response::into_inner).map_err(|status| {
                self.refused(&status, |message| request.redactor().redact(message).into_owned())
            }),
            () = request.cancel.cancelled() => Err(PluginError::Cancelled),
        }
    }
}

/// Returns the message of a failed call, with its last cause.
fn refusal(status: &tonic::Status) -> String {
    let causes = std::iter::successors(std::error::Error::source(status), |error| error.source());
    let last = causes.last().map(|cause| format!(" ({cause})")).unwrap_or_default();
    format!("{}{last}", status.message())
}

/// Returns a channel to a socket, which is connected on first use.
pub(crate) fn channel(socket: PathBuf) -> Channel {
    let connector = tower::service_fn(move |_: Uri| {
        let path = socket.clone();
        async move { UnixStream::connect(path).await.map(hyper_util::rt::TokioIo::new) }
    });
    // Unused: the connector dials the socket.
    Endpoint::from_static("http://localhost")
        .connect_timeout(CONNECT_TIMEOUT)
        .connect_with_connector_lazy(connector)
}

fn metadata(request: &Request, archive: &Archive) -> Result<ManifestRequestMetadata, PluginError> {
    let (path, env) = (request.app_path.as_str(), request.env_with_resolved()?);
    let size = i64::try_from(archive.size).map_err(|_| PluginError::Remote {
        socket: String::new(),
        message: "the tree is too large to send".to_owned(),
        is_above_announcement_limit: false,
    })?;
    Ok(ManifestRequestMetadata {
        app_name: path.rsplit('/').next().unwrap_or_default().to_owned(),
        app_rel_path: if path.is_empty() { ".".to_owned() } else { path.to_owned() },
        checksum: archive.checksum.clone(),
        size,
        env: env.into_iter().map(|v| EnvEntry { name: v.name, value: v.value }).collect(),
    })
}

#[async_trait::async_trait]
impl Plugin for RemotePlugin {
    fn name(&self) -> &str {
        &self.name
    }

    fn modes(&self) -> Modes {
        Modes::Preserved
    }

    fn environment(&self, request: &Request) -> Vec<(String, String)> {
        request.env.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect()
    }

    async fn configuration(&self) -> Result<Configuration, PluginError> {
        let mut request = tonic::Request::new(());
        request.set_timeout(CONFIGURATION_TIMEOUT);
        let answer = self
            .client()
            .check_plugin_configuration(request)
            .await
            .map_err(|status| self.refused(&status, str::to_owned))?
            .into_inner();
        Ok(Configuration {
            discovery_configured: answer.is_discovery_configured,
            provide_git_creds: answer.provide_git_creds,
            // The protocol has no field for it and no way to send the files.
            run_context: false,
        })
    }

    fn discovery(&self) -> Discovery {
        Discovery::Run
    }

    fn matches_entries(
        &self,
        _entries: &Entries,
        _app_path: &RepoPath,
        _stop: &dyn Fn() -> bool,
    ) -> Result<Match, PluginError> {
        Err(PluginError::NeedsFiles { plugin: self.name.clone() })
    }

    async fn matches(&self, request: &Request) -> Result<Match, PluginError> {
        let upload = self.upload(request).await?;
        let mut client = self.client();
        let answer = self.answer(request, client.match_repository(upload)).await?;
        Ok(match (answer.is_discovery_enabled, answer.is_supported) {
            (false, _) => Match::DiscoveryNotConfigured,
            (true, true) => Match::Supported,
            (true, false) => Match::NotSupported,
        })
    }

    async fn generate(&self, request: &Request) -> Result<Generated, PluginError> {
        let begun = Instant::now();
        let upload = self.upload(request).await?;
        let mut client = self.client();
        let answer = self.answer(request, client.generate_manifest(upload)).await?;
        let mut documents = Vec::with_capacity(answer.manifests.len());
        for (index, manifest) in answer.manifests.iter().enumerate() {
            // Each may contain several documents: plugin servers need not split them.
            let read = tiphys_yaml::split_documents(manifest.as_bytes());
            documents.extend(read.map_err(|error| {
                let message = format!("manifest {} of the answer: {error}", index + 1);
                self.failed(request.redactor().redact(&message))
            })?);
        }
        Ok(Generated { documents, stderr: String::new(), duration: begun.elapsed() })
    }

    async fn announce(&self, request: &Request) -> Result<Announced, PluginError> {
        let upload = self.upload(request).await?;
        let mut client = self.client();
        let answer = self.answer(request, client.get_parameters_announcement(upload)).await?;
        let entries = answer.parameter_announcements.into_iter().enumerate();
        let list =
            entries.map(|(index, message)| from_message(index, message)).collect::<Result<Vec<_>, _>>();
        let mut list = list.map_err(|message| PluginError::Announcement { message })?;
        // Argo CD's server sends its dynamic announcements, which complete the static ones, before these.
        list.reverse();
        let mut list = merge_announcements(list, Vec::new());
        list.reverse();
        Ok(Announced { list, warnings: Vec::new() })
    }
}

/// The archive in chunks. Reads are small and hit the page cache.
struct Chunks {
    archive: Arc<Archive>,
    offset: u64,
}

impl Iterator for Chunks {
    type Item = AppStreamRequest;

    fn next(&mut self) -> Option<AppStreamRequest> {
        let mut chunk = vec![0; CHUNK_BYTES];
        // A failed read ends the upload early. The server then rejects the checksum.
        let count = self.archive.file.read_at(&mut chunk, self.offset).unwrap_or(0);
        if count == 0 {
            return None;
        }
        chunk.truncate(count);
        self.offset += count as u64;
        Some(AppStreamRequest { request: Some(StreamItem::File(File { chunk: Bytes::from(chunk) })) })
    }
}

#[cfg(test)]
mod tests;
