//! One client stream: a head, then chunks of an archive, which are counted and hashed whatever becomes of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use sha2::{Digest, Sha256};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tonic::{Status, Streaming};
use tracing::Span;

use super::error::{HEADER, RECEIVING};
use super::gate::Checksum;
use super::times::Times;
use super::{Clock, ReceiveError, UploadBounds};
use crate::generated::plugin::{
    AppStreamRequest, ManifestRequestMetadata, app_stream_request::Request as Part,
};

/// Bytes that are collected before somebody else sees them. Argo CD sends 1,024 at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// The least time between two looks at a sender who pauses.
const LOOK_MIN: Duration = Duration::from_millis(10);
/// Messages after which others get a turn, and the clock is looked at, though the next one is there.
const MESSAGES_AT_ONCE: u64 = 1024;
/// Bytes that are read after a failure, so that the sender gets to the answer; then it is cut off.
const DISCARDED_BYTES_MAX: u64 = 1 << 30;

/// A client stream.
pub(super) struct Upload {
    stream: Streaming<AppStreamRequest>,
    hash: Sha256,
    bytes: u64,
    messages: u64,
    bounds: UploadBounds,
    place: Option<Place>,
    times: Times,
    /// Lasts from the head to the end of the archive.
    span: Span,
}

/// The place that an upload has among those that are unpacked.
struct Place {
    /// How many others wait for one.
    waiting: Arc<AtomicUsize>,
    /// The work that takes it; with its end the place is free, though the upload goes on.
    work: AbortHandle,
}

impl Place {
    fn is_waited_for(&self) -> bool {
        !self.work.is_finished() && self.waiting.load(Ordering::Relaxed) > 0
    }
}

impl Upload {
    pub(super) fn new(stream: Streaming<AppStreamRequest>, bounds: UploadBounds) -> Self {
        Self {
            stream,
            hash: Sha256::new(),
            bytes: 0,
            messages: 0,
            bounds,
            place: None,
            times: Times::default(),
            span: Span::none(),
        }
    }

    /// Bytes of the archive so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where its time goes.
    pub(super) fn times(&mut self) -> &mut Times {
        &mut self.times
    }

    /// From now on others may wait for this upload's place, until `work` has ended.
    pub(super) fn holds_a_place(&mut self, waiting: Arc<AtomicUsize>, work: AbortHandle) {
        self.place = Some(Place { waiting, work });
    }

    /// The first message.
    pub(super) async fn head(&mut self, clock: &Clock) -> Result<ManifestRequestMetadata, ReceiveError> {
        let first = self.message(HEADER, clock).await?;
        let first = first.map_err(|status| ReceiveError::stream(HEADER, &status))?;
        match first.and_then(|message| message.request) {
            Some(Part::Metadata(head)) => {
                self.span = tracing::info_span!("cmp.receiveFile");
                Ok(head)
            }
            _ => Err(ReceiveError::invalid("error getting stream metadata: metadata is nil")),
        }
    }

    /// The next bytes of the archive, as many as are worth handing on; `None` at its end.
    pub(super) async fn piece(&mut self, clock: &Clock) -> Result<Option<Bytes>, ReceiveError> {
        let mut piece = BytesMut::new();
        while piece.len() < PIECE_BYTES {
            let Some(chunk) = self.chunk(clock).await? else { break };
            if piece.is_empty() && chunk.len() >= PIECE_BYTES {
                return Ok(Some(chunk));
            }
            // Chunks are parts of larger buffers; copying them lets those go.
            piece.extend_from_slice(&chunk);
        }
        Ok((!piece.is_empty()).then(|| piece.freeze()))
    }

    /// Reads to the end of the archive.
    pub(super) async fn rest(&mut self, clock: &Clock) -> Result<(), ReceiveError> {
        while self.chunk(clock).await?.is_some() {}
        Ok(())
    }

    /// Compares what was received with the checksum that was claimed; a text that is none fits to nothing.
    pub(super) fn check(&mut self, claimed: Option<Checksum>) -> Result<(), ReceiveError> {
        if claimed == Some(Checksum::of(self.hash.finalize_reset())) {
            return Ok(());
        }
        Err(ReceiveError::invalid("error receiving tgz file: file checksum validation error"))
    }

    /// Reads on without looking at anything, so that the sender gets to the answer.
    pub(super) async fn discard(&mut self, clock: &Clock) {
        let mut bytes = 0;
        while bytes < DISCARDED_BYTES_MAX {
            match self.message(RECEIVING, clock).await {
                Ok(Ok(Some(AppStreamRequest { request: Some(Part::File(file)) }))) => {
                    bytes += file.chunk.len() as u64;
                }
                // Even what is no chunk takes part in the bound.
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
            self.span = Span::none();
            return Ok(None);
        };
        let Some(Part::File(file)) = message.request else {
            return Err(ReceiveError::invalid("error receiving tgz file: stream request file is nil"));
        };
        self.times.bytes();
        self.bytes += file.chunk.len() as u64;
        let max = self.bounds.archive.packed_bytes_max;
        if self.bytes > max {
            return Err(ReceiveError::too_large(max));
        }
        self.hash.update(&file.chunk);
        Ok(Some(file.chunk))
    }

    /// The next message, if it comes before the sender has paused for too long.
    async fn message(
        &mut self,
        step: &str,
        clock: &Clock,
    ) -> Result<Result<Option<AppStreamRequest>, Status>, ReceiveError> {
        self.messages += 1;
        if self.messages.is_multiple_of(MESSAGES_AT_ONCE) {
            clock.within(step, tokio::task::yield_now()).await?;
        }
        // Most messages are there already; timers are for those that are not.
        if let Some(message) = self.stream.message().now_or_never() {
            return Ok(message);
        }
        let (stream, place, stall_max) = (&mut self.stream, self.place.as_ref(), self.bounds.stall_max);
        let crowded_stall_max = self.bounds.crowded_stall_max.max(LOOK_MIN);
        let message = async {
            let mut idle = Duration::ZERO;
            loop {
                let patience = crowded_stall_max.min(stall_max.saturating_sub(idle));
                if let Ok(message) = timeout(patience, stream.message()).await {
                    return Ok(message);
                }
                idle += patience;
                if idle >= stall_max {
                    return Err(ReceiveError::stalled(step, idle));
                }
                if place.is_some_and(Place::is_waited_for) {
                    return Err(ReceiveError::stalled_before_others(step, idle));
                }
            }
        };
        clock.within(step, message).await?
    }
}
