//! A client stream: metadata, then chunks of an archive, which are always counted and hashed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use sha2::{Digest, Sha256};
use tiphys_tree::archive::ArchiveLimits;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tonic::{Status, Streaming};

use super::clock::Clock;
use super::error::{HEADER, RECEIVING, ReceiveError};
use super::gate::Checksum;
use super::times::Times;
use crate::generated::plugin::{
    AppStreamRequest, ManifestRequestMetadata, app_stream_request::Request as StreamItem,
};

/// Bytes that are collected before they are passed on. Argo CD sends 1,024 at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// Minimum interval of the checks for a sender that pauses.
const CHECK_INTERVAL_MIN: Duration = Duration::from_millis(10);
/// Number of messages after which other tasks run and the deadline is checked, even if the next message is available.
const MESSAGES_AT_ONCE: u64 = 1024;
/// Bytes that are read after a failure so that the sender gets the answer. Then the stream is closed.
const DISCARDED_BYTES_MAX: u64 = 1 << 30;

/// Limits of uploads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UploadLimits {
    /// Limits of each archive.
    pub(crate) archive: ArchiveLimits,
    /// How long a sender may pause.
    pub(crate) stall_max: Duration,
    /// The same while others wait for its unpack slot.
    pub(crate) crowded_stall_max: Duration,
    /// Archives that are unpacked at once.
    pub(crate) unpacking_max: usize,
}

/// A client stream.
pub(super) struct Upload {
    stream: Streaming<AppStreamRequest>,
    hash: Sha256,
    bytes: u64,
    messages: u64,
    limits: UploadLimits,
    slot: Option<UnpackSlot>,
    times: Times,
}

/// The slot of an upload that is unpacked while it is received.
struct UnpackSlot {
    /// Number of uploads that wait for a slot.
    waiting: Arc<AtomicUsize>,
    /// The work that takes the slot. The slot is free when it ends, even if the upload continues.
    work: AbortHandle,
}

impl UnpackSlot {
    fn is_waited_for(&self) -> bool {
        !self.work.is_finished() && self.waiting.load(Ordering::Relaxed) > 0
    }
}

impl Upload {
    pub(super) fn new(stream: Streaming<AppStreamRequest>, limits: UploadLimits) -> Self {
        Self {
            stream,
            hash: Sha256::new(),
            bytes: 0,
            messages: 0,
            limits,
            slot: None,
            times: Times::default(),
        }
    }

    /// Returns the bytes of the archive so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns its times.
    pub(super) fn times(&mut self) -> &mut Times {
        &mut self.times
    }

    /// Sets the slot that others may wait for until `work` ends.
    pub(super) fn set_slot(&mut self, waiting: Arc<AtomicUsize>, work: AbortHandle) {
        self.slot = Some(UnpackSlot { waiting, work });
    }

    /// Reads the metadata, the first message.
    pub(super) async fn head(&mut self, clock: &Clock) -> Result<ManifestRequestMetadata, ReceiveError> {
        let first = self.message(HEADER, clock).await?;
        let first = first.map_err(|status| ReceiveError::stream(HEADER, &status))?;
        match first.and_then(|message| message.request) {
            Some(StreamItem::Metadata(head)) => Ok(head),
            _ => Err(ReceiveError::invalid("error getting stream metadata: metadata is nil")),
        }
    }

    /// Reads the next bytes of the archive, at least [`PIECE_BYTES`] unless it ends. `None` at its end.
    pub(super) async fn piece(&mut self, clock: &Clock) -> Result<Option<Bytes>, ReceiveError> {
        let mut piece = BytesMut::new();
        while piece.len() < PIECE_BYTES {
            let Some(chunk) = self.chunk(clock).await? else { break };
            if piece.is_empty() && chunk.len() >= PIECE_BYTES {
                return Ok(Some(chunk));
            }
            // Chunks are parts of larger buffers, which a copy frees.
            piece.extend_from_slice(&chunk);
        }
        Ok((!piece.is_empty()).then(|| piece.freeze()))
    }

    /// Reads to the end of the archive.
    pub(super) async fn rest(&mut self, clock: &Clock) -> Result<(), ReceiveError> {
        while self.chunk(clock).await?.is_some() {}
        Ok(())
    }

    /// Compares the received bytes with the claimed checksum. An invalid one (`None`) never matches.
    pub(super) fn check(&mut self, claimed: Option<Checksum>) -> Result<(), ReceiveError> {
        if claimed == Some(Checksum::of(self.hash.finalize_reset())) {
            return Ok(());
        }
        Err(ReceiveError::invalid("error receiving tgz file: file checksum validation error"))
    }

    /// Reads and ignores further messages, so that the sender gets the answer.
    pub(super) async fn discard(&mut self, clock: &Clock) {
        let mut bytes = 0;
        while bytes < DISCARDED_BYTES_MAX {
            match self.message(RECEIVING, clock).await {
                Ok(Ok(Some(AppStreamRequest { request: Some(StreamItem::File(file)) }))) => {
                    bytes += file.chunk.len() as u64;
                }
                // Other messages count towards the limit, too.
                Ok(Ok(Some(_))) => bytes += PIECE_BYTES as u64,
                Ok(Ok(None) | Err(_)) | Err(_) => return,
            }
        }
    }

    async fn chunk(&mut self, clock: &Clock) -> Result<Option<Bytes>, ReceiveError> {
        let message = self.message(RECEIVING, clock).await?;
        let message = message
            .map_err(|status| ReceiveError::stream("error receiving tgz file: stream Recv error", &status))?;
        let Some(message) = message else {
            self.times.end();
            return Ok(None);
        };
        let Some(StreamItem::File(file)) = message.request else {
            return Err(ReceiveError::invalid("error receiving tgz file: stream request file is nil"));
        };
        self.times.bytes();
        self.bytes += file.chunk.len() as u64;
        let max = self.limits.archive.packed_bytes_max;
        if self.bytes > max {
            return Err(ReceiveError::too_large(max));
        }
        self.hash.update(&file.chunk);
        Ok(Some(file.chunk))
    }

    /// Reads the next message unless the sender pauses for too long.
    async fn message(
        &mut self,
        step: &str,
        clock: &Clock,
    ) -> Result<Result<Option<AppStreamRequest>, Status>, ReceiveError> {
        self.messages += 1;
        if self.messages.is_multiple_of(MESSAGES_AT_ONCE) {
            clock.within(step, tokio::task::yield_now()).await?;
        }
        // Most messages are already available and need no timer.
        if let Some(message) = self.stream.message().now_or_never() {
            return Ok(message);
        }
        let (stream, slot, stall_max) = (&mut self.stream, self.slot.as_ref(), self.limits.stall_max);
        let crowded_stall_max = self.limits.crowded_stall_max.max(CHECK_INTERVAL_MIN);
        let message = async {
            let mut idle = Duration::ZERO;
            loop {
                let timeout_after = crowded_stall_max.min(stall_max.saturating_sub(idle));
                if let Ok(message) = timeout(timeout_after, stream.message()).await {
                    return Ok(message);
                }
                idle += timeout_after;
                if idle >= stall_max {
                    return Err(ReceiveError::stalled(step, idle));
                }
                if slot.is_some_and(UnpackSlot::is_waited_for) {
                    return Err(ReceiveError::stalled_before_others(step, idle));
                }
            }
        };
        clock.within(step, message).await?
    }
}
