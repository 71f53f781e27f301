//! Taking in an archive: what the store has is noted, what it has not is written as it comes.
//!
//! One thread inflates and reads entries, another one hashes, looks up and writes what it gets from there. The first one helps when
//! the second one is behind, so that both cores have work whether files are known (inflating takes longer) or not (writing does).
//! The first one begins alone: a small archive is taken in before a second one would have started and ended.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use super::Own;
use super::build::failed;
use super::contents::{Claim, Contents, FileKey, FileNumber, Leaving};
use crate::archive::{self, ArchiveError, IncomingFile, Intake, Sink, unread};
use crate::store::Tree;
use crate::store::digest::{self, Record, RecordKind};
use crate::store::renewed::InSession as _;
use crate::store::seal::Seal;
use crate::store::turns::WAIT_STEP;
use crate::{EntryPath, StoreError, WriteError};

/// Files up to this size are handled in memory, many at once; larger ones in pieces.
pub(super) const WHOLE_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of files that are handled together.
const BATCH_BYTES: usize = 64 * 1024;
/// Files that are handled together.
const BATCH_FILES: usize = 256;
/// Batches that wait for the second thread. With two being handled, one archive has at most 640 KiB of content in memory.
const BATCHES_WAITING_MAX: usize = 2;
/// Batches that the first thread handles alone, of 512 KiB and seldom much more, or 2,048 files. What a second thread could spare it until then
/// is less than what starting and ending it costs, the system's work on memory that threads share included.
const BATCHES_ALONE: usize = 8;

impl Own {
    /// Whether a file that was written is not there as it was written. Whoever needs it next writes it again.
    pub(super) fn is_gone(&self, key: FileKey, number: FileNumber) -> bool {
        let is_gone = !self.places.is_untouched(number);
        if is_gone {
            self.contents().missing(key, number);
        }
        is_gone
    }

    /// The tree that an archive holds.
    pub(in crate::store) fn take_in(
        self: &Arc<Self>,
        archive: &mut dyn Read,
        intake: &Intake<'_>,
    ) -> Result<Tree, ArchiveError> {
        let stop = intake.stop;
        let (taken, directories) = thread::scope(|scope| {
            let mut taking = Taking {
                scope,
                batch: Batch::default(),
                alone: 0,
                here: Taken::new(self, stop),
                second: None,
            };
            let entries = archive::read(archive, intake, &mut taking)?;
            Ok::<_, ArchiveError>((taking.finish()?, entries.directories()))
        })?;
        self.tree_of(taken, directories)
    }

    /// An archive's failure; where the store's folder was removed meanwhile, that is why.
    pub(in crate::store) fn explain(&self, error: ArchiveError) -> ArchiveError {
        let is_of_files = matches!(
            error,
            ArchiveError::Write(WriteError::Io { .. }) | ArchiveError::Store(StoreError::Io { .. })
        );
        if is_of_files && !self.is_there() {
            return StoreError::Removed { path: self.session.path().to_path_buf() }.into();
        }
        error
    }

    /// The tree of everything that was taken, made if it is not there.
    fn tree_of(
        self: &Arc<Self>,
        mut taken: Taken<'_>,
        directories: Vec<Box<[u8]>>,
    ) -> Result<Tree, ArchiveError> {
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
        let (made, staged) = (Instant::now(), self.stage()?);
        let room = self.build(&staged.tree(), &taken.records, taken.stop)?;
        let seal = seal(&staged.tree(), &taken.records).map_err(StoreError::io("seal", staged.place()))?;
        Ok(self.keep(key, staged, (seal, made), taken.into_files(), room))
    }
}

/// The seal of a tree that was made of records.
fn seal(tree: &Path, records: &[Record]) -> io::Result<Seal> {
    let directories = records.iter().filter(|record| record.kind == RecordKind::Directory);
    Seal::of_directories(tree, directories.map(|record| &*record.path))
}

/// Files that are handled together.
#[derive(Debug, Default)]
struct Batch {
    /// The bytes, one file behind the other. What is behind the last one is left of an earlier batch, so that nothing is zeroed.
    contents: Vec<u8>,
    files: Vec<Content>,
}

#[derive(Debug)]
struct Content {
    path: Box<[u8]>,
    executable: bool,
    bytes: Range<usize>,
}

/// The first thread's view of the work.
struct Taking<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    batch: Batch,
    /// Batches that it has handled alone.
    alone: usize,
    here: Taken<'env>,
    /// Started when there is something for it to do.
    second: Option<Second<'scope, 'env>>,
}

struct Second<'scope, 'env> {
    batches: SyncSender<Batch>,
    /// Batches to use again.
    spare: Receiver<Batch>,
    thread: ScopedJoinHandle<'scope, Result<Taken<'env>, ArchiveError>>,
}

impl<'env> Taking<'_, 'env> {
    /// Hands a full batch to the second thread, or works it off if there is none yet or that has enough.
    fn pass_on(&mut self) -> Result<(), ArchiveError> {
        if self.alone < BATCHES_ALONE {
            self.alone += 1;
            return self.here.take(&mut self.batch);
        }
        let batch = std::mem::take(&mut self.batch);
        let second = if let Some(second) = &self.second {
            second
        } else {
            let Ok(second) = Second::start(self.scope, &self.here) else {
                // There is no thread to be had: the work goes on without.
                self.batch = batch;
                return self.here.take(&mut self.batch);
            };
            self.second.insert(second)
        };
        self.batch = match second.batches.try_send(batch) {
            Ok(()) => second.spare.try_recv().unwrap_or_default(),
            Err(TrySendError::Full(mut batch)) => {
                self.here.take(&mut batch)?;
                batch
            }
            // It ends early only when it fails.
            Err(TrySendError::Disconnected(batch)) => {
                self.join()?;
                batch
            }
        };
        Ok(())
    }

    /// Everything that both threads have taken.
    fn finish(mut self) -> Result<Taken<'env>, ArchiveError> {
        let mut last = std::mem::take(&mut self.batch);
        self.here.take(&mut last)?;
        self.join()?;
        Ok(self.here)
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
        let mut taken = Taken::new(first.own, first.stop);
        let thread = Builder::new().spawn_scoped(scope, move || {
            for mut batch in waiting {
                taken.take(&mut batch)?;
                // With enough spare ones this one goes.
                drop(done.try_send(batch));
            }
            Ok(taken)
        })?;
        Ok(Self { batches, spare, thread })
    }
}

impl Sink for Taking<'_, '_> {
    fn directory(&mut self, _path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        // Directories are known at the end, those included that no entry names.
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
            let kind = self.here.own.take_large(file, self.here.stop)?.record();
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

/// Records whose files are claimed; the claims are given back on drop.
struct Taken<'env> {
    own: &'env Own,
    stop: &'env (dyn Fn() -> bool + Sync),
    records: Vec<Record>,
}

impl<'env> Taken<'env> {
    fn new(own: &'env Own, stop: &'env (dyn Fn() -> bool + Sync)) -> Self {
        Self { own, stop, records: Vec::new() }
    }

    /// Claims the files of a batch, writes those that nobody has written, and empties it.
    fn take(&mut self, batch: &mut Batch) -> Result<(), ArchiveError> {
        self.take_files(&batch.contents, &mut batch.files)
    }

    fn take_files(&mut self, contents: &[u8], files: &mut Vec<Content>) -> Result<(), ArchiveError> {
        let first = self.records.len();
        let content = |bytes: &Range<usize>| &contents[bytes.clone()];
        let digest = |file: &Content| *blake3::hash(content(&file.bytes)).as_bytes();
        let digests: Vec<[u8; 32]> = files.iter().map(digest).collect();
        let mut to_write = Writing { own: self.own, stop: self.stop, files: Vec::new() };
        let mut to_look_at = Vec::new();
        let mut to_wait_for = Vec::new();
        let mut leaving = Leaving::default();
        {
            let mut contents = self.own.contents();
            for (at, (file, digest)) in files.drain(..).zip(digests).enumerate() {
                let key = FileKey { digest, executable: file.executable };
                let bytes = u64::try_from(file.bytes.len()).unwrap_or(u64::MAX);
                let to_do = ToDo { key, content: content(&file.bytes), record: first + at };
                match contents.claim(key, bytes, &mut leaving) {
                    Claim::Known(number) => to_look_at.push((to_do, number)),
                    Claim::Write(number) => to_write.files.push((to_do, number)),
                    Claim::Wait => to_wait_for.push(to_do),
                }
                self.records.push(Record { path: file.path, kind: key.record() });
            }
        }
        self.own.remover.remove(leaving);
        to_write.carry_out(&self.records)?;
        // While the bytes are here: what somebody took out of the store, or changed there, is written again.
        to_wait_for.extend(
            to_look_at
                .into_iter()
                .filter(|(to_do, number)| self.own.is_gone(to_do.key, *number))
                .map(|(to_do, _)| to_do),
        );
        // Only now, with nothing half done that others may be waiting for.
        for to_do in to_wait_for {
            if let Some(number) = self.wait_for(to_do.key)? {
                let files = vec![(to_do, number)];
                Writing { own: self.own, stop: self.stop, files }.carry_out(&self.records)?;
            }
        }
        Ok(())
    }

    /// Waits until a file is written. If its writer fails it falls to us.
    fn wait_for(&self, key: FileKey) -> Result<Option<FileNumber>, ArchiveError> {
        let mut leaving = Leaving::default();
        let mut contents = self.own.contents();
        let number = loop {
            match contents.claim_again(key, &mut leaving) {
                Claim::Known(_) => break None,
                Claim::Write(number) => break Some(number),
                Claim::Wait if (self.stop)() => return Err(ArchiveError::Stopped),
                Claim::Wait => {
                    let waited = self.own.settled.wait_timeout(contents, WAIT_STEP);
                    contents = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        };
        drop(contents);
        self.own.remover.remove(leaving);
        Ok(number)
    }

    /// The claims, for whoever keeps the tree.
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

/// A file that somebody has to write.
struct ToDo<'a> {
    key: FileKey,
    content: &'a [u8],
    /// The position of its record.
    record: usize,
}

/// Files that we have to write. Others wait for them, so those that are left on drop are missing.
struct Writing<'a> {
    own: &'a Own,
    stop: &'a (dyn Fn() -> bool + Sync),
    files: Vec<(ToDo<'a>, FileNumber)>,
}

impl Writing<'_> {
    fn carry_out(&mut self, records: &[Record]) -> Result<(), ArchiveError> {
        let places = &self.own.places;
        for (ToDo { key, content, record }, number) in &self.files {
            if (self.stop)() {
                return Err(ArchiveError::Stopped);
            }
            self.own
                .with_room(self.stop, || places.write(*number, key.executable, content))
                .map_err(|source| failed(&records[*record].path, source))?;
        }
        self.settle(Contents::written);
        Ok(())
    }

    /// Tells those who wait.
    fn settle(&mut self, how: fn(&mut Contents, FileKey, FileNumber)) {
        if !self.files.is_empty() {
            let mut contents = self.own.contents();
            self.files.drain(..).for_each(|(to_do, number)| how(&mut contents, to_do.key, number));
            drop(contents);
            self.own.settled.notify_all();
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.settle(Contents::missing);
    }
}
