//! Receives the files of a call. Hashing, decompressing and unpacking happen while the chunks arrive; only unpacked files are written to
//! disk.
//!
//! A call takes a thread only while it unpacks, and starts when there is enough to unpack: the beginning of an archive waits in memory, so
//! that senders that pause cost no threads. The rest waits at the sender, by HTTP/2 flow control.

mod clock;
mod error;
mod gate;
mod pieces;
mod times;
mod upload;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tiphys_model::params::EnvVar;
use tiphys_tree::archive::{self, ArchiveError, Intake};
use tiphys_tree::{Entries, Modes, ProcessStore, Room, Tree, TreeKey};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use tonic::Streaming;

use crate::generated::plugin::{AppStreamRequest, ManifestRequestMetadata};
use crate::metrics::{Metrics, UploadKind};

pub(crate) use clock::Clock;
pub(crate) use error::ReceiveError;
use error::{DECOMPRESSING, RECEIVING, WAITING_FOR_ROOM};
use gate::{Checksum, Gate, Progress, Turn};
use pieces::Feed;
use upload::Upload;
pub(crate) use upload::UploadLimits;

/// Bytes of an archive that are kept in memory before a thread starts.
const BEGIN_BYTES: usize = 256 * 1024;

/// Archives in memory that are unpacked at once after they were received completely.
const COMPLETE_MAX: usize = 8;

/// Interval of the checks for room in the store.
const ROOM_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Receives the files of calls.
#[derive(Debug)]
pub(crate) struct Receiver {
    store: ProcessStore,
    modes: Modes,
    metrics: Arc<Metrics>,
    limits: UploadLimits,
    gate: Arc<Gate>,
    /// One permit for each archive that is unpacked while it is received.
    slots: Arc<Semaphore>,
    /// Uploads that wait for such a permit.
    waiting: Arc<AtomicUsize>,
    /// Held by the upload that waits for room in the store. Further uploads follow in the order of arrival.
    room: tokio::sync::Mutex<()>,
    /// One permit for each completely received archive that is unpacked. They never wait for senders.
    complete_slots: Arc<Semaphore>,
}

/// How much of its files a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilesNeeded {
    /// Nothing. They are still received and checked.
    Nothing,
    /// Names and links; no file is written. A tree in the store is used, too.
    Entries,
    /// A tree.
    Tree,
}

/// The received files of a call.
#[derive(Debug)]
pub(crate) enum Files {
    /// Only checked.
    Nothing,
    /// Names and links.
    Entries(Entries),
    /// A tree of the store.
    Tree(Tree),
}

/// A call's files and environment.
#[derive(Debug)]
pub(crate) struct Received {
    /// The files, as the call needs them.
    pub(crate) files: Files,
    /// The application path, as sent.
    pub(crate) app_rel_path: String,
    /// The request's environment, without entries without a name, as in Argo CD.
    pub(crate) env: Vec<EnvVar>,
}

/// How an upload continues.
enum Admission {
    /// Hash it; if its checksum is right, this is its tree.
    Known(Tree),
    /// Unpack it.
    Unpack(Turn),
}

/// The checksum that an upload claims, and where its progress is reported.
struct Claimed {
    checksum: Checksum,
    progress: Progress,
}

impl Receiver {
    /// Creates a receiver that unpacks into the store.
    pub(crate) fn new(
        store: ProcessStore,
        modes: Modes,
        metrics: Arc<Metrics>,
        limits: UploadLimits,
    ) -> Self {
        let slots = limits.unpacking_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            store,
            modes,
            metrics,
            gate: Arc::default(),
            slots: Arc::new(Semaphore::new(slots)),
            waiting: Arc::default(),
            room: tokio::sync::Mutex::default(),
            complete_slots: Arc::new(Semaphore::new(COMPLETE_MAX)),
            limits,
        }
    }

    /// Receives one client stream. After a failure the rest of the stream is read and discarded if possible, because Argo CD's client never
    /// sees the reason if it is cut off while it sends.
    pub(crate) async fn receive(
        &self,
        stream: Streaming<AppStreamRequest>,
        needed: FilesNeeded,
        clock: &Clock,
    ) -> Result<Received, ReceiveError> {
        let mut upload = Upload::new(stream, self.limits);
        let received = self.read(&mut upload, needed, clock).await;
        self.metrics.received(upload.bytes());
        match &received {
            Ok(_) => self.metrics.uploaded(upload.times().steps()),
            Err(error) => {
                if let Some(refusal) = error.refusal() {
                    self.metrics.refused(refusal);
                }
                if error.leaves_stream_readable() {
                    upload.discard(clock).await;
                }
            }
        }
        received
    }

    async fn read(
        &self,
        upload: &mut Upload,
        needed: FilesNeeded,
        clock: &Clock,
    ) -> Result<Received, ReceiveError> {
        let head = upload.head(clock).await?;
        let claimed = Checksum::parse(&head.checksum);
        let files = match (needed, claimed) {
            (FilesNeeded::Tree, Some(checksum)) => {
                let announced = u64::try_from(head.size).unwrap_or_default();
                Files::Tree(self.tree(upload, checksum, announced, clock).await?)
            }
            (FilesNeeded::Entries, Some(checksum)) => self.entries(upload, checksum, clock).await?,
            // An invalid checksum matches no archive, so there is nothing to unpack.
            (FilesNeeded::Nothing, _) | (FilesNeeded::Entries | FilesNeeded::Tree, None) => {
                upload.rest(clock).await?;
                upload.check(claimed)?;
                Files::Nothing
            }
        };
        Ok(Received { files, app_rel_path: head.app_rel_path.clone(), env: environment(head) })
    }

    /// Returns the tree of an upload. A tree that this server has unpacked from the same bytes is not unpacked again. The bytes are still
    /// hashed, so that no caller gets a tree whose bytes it has not sent.
    async fn tree(
        &self,
        upload: &mut Upload,
        checksum: Checksum,
        announced: u64,
        clock: &Clock,
    ) -> Result<Tree, ReceiveError> {
        let (waiting, counted) = (Instant::now(), self.metrics.upload_waiting());
        let admission = clock.within(RECEIVING, self.admit(checksum)).await?;
        upload.times().waited(waiting);
        drop(counted);
        let (tree, kind) = match admission {
            Admission::Known(tree) => {
                upload.rest(clock).await?;
                upload.check(Some(checksum))?;
                (tree, UploadKind::Known)
            }
            Admission::Unpack(turn) => {
                let (modes, archive_limits) = (self.modes, self.limits.archive);
                let room = self.room(announced.min(archive_limits.packed_bytes_max), clock);
                // The thread reads the end of the archive only after its checksum was verified, so no other bytes become this tree.
                let key = TreeKey::of_archive(checksum.bytes(), modes);
                let take_in = move |room: Room, archive: &mut dyn Read, stop: &(dyn Fn() -> bool + Sync)| {
                    room.take_in(key, archive, &Intake { modes, limits: archive_limits, stop })
                };
                let claimed = Claimed { checksum, progress: turn.progress() };
                (self.unpack(upload, claimed, clock, room, take_in).await?, UploadKind::New)
            }
        };
        self.metrics.unpacked(kind);
        Ok(tree)
    }

    /// Finds the tree of an archive with this checksum, or waits for the turn to unpack it.
    async fn admit(&self, checksum: Checksum) -> Admission {
        let asked = Instant::now().into_std();
        if let Some(tree) = self.find(checksum, asked).await {
            return Admission::Known(tree);
        }
        let turn = self.gate.enter(checksum).await;
        match self.find(checksum, asked).await {
            Some(tree) => Admission::Known(tree),
            None => Admission::Unpack(turn),
        }
    }

    /// Returns the entries of an upload, or its tree if the store has it.
    async fn entries(
        &self,
        upload: &mut Upload,
        checksum: Checksum,
        clock: &Clock,
    ) -> Result<Files, ReceiveError> {
        let known = clock.within(RECEIVING, self.find(checksum, Instant::now().into_std())).await?;
        let (files, kind) = if let Some(tree) = known {
            upload.rest(clock).await?;
            upload.check(Some(checksum))?;
            (Files::Tree(tree), UploadKind::Known)
        } else {
            let (modes, limits) = (self.modes, self.limits.archive);
            let list = move |(), archive: &mut dyn Read, stop: &(dyn Fn() -> bool + Sync)| {
                archive::list(archive, &Intake { modes, limits, stop })
            };
            let no_room = async { Ok(()) };
            let claimed = Claimed { checksum, progress: Progress::default() };
            let entries = self.unpack(upload, claimed, clock, no_room, list).await?;
            (Files::Entries(entries), UploadKind::Listed)
        };
        self.metrics.unpacked(kind);
        Ok(files)
    }

    /// Returns the tree of an archive with this checksum if the store has it unchanged. The check of all files runs on a thread of its own.
    /// If it fails, the archive is unpacked again.
    async fn find(&self, checksum: Checksum, asked: std::time::Instant) -> Option<Tree> {
        let (store, key) = (self.store.shared(), TreeKey::of_archive(checksum.bytes(), self.modes));
        spawn_blocking(move || store.get_for(key, asked)).await.ok().flatten()
    }

    /// Waits for room for another tree in the store. One upload at a time looks for it: otherwise small archives would overtake large ones.
    async fn room(&self, announced: u64, clock: &Clock) -> Result<Room, ReceiveError> {
        if let Ok(_first) = self.room.try_lock()
            && let Some(room) = self.store.room(announced)
        {
            return Ok(room);
        }
        let _waiting = WaitCounter::begin(&self.waiting);
        clock
            .within(WAITING_FOR_ROOM, async {
                let _first = self.room.lock().await;
                loop {
                    if let Some(room) = self.store.room(announced) {
                        return room;
                    }
                    sleep(ROOM_CHECK_INTERVAL).await;
                }
            })
            .await
    }

    /// Runs `work` on an upload in a thread of its own, after waiting for `room`. The result is valid only if the whole upload has the
    /// checksum.
    async fn unpack<T: Send + 'static, R: Send + 'static>(
        &self,
        upload: &mut Upload,
        Claimed { checksum, progress }: Claimed,
        clock: &Clock,
        room: impl Future<Output = Result<R, ReceiveError>>,
        work: impl FnOnce(R, &mut dyn Read, &(dyn Fn() -> bool + Sync)) -> Result<T, ArchiveError>
        + Send
        + 'static,
    ) -> Result<T, ReceiveError> {
        let (mut feed, mut pieces) = Feed::new(progress.clone());
        let mut more = true;
        while more && feed.bytes() < BEGIN_BYTES {
            match upload.piece(clock).await? {
                Some(piece) => {
                    feed.buffer(&mut pieces, piece);
                    progress.step();
                }
                None => more = false,
            }
        }
        if !more {
            upload.check(Some(checksum))?;
        }
        let (waiting, counted) = (Instant::now(), self.metrics.upload_waiting());
        let excused = progress.excused();
        // Before the slot: an upload that waits for room would block uploads that need none.
        let room = room.await?;
        let slot = if more {
            let _waiting = WaitCounter::begin(&self.waiting);
            clock.within(RECEIVING, Arc::clone(&self.slots).acquire_owned()).await?
        } else {
            clock.within(RECEIVING, Arc::clone(&self.complete_slots).acquire_owned()).await?
        };
        let slot = slot.map_err(|_| ReceiveError::ending())?;
        drop((excused, counted));
        upload.times().waited(waiting);
        upload.times().started_unpacking();
        let stop = StopOnDrop::default();
        let stopped = stop.flag();
        let unpacking = self.metrics.upload_unpacking();
        let working = spawn_blocking(move || {
            let (_slot, _unpacking) = (slot, unpacking);
            work(room, &mut pieces, &stopped)
        });
        if more {
            upload.set_slot(Arc::clone(&self.waiting), working.abort_handle());
            while let Some(piece) = upload.piece(clock).await? {
                clock.within(RECEIVING, feed.send(piece)).await?;
            }
            // The checksum is checked before the result, as in Argo CD.
            upload.check(Some(checksum))?;
        }
        clock.within(RECEIVING, feed.end()).await?;
        match clock.within(DECOMPRESSING, working).await? {
            Ok(Ok(done)) => {
                upload.times().unpacked();
                Ok(done)
            }
            Ok(Err(error)) => Err(ReceiveError::archive(&error)),
            Err(failed) => Err(ReceiveError::panicked(failed)),
        }
    }
}

/// Returns the request's environment without entries that have no name.
fn environment(head: ManifestRequestMetadata) -> Vec<EnvVar> {
    let named = head.env.into_iter().filter(|entry| !entry.name.is_empty());
    named.map(|entry| EnvVar::new(entry.name, entry.value)).collect()
}

/// Stops the work on a thread when the call that waits for it ends.
#[derive(Default)]
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// Returns a function that reports whether this was dropped.
    pub(crate) fn flag(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let stopped = Arc::clone(&self.0);
        move || stopped.load(Ordering::Relaxed)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts a waiting upload until it is dropped.
struct WaitCounter<'a>(&'a AtomicUsize);

impl<'a> WaitCounter<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitCounter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
