//! Why a call's files could not be received. The texts are Argo CD's (`spec/cmp.md` 1.6).

use std::time::Duration;

use tiphys_plugin::chain;
use tiphys_tree::archive::ArchiveError;
use tiphys_tree::{StoreError, WriteError};
use tokio::task::JoinError;
use tonic::{Code, Status};

use crate::calls::panic_text;
use crate::metrics::Refusal;

/// Argo CD's words for receiving the first message.
pub(super) const HEADER: &str = "error receiving stream header";
/// Argo CD's words for receiving the archive.
pub(super) const RECEIVING: &str = "error receiving tgz file: stream context error";
/// Argo CD's words for unpacking the archive.
pub(super) const DECOMPRESSING: &str = "error decompressing tgz file";
/// Our words for waiting until the trees of other calls are no longer in use.
pub(super) const WAITING_FOR_ROOM: &str =
    "error receiving tgz file: waiting for the trees of other calls, see --store-bytes-max";

/// Why a call's files could not be received.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct ReceiveError {
    code: Code,
    text: String,
    rest: Rest,
    refusal: Option<Refusal>,
}

/// What remains of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// It can be read on.
    Readable,
    /// It has ended, is broken, or there is no time for it.
    Gone,
}

impl ReceiveError {
    /// The upload is not what it must be.
    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self { code: Code::Unknown, text: text.into(), rest: Rest::Readable, refusal: None }
    }

    /// The deadline passed. Go's text for it.
    pub(super) fn late(step: &str) -> Self {
        let text = format!("{step}: context deadline exceeded");
        Self { code: Code::DeadlineExceeded, text, rest: Rest::Gone, refusal: None }
    }

    /// The sender has not sent anything for too long.
    pub(super) fn stalled(step: &str, idle: Duration) -> Self {
        Self::paused(format!(
            "{step}: the sender sent nothing for {idle:?} and did not end its upload; see --upload-stall-max"
        ))
    }

    /// The sender has not sent anything for some time, and others wait for its place.
    pub(super) fn stalled_before_others(step: &str, idle: Duration) -> Self {
        Self::paused(format!(
            "{step}: the sender sent nothing for {idle:?} while other uploads waited to be unpacked; see --upload-stall-crowded-max and --unpacking-max"
        ))
    }

    fn paused(text: String) -> Self {
        Self { code: Code::DeadlineExceeded, text, rest: Rest::Gone, refusal: Some(Refusal::Stall) }
    }

    /// The server ends.
    pub(super) fn ending() -> Self {
        let text = "the plugin server is shutting down".to_owned();
        Self { code: Code::Unavailable, text, rest: Rest::Gone, refusal: None }
    }

    /// More bytes than an archive may have.
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

    /// The thread that unpacked has failed.
    pub(super) fn panicked(failed: JoinError) -> Self {
        let text = match failed.try_into_panic() {
            Ok(panic) => panic_text(&*panic),
            Err(_) => "the thread did not run".to_owned(),
        };
        let text = format!("{DECOMPRESSING}: {text}");
        Self { code: Code::Internal, text, rest: Rest::Gone, refusal: None }
    }

    /// Whether the sender may still be sending, and the rest can be read.
    pub(super) fn leaves_a_rest(&self) -> bool {
        self.rest == Rest::Readable
    }

    /// The bound that was reached, if one was.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// As the answer of a call; `call` is Argo CD's word for it.
    pub(crate) fn into_status(self, call: &str) -> Status {
        Status::new(self.code, format!("{call} error receiving stream: {}", self.text))
    }
}
