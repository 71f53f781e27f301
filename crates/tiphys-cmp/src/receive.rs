//! Receiving a call's files: hash, gunzip and untar run as the chunks arrive; nothing else is written to disk.
//!
//! A call holds a thread only while it unpacks, and begins with that when there is enough to unpack: the beginning of an archive waits in
//! memory, so that senders who pause cost no threads. What is behind it waits with the sender, held back by HTTP/2's flow control.

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

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tiphys_params::EnvVar;
use tiphys_tree::archive::{self, ArchiveError, ArchiveLimits, Intake};
use tiphys_tree::{Entries, Modes, ProcessStore, Room, StoreError, Tree, TreeKey};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tonic::Streaming;

use crate::generated::plugin::{AppStreamRequest, ManifestRequestMetadata};
use crate::metrics::{Metrics, Upload as Known};

pub(crate) use clock::Clock;
pub(crate) use error::ReceiveError;
use error::{DECOMPRESSING, RECEIVING, WAITING_FOR_ROOM};
use gate::{Checksum, Gate, Pass, Progress};
use pieces::Feed;
use upload::Upload;

/// Bytes of an archive that are kept in memory before a thread begins with them.
const BEGIN_BYTES: usize = 256 * 1024;

/// Archives that are unpacked at once when they are in memory as a whole.
const WHOLE_MAX: usize = 8;

/// Bounds of uploads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UploadBounds {
    /// Bounds of each archive.
    pub(crate) archive: ArchiveLimits,
    /// How long a sender may send nothing.
    pub(crate) stall_max: Duration,
    /// The same while others wait for the place that its archive takes.
    pub(crate) crowded_stall_max: Duration,
    /// Archives that are unpacked at once.
    pub(crate) unpacking_max: usize,
}

/// Receives the files of calls.
#[derive(Debug)]
pub(crate) struct Receiver {
    store: ProcessStore,
    modes: Modes,
    metrics: Arc<Metrics>,
    bounds: UploadBounds,
    gate: Arc<Gate>,
    /// One permit for each archive that is unpacked while it comes.
    places: Arc<Semaphore>,
    /// Uploads that wait for such a place.
    waiting: Arc<AtomicUsize>,
    /// Held by the upload that waits for room in the store. The others come after it in the order in which they came.
    room: tokio::sync::Mutex<()>,
    /// One permit for each archive that is unpacked when it is here. They never wait for senders.
    places_of_whole: Arc<Semaphore>,
}

/// What a call needs of the files that it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing; they are received and checked all the same.
    Nothing,
    /// Names and links are enough; no file is written. A tree will do, too, if it is there.
    Entries,
    /// A tree to work in.
    Tree,
}

/// What became of a call's files.
#[derive(Debug)]
pub(crate) enum Files {
    /// They were received, and that is all.
    Nothing,
    /// Their names and links.
    Entries(Entries),
    /// A tree of the store.
    Tree(Tree),
}

/// A call's files and environment.
#[derive(Debug)]
pub(crate) struct Received {
    /// The files, as the call wanted them.
    pub(crate) files: Files,
    /// The application's folder, as the caller wrote it.
    pub(crate) app_rel_path: String,
    /// The request's environment; entries without a name are gone, as in Argo CD.
    pub(crate) env: Vec<EnvVar>,
}

/// What an upload that is unpacked claims to be, and where it reports its progress.
struct Claimed {
    checksum: Checksum,
    progress: Progress,
}

impl Receiver {
    /// A receiver that unpacks into the store.
    pub(crate) fn new(
        store: ProcessStore,
        modes: Modes,
        metrics: Arc<Metrics>,
        bounds: UploadBounds,
    ) -> Self {
        let places = bounds.unpacking_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            store,
            modes,
            metrics,
            gate: Arc::default(),
            places: Arc::new(Semaphore::new(places)),
            waiting: Arc::default(),
            room: tokio::sync::Mutex::default(),
            places_of_whole: Arc::new(Semaphore::new(WHOLE_MAX)),
            bounds,
        }
    }

    /// Receives one client stream. After a failure the rest of the stream is read and thrown away where that can be, because Argo CD's
    /// client never sees the reason when it is cut off in the middle (`spec/cmp.md` 1.8).
    pub(crate) async fn receive(
        &self,
        stream: Streaming<AppStreamRequest>,
        wanted: Wanted,
        clock: &Clock,
    ) -> Result<Received, ReceiveError> {
        let mut upload = Upload::new(stream, self.bounds);
        let received = self.read(&mut upload, wanted, clock).await;
        self.metrics.received(upload.bytes());
        match &received {
            Ok(_) => self.metrics.uploaded(upload.times().steps()),
            Err(error) => {
                if let Some(refusal) = error.refusal() {
                    self.metrics.refused(refusal);
                }
                if error.leaves_a_rest() {
                    upload.discard(clock).await;
                }
            }
        }
        received
    }

    async fn read(
        &self,
        upload: &mut Upload,
        wanted: Wanted,
        clock: &Clock,
    ) -> Result<Received, ReceiveError> {
        let head = upload.head(clock).await?;
        let claimed = Checksum::parse(&head.checksum);
        let files = match (wanted, claimed) {
            (Wanted::Tree, Some(checksum)) => {
                let announced = u64::try_from(head.size).unwrap_or_default();
                Files::Tree(self.tree(upload, checksum, announced, clock).await?)
            }
            (Wanted::Entries, Some(checksum)) => self.entries(upload, checksum, clock).await?,
            // A text that is no checksum fits to no archive, so there is nothing to unpack.
            (Wanted::Nothing, _) | (Wanted::Entries | Wanted::Tree, None) => {
                upload.rest(clock).await?;
                upload.check(claimed)?;
                Files::Nothing
            }
        };
        Ok(Received { files, app_rel_path: head.app_rel_path.clone(), env: environment(head) })
    }

    /// The tree of an upload. One that this server has unpacked from the same bytes is not unpacked again; the bytes are hashed all the
    /// same, so that nobody gets a tree that he has not sent.
    async fn tree(
        &self,
        upload: &mut Upload,
        checksum: Checksum,
        announced: u64,
        clock: &Clock,
    ) -> Result<Tree, ReceiveError> {
        let (waiting, counted) = (Instant::now(), self.metrics.upload_waiting());
        let pass = clock.within(RECEIVING, self.gate.enter(checksum, self.finder())).await?;
        upload.times().waited(waiting);
        drop(counted);
        let (tree, kind) = match pass {
            Pass::Known(tree) => {
                upload.rest(clock).await?;
                upload.check(Some(checksum))?;
                (tree, Known::Known)
            }
            Pass::Unpack(turn) => {
                let (modes, limits) = (self.modes, self.bounds.archive);
                let room = self.room(announced.min(limits.packed_bytes_max), clock);
                let take_in = move |room: Room, archive: &mut dyn Read, stop: &(dyn Fn() -> bool + Sync)| {
                    room.take_in(archive, &Intake { modes, limits, stop })
                };
                let claimed = Claimed { checksum, progress: turn.progress() };
                let tree = self.unpack(upload, claimed, clock, room, take_in).await?;
                turn.verified(tree.key());
                (tree, Known::New)
            }
        };
        self.metrics.unpacked(kind);
        Ok(tree)
    }

    /// The entries of an upload, or its tree if that is here.
    async fn entries(
        &self,
        upload: &mut Upload,
        checksum: Checksum,
        clock: &Clock,
    ) -> Result<Files, ReceiveError> {
        let known = clock.within(RECEIVING, self.gate.known(checksum, &self.finder())).await?;
        let (files, kind) = if let Some(tree) = known {
            upload.rest(clock).await?;
            upload.check(Some(checksum))?;
            (Files::Tree(tree), Known::Known)
        } else {
            let (modes, limits) = (self.modes, self.bounds.archive);
            let list = move |(), archive: &mut dyn Read, stop: &(dyn Fn() -> bool + Sync)| {
                archive::list(archive, &Intake { modes, limits, stop })
            };
            let no_room = async { Ok(()) };
            let claimed = Claimed { checksum, progress: Progress::default() };
            let entries = self.unpack(upload, claimed, clock, no_room, list).await?;
            (Files::Entries(entries), Known::Listed)
        };
        self.metrics.unpacked(kind);
        Ok(files)
    }

    /// What finds a tree that is as it was when it was made, or when it was looked at since now. Looking at all its files is work for a
    /// thread of its own. If that fails the tree is made again.
    fn finder(&self) -> impl Fn(TreeKey) -> BoxFuture<'static, Option<Tree>> + use<> {
        let (store, asked) = (self.store.shared(), Instant::now().into_std());
        move |key| {
            let store = Arc::clone(&store);
            async move { spawn_blocking(move || store.get_for(key, asked)).await.ok().flatten() }.boxed()
        }
    }

    /// Waits for room for a tree beside those that are in use. One upload at a time blocks a thread for it.
    async fn room(&self, announced: u64, clock: &Clock) -> Result<Room, ReceiveError> {
        let failed = |error: StoreError| ReceiveError::archive(&error.into());
        if let Ok(_first) = self.room.try_lock()
            && let Some(room) = self.store.room_now(announced).map_err(failed)?
        {
            return Ok(room);
        }
        let _waiting = Waiting::begin(&self.waiting);
        let _first = clock.within(WAITING_FOR_ROOM, self.room.lock()).await?;
        let (store, stop) = (self.store.clone(), StopOnDrop::default());
        let stopped = stop.seen();
        let waiting = spawn_blocking(move || store.room(announced, &stopped));
        let room = clock.within(WAITING_FOR_ROOM, waiting).await?;
        room.map_err(ReceiveError::panicked)?.map_err(failed)?.ok_or_else(ReceiveError::ending)
    }

    /// Has `work` read an upload on a thread of its own, with the room that it waits for first. What it gives counts only if the whole upload
    /// has the checksum.
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
                    feed.begin_with(&mut pieces, piece);
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
        // Before the place: an upload that waits for room would keep the place from those that need none.
        let room = room.await?;
        let place = if more {
            let _waiting = Waiting::begin(&self.waiting);
            clock.within(RECEIVING, Arc::clone(&self.places).acquire_owned()).await?
        } else {
            clock.within(RECEIVING, Arc::clone(&self.places_of_whole).acquire_owned()).await?
        };
        let place = place.map_err(|_| ReceiveError::ending())?;
        drop((excused, counted));
        upload.times().waited(waiting);
        upload.times().placed();
        let stop = StopOnDrop::default();
        let stopped = stop.seen();
        let (span, unpacking) = (tracing::info_span!("cmp.Untgz"), self.metrics.upload_unpacking());
        let working = spawn_blocking(move || {
            let (_place, _unpacking, _span) = (place, unpacking, span.entered());
            work(room, &mut pieces, &stopped)
        });
        if more {
            upload.holds_a_place(Arc::clone(&self.waiting), working.abort_handle());
            while let Some(piece) = upload.piece(clock).await? {
                clock.within(RECEIVING, feed.send(piece)).await?;
            }
            // What was sent counts before what came out of it, as in Argo CD, which checks before it unpacks.
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

/// The request's environment without entries that have no name.
fn environment(head: ManifestRequestMetadata) -> Vec<EnvVar> {
    let named = head.env.into_iter().filter(|entry| !entry.name.is_empty());
    named.map(|entry| EnvVar::new(entry.name, entry.value)).collect()
}

/// Ends the work on a thread when the call that waits for it ends.
#[derive(Default)]
pub(crate) struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    /// Whether it was dropped, for whoever is to stop.
    pub(crate) fn seen(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let stopped = Arc::clone(&self.0);
        move || stopped.load(Ordering::Relaxed)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts one that waits until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
