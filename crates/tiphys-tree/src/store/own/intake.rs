//! Takes in an archive: known files are recorded, new ones are written as they arrive.
//!
//! One thread decompresses and reads entries; another one hashes, looks up and writes them. The first one helps when the second one is
//! behind, so that both have work whether files are known (decompressing takes longer) or not (writing does). The first one begins alone,
//! and writes nothing until it knows that there is more: a small archive is read before a second thread would have started and ended, and
//! its new files are written into the tree itself (`unnamed.rs`).

use std::collections::HashSet;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use super::contents::{Claim, Contents, FileKey, FileNumber, IntakeNumber, Leaving};
use super::room::Room;
use super::unnamed::NewFiles;
use super::{Own, failed};
use crate::archive::{self, ArchiveError, IncomingFile, Intake, Sink, unread};
use crate::digest::{self, Record, RecordKind};
use crate::store::Tree;
use crate::store::renewed::InSession as _;
use crate::store::seal::{Seal, Times};
use crate::{EntryPath, StoreError, WriteError};

/// Files up to this size are handled in memory, many at once; larger ones in pieces.
pub(super) const WHOLE_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of files in one batch.
const BATCH_BYTES: usize = 64 * 1024;
/// Maximum bytes of a batch: one byte less than a full one, and a file.
const BATCH_BYTES_MAX: usize = 2 * BATCH_BYTES;
/// Files that are handled together.
const BATCH_FILES: usize = 256;
/// Batches that wait for the second thread. With two being handled, one archive has at most 640 KiB of content in memory.
const BATCHES_WAITING_MAX: usize = 2;
/// Maximum batches of a small archive, of 512 KiB and never more than 1 MiB, or 2,048 files, which stay in memory until it is read
/// completely. Up to that size a second thread saves less than it costs, including the system's work on shared memory.
const BATCHES_ALONE: usize = 8;

impl Own {
    /// Whether a written file has changed. Its next user writes it again.
    pub(super) fn is_gone(&self, key: FileKey, number: FileNumber) -> bool {
        let is_gone = !self.places.is_untouched(number);
        if is_gone {
            self.contents().missing(key, number);
        }
        is_gone
    }

    /// Returns the tree of an archive that has room here.
    pub(super) fn take_in(
        self: &Arc<Self>,
        room: &Room,
        archive: &mut dyn Read,
        intake: &Intake<'_>,
    ) -> Result<Tree, ArchiveError> {
        let (number, stop) = (room.number(), intake.stop);
        let (taken, mut small, directories) = thread::scope(|scope| {
            let mut taking = Taking {
                scope,
                batch: self.spare.take(),
                held: Some(Vec::new()),
                here: Taken::new(self, number, stop),
                second: None,
            };
            let entries = archive::read(archive, intake, &mut taking)?;
            let (taken, small) = taking.finish()?;
            Ok::<_, ArchiveError>((taken, small, entries.directories()))
        })?;
        let tree = self.tree_of(taken, &mut small, directories)?;
        self.spare.give(small);
        Ok(tree)
    }

    /// Returns the error of an archive; if the store's directory, or a file in it, was removed meanwhile, that is the reason.
    pub(in crate::store) fn explain(&self, error: ArchiveError) -> ArchiveError {
        let is_of_files = matches!(
            error,
            ArchiveError::Write(WriteError::Io { .. }) | ArchiveError::Store(StoreError::Io { .. })
        );
        if is_of_files && !self.is_there() {
            return StoreError::Removed { path: self.session.path().to_path_buf() }.into();
        }
        match error {
            // The tree was created from files that existed when they were checked.
            ArchiveError::Write(WriteError::Io { path, source })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                StoreError::Changed { path }.into()
            }
            error => error,
        }
    }

    /// Returns the tree of everything that was read, including the batches of a small archive. Creates it if it is missing.
    fn tree_of(
        self: &Arc<Self>,
        mut taken: Taken<'_>,
        small: &mut [Batch],
        directories: Vec<Box<[u8]>>,
    ) -> Result<Tree, ArchiveError> {
        let mut to_write = Writing::nothing(self, taken.stop);
        for Batch { contents, files } in small {
            taken.claim(contents, files, &mut to_write)?;
        }
        let mut new = to_write.into_new();
        taken
            .records
            .extend(directories.into_iter().map(|path| Record { path, kind: RecordKind::Directory }));
        let key = digest::key(b"", &mut taken.records);
        let asked = Instant::now();
        if let Some(tree) = self.get(key, asked) {
            return Ok(tree);
        }
        let turn = self.turns.wait_unless(key, taken.stop);
        let _turn = turn.ok_or(ArchiveError::Stopped)?;
        if let Some(tree) = self.get(key, asked) {
            return Ok(tree);
        }
        let (made, staged) = (Instant::now(), self.stage(taken.stop)?);
        self.build(&staged.tree(), &taken.records, &mut new, taken.intake, taken.stop)?;
        let seal = seal(&staged.tree(), &taken.records).map_err(StoreError::io("seal", staged.place()))?;
        self.remover.name(new.into_unnamed(&staged.tree()));
        let intake = taken.intake;
        let room = |contents: &mut Contents| contents.take_grown(intake);
        Ok(self.keep(key, staged, (seal, made), taken.into_files(), room))
    }
}

/// Returns the seal of a tree created from records.
fn seal(tree: &Path, records: &[Record]) -> io::Result<Seal> {
    let directories = records.iter().filter(|record| record.kind == RecordKind::Directory);
    Seal::of_directories(tree, Times::ModifiedAndChanged, directories.map(|record| &*record.path))
}

/// Files that are handled together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The contents, concatenated. The rest is left from an earlier batch, so that nothing is zeroed.
    contents: Vec<u8>,
    files: Vec<Content>,
}

impl Batch {
    /// Creates an empty batch with its maximum capacity.
    fn with_memory() -> Self {
        Self { contents: Vec::with_capacity(BATCH_BYTES_MAX), files: Vec::new() }
    }
}

/// Batches for the next archive. Returning memory to the system and requesting it again costs a small archive a fifth of its time.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Vec<Batch>>);

impl Spare {
    fn take(&self) -> Batch {
        self.batches().pop().unwrap_or_else(Batch::with_memory)
    }

    /// Keeps as many as one small archive may have. All of their files are claimed.
    fn give(&self, used: Vec<Batch>) {
        let mut batches = self.batches();
        let room = (BATCHES_ALONE + 1).saturating_sub(batches.len());
        batches.extend(used.into_iter().take(room));
    }

    pub(super) fn batches(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Content {
    path: Box<[u8]>,
    executable: bool,
    bytes: Range<usize>,
}

/// State of the first thread.
struct Taking<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    batch: Batch,
    /// Full batches, while the archive may be small.
    held: Option<Vec<Batch>>,
    here: Taken<'env>,
    /// Started when there is work for it.
    second: Option<Second<'scope, 'env>>,
}

struct Second<'scope, 'env> {
    batches: SyncSender<Batch>,
    /// Batches for reuse.
    spare: Receiver<Batch>,
    thread: ScopedJoinHandle<'scope, Result<Taken<'env>, ArchiveError>>,
}

impl<'env> Taking<'_, 'env> {
    /// Keeps a full batch, or passes on all kept ones if the archive is not small.
    fn pass_on(&mut self) -> Result<(), ArchiveError> {
        let batch = std::mem::take(&mut self.batch);
        if let Some(held) = self.held.as_mut().filter(|held| held.len() < BATCHES_ALONE) {
            held.push(batch);
            self.batch = self.here.own.spare.take();
            return Ok(());
        }
        for held in self.held.take().unwrap_or_default() {
            self.hand_over(held)?;
        }
        self.hand_over(batch)
    }

    /// Passes a batch to the second thread, or handles it if that has enough.
    fn hand_over(&mut self, batch: Batch) -> Result<(), ArchiveError> {
        let second = if let Some(second) = &self.second {
            second
        } else {
            let Ok(second) = Second::start(self.scope, &self.here) else {
                // No thread could be started: the work continues without one.
                self.batch = batch;
                return self.here.take(&mut self.batch);
            };
            self.second.insert(second)
        };
        self.batch = match second.batches.try_send(batch) {
            Ok(()) => second.spare.try_recv().unwrap_or_else(|_| Batch::with_memory()),
            Err(TrySendError::Full(mut batch)) => {
                self.here.take(&mut batch)?;
                batch
            }
            // It ends early only after a failure.
            Err(TrySendError::Disconnected(batch)) => {
                self.join()?;
                batch
            }
        };
        Ok(())
    }

    /// Returns everything that both threads have read, and the unhandled batches of a small archive.
    fn finish(mut self) -> Result<(Taken<'env>, Vec<Batch>), ArchiveError> {
        let mut last = std::mem::take(&mut self.batch);
        if let Some(mut small) = self.held.take() {
            small.push(last);
            return Ok((self.here, small));
        }
        self.here.take(&mut last)?;
        self.join()?;
        Ok((self.here, Vec::new()))
    }

    fn join(&mut self) -> Result<(), ArchiveError> {
        if let Some(Second { batches, thread, .. }) = self.second.take() {
            drop(batches);
            let mut taken = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            self.here.records.append(&mut taken.records);
        }
        Ok(())
    }
}

impl<'scope, 'env> Second<'scope, 'env> {
    fn start(scope: &'scope Scope<'scope, 'env>, first: &Taken<'env>) -> io::Result<Self> {
        let (batches, waiting) = sync_channel::<Batch>(BATCHES_WAITING_MAX);
        let (done, spare) = sync_channel(BATCHES_WAITING_MAX);
        let mut taken = Taken::new(first.own, first.intake, first.stop);
        let thread = Builder::new().spawn_scoped(scope, move || {
            for mut batch in waiting {
                taken.take(&mut batch)?;
                // Dropped if there are enough spare ones.
                drop(done.try_send(batch));
            }
            Ok(taken)
        })?;
        Ok(Self { batches, spare, thread })
    }
}

impl Sink for Taking<'_, '_> {
    fn directory(&mut self, _path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        // Directories are known at the end, including those that only occur in paths.
        Ok(())
    }

    fn link(&mut self, path: &EntryPath<'_>, target: &[u8]) -> Result<(), ArchiveError> {
        let kind = RecordKind::Link { target: target.into() };
        self.here.records.push(Record { path: path.as_bytes().into(), kind });
        Ok(())
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        if file.bytes > WHOLE_FILE_BYTES_MAX {
            let path = file.path.as_bytes().into();
            let kind = self.here.own.take_large(file, self.here.intake, self.here.stop)?.record();
            self.here.records.push(Record { path, kind });
            return Ok(());
        }
        let IncomingFile { path, executable, bytes, content } = file;
        let begin = self.batch.files.last().map_or(0, |file| file.bytes.end);
        let end = begin + usize::try_from(bytes).unwrap_or(usize::MAX);
        if self.batch.contents.len() < end {
            self.batch.contents.resize(end, 0);
        }
        content.read_exact(&mut self.batch.contents[begin..end]).map_err(unread)?;
        self.batch.files.push(Content { path: path.as_bytes().into(), executable, bytes: begin..end });
        if end >= BATCH_BYTES || self.batch.files.len() >= BATCH_FILES {
            self.pass_on()?;
        }
        Ok(())
    }
}

/// Records with claimed files; the claims are released on drop.
struct Taken<'env> {
    own: &'env Own,
    intake: IntakeNumber,
    stop: &'env (dyn Fn() -> bool + Sync),
    records: Vec<Record>,
}

impl<'env> Taken<'env> {
    fn new(own: &'env Own, intake: IntakeNumber, stop: &'env (dyn Fn() -> bool + Sync)) -> Self {
        Self { own, intake, stop, records: Vec::new() }
    }

    /// Claims the files of a batch, writes the new ones, and empties it.
    fn take(&mut self, Batch { contents, files }: &mut Batch) -> Result<(), ArchiveError> {
        let mut to_write = Writing::nothing(self.own, self.stop);
        self.claim(contents, files, &mut to_write)?;
        to_write.carry_out(&self.records)
    }

    /// Claims files and adds those to be written. If other threads write some, everything of this thread is written before waiting for
    /// them: they may wait for it.
    fn claim<'a>(
        &mut self,
        contents: &'a [u8],
        files: &mut Vec<Content>,
        to_write: &mut Writing<'a>,
    ) -> Result<(), ArchiveError>
    where
        'env: 'a,
    {
        let first = self.records.len();
        let content = |bytes: &Range<usize>| &contents[bytes.clone()];
        let digest = |file: &Content| *blake3::hash(content(&file.bytes)).as_bytes();
        let digests: Vec<[u8; 32]> = files.iter().map(digest).collect();
        let mut to_look_at = Vec::new();
        let mut to_wait_for = Vec::new();
        let mut leaving = Leaving::default();
        let mut full = None;
        {
            let mut contents = self.own.contents();
            for (at, (file, digest)) in files.drain(..).zip(digests).enumerate() {
                let key = FileKey { digest, executable: file.executable };
                let bytes = u64::try_from(file.bytes.len()).unwrap_or(u64::MAX);
                let to_do = ToDo { key, content: content(&file.bytes), record: first + at };
                match contents.claim(self.intake, key, bytes, &mut leaving) {
                    Ok(Claim::Known(number)) => to_look_at.push((to_do, number)),
                    Ok(Claim::Write(number)) => to_write.add(to_do, number),
                    Ok(Claim::Wait) if to_write.has(key) => {}
                    Ok(Claim::Wait) => to_wait_for.push(to_do),
                    Err(error) => {
                        full = Some(error);
                        break;
                    }
                }
                self.records.push(Record { path: file.path, kind: key.record() });
            }
        }
        self.own.remover.remove(leaving);
        if let Some(full) = full {
            return Err(full.into());
        }
        // While the content is in memory: a file that was removed from the store or changed is written again.
        to_wait_for.extend(
            to_look_at
                .into_iter()
                .filter(|(to_do, number)| self.own.is_gone(to_do.key, *number))
                .map(|(to_do, _)| to_do),
        );
        if !to_wait_for.is_empty() {
            to_write.carry_out(&self.records)?;
        }
        for to_do in to_wait_for {
            if let Some(number) = self.wait_for(to_do.key)? {
                to_write.add(to_do, number);
                to_write.carry_out(&self.records)?;
            }
        }
        Ok(())
    }

    /// Waits until a file is written. If its writer fails, or the file has changed, this thread writes it.
    fn wait_for(&self, key: FileKey) -> Result<Option<FileNumber>, ArchiveError> {
        let mut leaving = Leaving::default();
        let mut contents = self.own.contents();
        let number = loop {
            match contents.claim_again(key, &mut leaving) {
                Claim::Known(number) => {
                    drop(contents);
                    if !self.own.is_gone(key, number) {
                        break None;
                    }
                    contents = self.own.contents();
                }
                Claim::Write(number) => {
                    drop(contents);
                    break Some(number);
                }
                Claim::Wait if (self.stop)() => return Err(ArchiveError::Stopped),
                Claim::Wait => {
                    contents = self.own.ledger.wait(contents);
                }
            }
        };
        self.own.remover.remove(leaving);
        Ok(number)
    }

    /// Returns the claims for the tree.
    fn into_files(mut self) -> Vec<FileKey> {
        let records = std::mem::take(&mut self.records);
        records.iter().filter_map(|record| FileKey::of(&record.kind)).collect()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut leaving = Leaving::default();
        let files = self.records.iter().filter_map(|record| FileKey::of(&record.kind));
        self.own.contents().release(files, &mut leaving);
        self.own.remover.remove(leaving);
    }
}

/// A file to be written.
struct ToDo<'a> {
    key: FileKey,
    content: &'a [u8],
    /// The position of its record.
    record: usize,
}

/// Files to be written by this thread. Others wait for them, so the remaining ones become missing on drop.
struct Writing<'a> {
    own: &'a Own,
    stop: &'a (dyn Fn() -> bool + Sync),
    files: Vec<(ToDo<'a>, FileNumber)>,
    keys: HashSet<FileKey>,
}

impl<'a> Writing<'a> {
    fn nothing(own: &'a Own, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { own, stop, files: Vec::new(), keys: HashSet::new() }
    }

    fn add(&mut self, to_do: ToDo<'a>, number: FileNumber) {
        self.keys.insert(to_do.key);
        self.files.push((to_do, number));
    }

    fn has(&self, key: FileKey) -> bool {
        self.keys.contains(&key)
    }

    /// Returns the same files, to be written into a tree.
    fn into_new(mut self) -> NewFiles<'a> {
        let files = std::mem::take(&mut self.files);
        let files = files.into_iter().map(|(to_do, number)| (to_do.key, number, to_do.content));
        NewFiles::of(Arc::clone(&self.own.ledger), Arc::clone(&self.own.places), files)
    }

    fn carry_out(&mut self, records: &[Record]) -> Result<(), ArchiveError> {
        let places = &self.own.places;
        for (ToDo { key, content, record }, number) in &self.files {
            if (self.stop)() {
                return Err(ArchiveError::Stopped);
            }
            self.own
                .with_room(self.stop, || places.write(*number, *key, content))
                .map_err(|source| failed(&records[*record].path, source))?;
        }
        self.settle(Contents::written);
        Ok(())
    }

    /// Wakes the waiting threads.
    fn settle(&mut self, how: fn(&mut Contents, FileKey, FileNumber)) {
        self.keys.clear();
        if !self.files.is_empty() {
            let files = self.files.drain(..).map(|(to_do, number)| (to_do.key, number));
            self.own.ledger.settle(files, how);
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.settle(Contents::missing);
    }
}
