//! Errors while a call's files are received. The messages are Argo CD's.

use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_plugin::chain;
use tiphys_tree::archive::ArchiveError;
use tiphys_tree::{StoreError, WriteError};
use tokio::task::JoinError;
use tonic::{Code, Status};

use crate::metrics::Refusal;
use crate::panic::panic_message;

/// Argo CD's message for receiving the first message.
pub(super) const HEADER: &str = "error receiving stream header";
/// Argo CD's message for receiving the archive.
pub(super) const RECEIVING: &str = "error receiving tgz file: stream context error";
/// Argo CD's message for unpacking the archive.
pub(super) const DECOMPRESSING: &str = "error decompressing tgz file";
/// Message for waiting until the trees of other calls are no longer in use.
pub(super) const WAITING_FOR_ROOM: &str =
    "error receiving tgz file: waiting for the trees of other calls: limit store-bytes-max";

/// An error while a call's files are received.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct ReceiveError {
    code: Code,
    text: String,
    rest: Rest,
    refusal: Option<Refusal>,
}

/// State of the stream after the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// The rest can be read.
    Readable,
    /// It has ended or is broken, or there is no time for it.
    Gone,
}

impl ReceiveError {
    /// The upload is invalid.
    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self { code: Code::Unknown, text: text.into(), rest: Rest::Readable, refusal: None }
    }

    /// The deadline passed, in Go's words.
    pub(super) fn late(step: &str) -> Self {
        let text = format!("{step}: context deadline exceeded");
        Self { code: Code::DeadlineExceeded, text, rest: Rest::Gone, refusal: None }
    }

    /// The sender paused for too long.
    pub(super) fn stalled(step: &str, idle: Duration) -> Self {
        Self::paused(format!(
            "{step}: the sender sent nothing for {idle:?} and did not end its upload: {}",
            Limit::UPLOAD_STALL_MAX
        ))
    }

    /// The sender paused while others waited for its slot.
    pub(super) fn stalled_before_others(step: &str, idle: Duration) -> Self {
        Self::paused(format!(
            "{step}: the sender sent nothing for {idle:?} while other uploads waited to be unpacked: {}, {}",
            Limit::UPLOAD_STALL_CROWDED_MAX,
            Limit::UNPACKING_MAX
        ))
    }

    fn paused(text: String) -> Self {
        Self { code: Code::DeadlineExceeded, text, rest: Rest::Gone, refusal: Some(Refusal::Stall) }
    }

    /// The server is shutting down.
    pub(super) fn ending() -> Self {
        let text = "the plugin server is shutting down".to_owned();
        Self { code: Code::Unavailable, text, rest: Rest::Gone, refusal: None }
    }

    /// The archive exceeds its limit.
    pub(super) fn too_large(max: u64) -> Self {
        Self::archive(&ArchiveError::too_many_packed_bytes(max))
    }

    /// The stream broke, or a message is too large.
    pub(super) fn stream(step: &str, status: &Status) -> Self {
        let large = status.message().strip_prefix("Error, decoded message ");
        let (code, text, refusal) = match (status.code(), large) {
            (Code::OutOfRange, Some(lengths)) => (
                Code::ResourceExhausted,
                format!("grpc: received message larger than max: {lengths}; see ARGOCD_GRPC_MAX_SIZE_MB"),
                Some(Refusal::Message),
            ),
            (code, _) => (code, status.message().to_owned(), None),
        };
        Self { code, text: format!("{step}: {text}"), rest: Rest::Gone, refusal }
    }

    /// The archive could not be unpacked.
    pub(super) fn archive(error: &ArchiveError) -> Self {
        let failed = Self::invalid(format!("{DECOMPRESSING}: {}", chain(error)));
        if let ArchiveError::StoreFull { .. } = error {
            return Self { code: Code::ResourceExhausted, refusal: Some(Refusal::Store), ..failed };
        }
        let refusal = matches!(
            error,
            ArchiveError::TooManyPackedBytes { .. }
                | ArchiveError::TooManyNameBytes { .. }
                | ArchiveError::Write(WriteError::TooManyEntries { .. } | WriteError::TooManyBytes { .. })
                | ArchiveError::Store(StoreError::Write(
                    WriteError::TooManyEntries { .. } | WriteError::TooManyBytes { .. }
                ))
        );
        let refusal = refusal.then_some(Refusal::Archive);
        Self { refusal, ..failed }
    }

    /// The unpacking thread panicked.
    pub(super) fn panicked(failed: JoinError) -> Self {
        let text = match failed.try_into_panic() {
            Ok(panic) => panic_message(&*panic),
            Err(_) => "the thread did not run".to_owned(),
        };
        let text = format!("{DECOMPRESSING}: {text}");
        Self { code: Code::Internal, text, rest: Rest::Gone, refusal: None }
    }

    /// Whether the sender may still be sending, and the rest can be read.
    pub(super) fn leaves_stream_readable(&self) -> bool {
        self.rest == Rest::Readable
    }

    /// The limit that was exceeded, if any.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// Converts the error to the answer of a call. `call` is Argo CD's name of it.
    pub(crate) fn into_status(self, call: &str) -> Status {
        Status::new(self.code, format!("{call} error receiving stream: {}", self.text))
    }
}
