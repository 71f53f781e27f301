//! Receiving a call's files: hash, gunzip and untar run as the chunks arrive; nothing else is written to disk.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tiphys_params::EnvVar;
use tiphys_tree::{Modes, RepoPath, Store, StoreError, Tree, archive};
use tonic::{Status, Streaming};

use crate::archives::hex;
use crate::generated::plugin::{
    AppStreamRequest, ManifestRequestMetadata, app_stream_request::Request as Part,
};

/// Chunks that wait between the network and the unpacking, each as large as the sender made it.
const CHUNKS_WAITING_MAX: usize = 64;

/// A call's files and environment.
#[derive(Debug)]
pub(crate) struct Received {
    /// The unpacked archive.
    pub(crate) tree: Tree,
    /// The application's folder in it.
    pub(crate) app_path: RepoPath,
    /// The request's environment; entries without a name are gone, as in Argo CD.
    pub(crate) env: Vec<EnvVar>,
}

/// Receives one client stream into the store. The texts are Argo CD's (`spec/cmp.md` 1.6).
pub(crate) async fn receive(
    mut stream: Streaming<AppStreamRequest>,
    store: Arc<Store>,
    modes: Modes,
) -> Result<Received, ReceiveError> {
    let first = stream.message().await.map_err(|status| {
        ReceiveError::new(format!("error receiving stream header: {}", status.message()))
    })?;
    let Some(Part::Metadata(metadata)) = first.and_then(|message| message.request) else {
        return Err(ReceiveError::new("error getting stream metadata: metadata is nil"));
    };
    let (sender, chunks) = mpsc::sync_channel(CHUNKS_WAITING_MAX);
    let expected = metadata.checksum.clone();
    let unpacking = tokio::task::spawn_blocking(move || unpack(&store, modes, chunks, &expected));
    let forwarded = forward(&mut stream, sender).await;
    let unpacked =
        unpacking.await.map_err(|_| ReceiveError::new("error receiving tgz file: unpacking failed"))?;
    forwarded?;
    let tree = unpacked?;
    let app_path = RepoPath::new(&metadata.app_rel_path)
        .map_err(|_| ReceiveError::new("illegal appPath: out of workDir bound"))?;
    Ok(Received { tree, app_path, env: environment(metadata) })
}

/// Hands chunks to the unpacking thread. When that has given up, the rest of the stream is read and thrown away, because a sender
/// that is cut off in the middle never sees the reason (`spec/cmp.md` 1.8, "server failed mid-upload").
async fn forward(
    stream: &mut Streaming<AppStreamRequest>,
    sender: mpsc::SyncSender<Bytes>,
) -> Result<(), ReceiveError> {
    let mut sender = Some(sender);
    loop {
        let message = stream.message().await.map_err(|status| {
            ReceiveError::new(format!("error receiving tgz file: stream Recv error: {}", status.message()))
        })?;
        let Some(message) = message else { return Ok(()) };
        let Some(Part::File(file)) = message.request else {
            return Err(ReceiveError::new("error receiving tgz file: stream request file is nil"));
        };
        let Some(open) = sender.take() else { continue };
        // A full channel must not block a thread of the runtime.
        let sent = match open.try_send(file.chunk) {
            Ok(()) => Ok(open),
            Err(mpsc::TrySendError::Disconnected(_)) => Err(()),
            Err(mpsc::TrySendError::Full(chunk)) => {
                tokio::task::spawn_blocking(move || open.send(chunk).map(|()| open).map_err(|_| ()))
                    .await
                    .map_err(|_| ReceiveError::new("error receiving tgz file: unpacking failed"))?
            }
        };
        sender = sent.ok();
    }
}

fn unpack(
    store: &Store,
    modes: Modes,
    chunks: mpsc::Receiver<Bytes>,
    expected: &str,
) -> Result<Tree, ReceiveError> {
    // The modes need no salt: they are part of every file's entry in the tree's name.
    store.write_by_content(b"", |writer| {
        writer.set_modes(modes);
        let mut reader = Chunks { incoming: chunks, rest: Bytes::new(), hash: Sha256::new() };
        archive::unpack(&mut reader, writer)
            .map_err(|error| ReceiveError::new(format!("error decompressing tgz file: {error}")))?;
        // The archive may end before the stream does; the checksum is over all of it.
        io::copy(&mut reader, &mut io::sink())
            .map_err(|error| ReceiveError::new(format!("error receiving tgz file: {error}")))?;
        if hex(&reader.hash.finalize()) != expected {
            return Err(ReceiveError::new("error receiving tgz file: file checksum validation error"));
        }
        Ok(())
    })
}

fn environment(metadata: ManifestRequestMetadata) -> Vec<EnvVar> {
    metadata
        .env
        .into_iter()
        .filter(|entry| !entry.name.is_empty())
        .map(|entry| EnvVar::new(entry.name, entry.value))
        .collect()
}

/// The stream's chunks as bytes to read; hashes them on the way.
struct Chunks {
    incoming: mpsc::Receiver<Bytes>,
    rest: Bytes,
    hash: Sha256,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.incoming.recv() {
                Ok(chunk) => {
                    self.hash.update(&chunk);
                    self.rest = chunk;
                }
                Err(mpsc::RecvError) => return Ok(0),
            }
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

/// Why a call's files could not be received.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ReceiveError {
    message: String,
}

impl ReceiveError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// As the answer of a call; `call` is Argo CD's word for it.
    pub(crate) fn into_status(self, call: &str) -> Status {
        Status::unknown(format!("{call} error receiving stream: {}", self.message))
    }
}

impl From<StoreError> for ReceiveError {
    fn from(error: StoreError) -> Self {
        Self::new(format!("error decompressing tgz file: {error}"))
    }
}
