//! The messages of the plugin protocol and a client that sends valid and invalid ones. Written by hand from
//! [`plugin.proto`](https://github.com/argoproj/argo-cd/blob/master/cmpserver/plugin/plugin.proto), so that mistakes in the generated code
//! show.

use std::collections::HashMap;
use std::future::ready;
use std::io;
use std::path::Path;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use hyper_util::rt::TokioIo;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

/// `plugin.AppStreamRequest`. Valid ones have exactly one field.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamMessage {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<Metadata>,
    #[prost(message, optional, tag = "2")]
    pub(crate) file: Option<File>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Metadata {
    #[prost(string, tag = "1")]
    pub(crate) app_name: String,
    #[prost(string, tag = "2")]
    pub(crate) app_rel_path: String,
    #[prost(string, tag = "3")]
    pub(crate) checksum: String,
    #[prost(int64, tag = "4")]
    pub(crate) size: i64,
    #[prost(map = "string, string", tag = "5")]
    pub(crate) env: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct File {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) chunk: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Manifests {
    #[prost(string, repeated, tag = "1")]
    pub(crate) manifests: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Matched {
    #[prost(bool, tag = "1")]
    pub(crate) is_supported: bool,
    #[prost(bool, tag = "2")]
    pub(crate) is_discovery_enabled: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Health {
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
}

/// Claims a checksum for the application `app`.
pub(crate) fn head(checksum: &str) -> StreamMessage {
    head_of("app", checksum)
}

/// Claims a checksum for an application path.
pub(crate) fn head_of(app_rel_path: &str, checksum: &str) -> StreamMessage {
    let (app_rel_path, checksum) = (app_rel_path.to_owned(), checksum.to_owned());
    StreamMessage { metadata: Some(Metadata { app_rel_path, checksum, ..Metadata::default() }), file: None }
}

/// Bytes of an archive.
pub(crate) fn file(chunk: impl Into<Bytes>) -> StreamMessage {
    StreamMessage { metadata: None, file: Some(File { chunk: chunk.into() }) }
}

/// An archive in chunks as Argo CD sends them.
pub(crate) fn files(archive: &[u8]) -> impl Iterator<Item = StreamMessage> {
    archive.chunks(1024).map(|chunk| file(chunk.to_vec()))
}

/// A valid upload.
pub(crate) fn upload(archive: &[u8]) -> Vec<StreamMessage> {
    [head(&checksum(archive))].into_iter().chain(files(archive)).collect()
}

/// Lower-case hex SHA-256.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A caller's connection.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Channel);

impl Caller {
    pub(crate) async fn new(socket: &Path) -> Result<Self, tonic::transport::Error> {
        let socket = socket.to_path_buf();
        Self::connecting(move || UnixStream::connect(socket.clone())).await
    }

    /// A caller that does not connect again.
    pub(crate) async fn over(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Self, tonic::transport::Error> {
        let mut stream = Some(stream);
        Self::connecting(move || ready(stream.take().ok_or(io::ErrorKind::NotConnected.into()))).await
    }

    async fn connecting<S, F>(
        mut connect: impl FnMut() -> F + Send + 'static,
    ) -> Result<Self, tonic::transport::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
    {
        let connector = tower::service_fn(move |_: Uri| {
            let stream = connect();
            async move { stream.await.map(TokioIo::new) }
        });
        Ok(Self(Endpoint::from_static("http://localhost").connect_with_connector(connector).await?))
    }

    pub(crate) async fn generate(&self, parts: impl IntoParts) -> Result<Vec<String>, Status> {
        let answer: Manifests =
            self.call("/plugin.ConfigManagementPluginService/GenerateManifest", parts).await?;
        Ok(answer.manifests)
    }

    pub(crate) async fn matches(&self, parts: impl IntoParts) -> Result<(bool, bool), Status> {
        let answer: Matched =
            self.call("/plugin.ConfigManagementPluginService/MatchRepository", parts).await?;
        Ok((answer.is_supported, answer.is_discovery_enabled))
    }

    pub(crate) async fn announce(&self, parts: impl IntoParts) -> Result<(), Status> {
        self.call("/plugin.ConfigManagementPluginService/GetParametersAnnouncement", parts).await
    }

    /// `grpc.health.v1.Health/Check` of the whole server: 1 is serving, 2 is not.
    pub(crate) async fn health(&self) -> Result<i32, Status> {
        let health: Health =
            self.call("/grpc.health.v1.Health/Check", vec![StreamMessage::default()]).await?;
        Ok(health.status)
    }

    /// `grpc.health.v1.Health/Watch` of the whole server.
    pub(crate) async fn watch(&self) -> Result<Streaming<Health>, Status> {
        let mut client = Grpc::new(self.0.clone());
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let method = PathAndQuery::from_static("/grpc.health.v1.Health/Watch");
        let codec = ProstCodec::<StreamMessage, Health>::default();
        Ok(client.server_streaming(Request::new(StreamMessage::default()), method, codec).await?.into_inner())
    }

    async fn call<T: prost::Message + Default + 'static>(
        &self,
        method: &'static str,
        parts: impl IntoParts,
    ) -> Result<T, Status> {
        let mut client = Grpc::new(self.0.clone()).max_decoding_message_size(usize::MAX);
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let codec = ProstCodec::<StreamMessage, T>::default();
        let request = Request::new(parts.into_parts());
        let answer = client.client_streaming(request, PathAndQuery::from_static(method), codec).await?;
        Ok(answer.into_inner())
    }
}

/// The messages of a caller.
pub(crate) trait IntoParts {
    fn into_parts(self) -> impl Stream<Item = StreamMessage> + Send + 'static;
}

impl IntoParts for Vec<StreamMessage> {
    fn into_parts(self) -> impl Stream<Item = StreamMessage> + Send + 'static {
        futures_util::stream::iter(self)
    }
}

/// Messages that are sent during the call. The upload ends when the sender is dropped.
impl IntoParts for mpsc::UnboundedReceiver<StreamMessage> {
    fn into_parts(self) -> impl Stream<Item = StreamMessage> + Send + 'static {
        unfold(self, |mut parts| async move { parts.recv().await.map(|part| (part, parts)) })
    }
}

/// An upload that begins with these messages and continues when the test sends more.
pub(crate) fn slowly(
    begin: impl IntoIterator<Item = StreamMessage>,
) -> (mpsc::UnboundedSender<StreamMessage>, mpsc::UnboundedReceiver<StreamMessage>) {
    let (sender, parts) = mpsc::unbounded_channel();
    for part in begin {
        sender.send(part).expect("the receiver exists");
    }
    (sender, parts)
}
