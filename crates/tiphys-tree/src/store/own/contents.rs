//! The content of the store and its users: decisions about files and trees, in memory only.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::kept::Kept;
use crate::digest::RecordKind;
use crate::store::turns::WAIT_STEP;
use crate::{StoreBounds, StoreStats, TreeKey};

/// Bytes of a block of the file system, the minimum for a file or a directory.
pub(super) const BLOCK_BYTES: u64 = 4096;
/// Bytes of a name in a directory, including the kernel's data.
pub(super) const NAME_BYTES: u64 = 256;

/// The key of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileKey {
    pub(super) digest: [u8; 32],
    pub(super) executable: bool,
}

impl FileKey {
    /// Returns the key of a record, if it is a file.
    pub(super) fn of(kind: &RecordKind) -> Option<Self> {
        match kind {
            RecordKind::File { digest } => Some(Self { digest: *digest, executable: false }),
            RecordKind::Executable { digest } => Some(Self { digest: *digest, executable: true }),
            RecordKind::Directory | RecordKind::Link { .. } => None,
        }
    }

    /// Returns the record of a file with this key.
    pub(super) fn record(self) -> RecordKind {
        RecordKind::file(self.executable, blake3::Hash::from_bytes(self.digest))
    }
}

/// The lookup key of a large file: size, mode and first piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Beginning([u8; 32]);

impl Beginning {
    pub(super) fn of(first: &[u8], bytes: u64, executable: bool) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes.to_le_bytes()).update(&[u8::from(executable)]).update(first);
        Self(*hasher.finalize().as_bytes())
    }
}

/// The number of a file's location. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileNumber(pub(super) u64);

/// What a user of a file has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// It is written here.
    Known(FileNumber),
    /// Write it here, then report it.
    Write(FileNumber),
    /// Another thread is writing it.
    Wait,
}

/// Identifies an archive that is being taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct IntakeNumber(u64);

/// How an archive is handled that brings the store over its limit while other trees are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenFull {
    /// It is rejected.
    Refuse,
    /// The store exceeds its limit until the tree is no longer in use.
    Exceed,
}

/// The store has more bytes in use than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// The limit in bytes.
    pub(super) max: u64,
}

/// An archive that is being taken in.
#[derive(Debug)]
struct KnownIntake {
    when_full: WhenFull,
    /// Announced bytes that are not written yet.
    announced: u64,
    /// Bytes that belong to no file or tree yet. They are included in the store's.
    growing: u64,
}

/// Unused files and trees to be removed from the file system.
#[derive(Debug, Default, PartialEq, Eq)]
#[must_use = "it stays on the disk"]
pub(super) struct Leaving {
    pub(super) trees: Vec<PathBuf>,
    pub(super) files: Vec<FileNumber>,
}

impl Leaving {
    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty() && self.files.is_empty()
    }
}

#[derive(Debug)]
struct KnownFile {
    number: FileNumber,
    state: State,
    /// Its bytes.
    room: u64,
    /// Number of its uses in cached trees and trees being created. At least one.
    needed: u64,
    /// The beginning of a large file.
    beginning: Option<Beginning>,
}

impl KnownFile {
    /// Creates a file with one use.
    fn new(number: FileNumber, state: State, bytes: u64) -> Self {
        Self { number, state, room: blocks(bytes), needed: 1, beginning: None }
    }
}

/// Returns the bytes on disk of a file of this size.
pub(super) fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES).max(1).saturating_mul(BLOCK_BYTES)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Writing,
    Written,
    /// It could not be written. The next user writes it.
    Missing,
}

#[derive(Debug)]
struct KnownTree {
    kept: Arc<Kept>,
    /// Its files, each as often as it occurs.
    files: Vec<FileKey>,
    /// Its bytes without its files.
    room: u64,
    users: u64,
    /// Its last use.
    used: u64,
}

/// The contents, shared by threads.
#[derive(Debug)]
pub(super) struct Ledger {
    contents: Mutex<Contents>,
    /// Signals that a file was written or failed, or that bytes are no longer in use.
    settled: Condvar,
}

impl Ledger {
    pub(super) fn new(bounds: StoreBounds) -> Self {
        Self { contents: Mutex::new(Contents::new(bounds)), settled: Condvar::new() }
    }

    /// After a panic of another thread the contents are consistent: no code is called while they change.
    pub(super) fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, for [`WAIT_STEP`] at most.
    pub(super) fn wait<'a>(&self, contents: MutexGuard<'a, Contents>) -> MutexGuard<'a, Contents> {
        self.settled.wait_timeout(contents, WAIT_STEP).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Wakes all waiting threads: bytes are no longer in use.
    pub(super) fn freed(&self) {
        self.settled.notify_all();
    }

    /// Reports files as written or missing to all waiting threads.
    pub(super) fn settle(
        &self,
        files: impl Iterator<Item = (FileKey, FileNumber)>,
        how: fn(&mut Contents, FileKey, FileNumber),
    ) {
        let mut contents = self.lock();
        files.for_each(|(key, number)| how(&mut contents, key, number));
        drop(contents);
        self.settled.notify_all();
    }
}

/// The content of the store.
#[derive(Debug)]
pub(super) struct Contents {
    bounds: StoreBounds,
    files: HashMap<FileKey, KnownFile>,
    /// Written large files by their beginning; of several the latest.
    large: HashMap<Beginning, FileKey>,
    trees: HashMap<TreeKey, KnownTree>,
    /// Trees that are no longer lent, while they are still in use.
    spoilt: Vec<KnownTree>,
    intakes: HashMap<IntakeNumber, KnownIntake>,
    next_intake: u64,
    /// Number of events after which fewer bytes may be in use.
    freed: u64,
    bytes: u64,
    /// Number of uses of trees.
    clock: u64,
    next_file: u64,
    evicted: u64,
}

impl Contents {
    pub(super) fn new(bounds: StoreBounds) -> Self {
        let (files, large, trees) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (spoilt, intakes) = (Vec::new(), HashMap::new());
        Self {
            bounds,
            files,
            large,
            trees,
            spoilt,
            intakes,
            next_intake: 0,
            freed: 0,
            bytes: 0,
            clock: 0,
            next_file: 0,
            evicted: 0,
        }
    }

    pub(super) fn bounds(&self) -> StoreBounds {
        self.bounds
    }

    pub(super) fn stats(&self) -> StoreStats {
        let count = |length| u64::try_from(length).unwrap_or(u64::MAX);
        StoreStats {
            trees: count(self.trees.len()),
            files: count(self.files.len()),
            bytes: self.bytes,
            evicted: self.evicted,
        }
    }

    /// Returns the number for a new file.
    pub(super) fn fresh_number(&mut self) -> FileNumber {
        self.next_file += 1;
        FileNumber(self.next_file)
    }

    /// Begins an archive that announces this size, if it fits into the limit with the trees in use, or if nothing else is in use. It lasts
    /// until [`Self::end`].
    pub(super) fn begin_if_fits(&mut self, announced: u64) -> Option<IntakeNumber> {
        let announced_in_all =
            self.intakes.values().fold(announced, |sum, intake| sum.saturating_add(intake.announced));
        let fits = |bytes: u64| bytes.saturating_add(announced_in_all) <= self.bounds.bytes_max;
        let begins =
            fits(self.bytes) || !self.is_in_use() && self.intakes.is_empty() || fits(self.bytes_in_use());
        begins.then(|| self.begin(announced, WhenFull::Refuse))
    }

    /// Begins an archive in any case.
    pub(super) fn begin(&mut self, announced: u64, when_full: WhenFull) -> IntakeNumber {
        self.next_intake += 1;
        let number = IntakeNumber(self.next_intake);
        self.intakes.insert(number, KnownIntake { when_full, announced, growing: 0 });
        number
    }

    /// Ends an archive, successful or not.
    pub(super) fn end(&mut self, number: IntakeNumber) {
        self.take_grown(number);
        self.intakes.remove(&number);
        self.freed += 1;
    }

    /// Changes when fewer bytes may be in use.
    pub(super) fn times_freed(&self) -> u64 {
        self.freed
    }

    /// Counts bytes before an archive writes them.
    pub(super) fn grow(
        &mut self,
        number: IntakeNumber,
        bytes: u64,
        leaving: &mut Leaving,
    ) -> Result<(), Full> {
        self.count(number, bytes, leaving)?;
        if let Some(intake) = self.intakes.get_mut(&number) {
            intake.growing = intake.growing.saturating_add(bytes);
        }
        Ok(())
    }

    /// Stops counting the bytes of [`Self::grow`], which are counted as files or a tree from now on. Returns them.
    pub(super) fn take_grown(&mut self, number: IntakeNumber) -> u64 {
        let grown = self.intakes.get_mut(&number).map_or(0, |intake| std::mem::take(&mut intake.growing));
        self.bytes -= grown;
        grown
    }

    /// Adds bytes of an archive to those of the store. Evicts unused trees first.
    fn count(&mut self, number: IntakeNumber, bytes: u64, leaving: &mut Leaving) -> Result<(), Full> {
        let before = self.bytes;
        self.bytes = before.saturating_add(bytes);
        self.make_room(leaving);
        let max = self.bounds.bytes_max;
        let others_in_use = self.intakes.len() > 1 || self.is_in_use();
        let Some(intake) = self.intakes.get_mut(&number) else { return Ok(()) };
        if self.bytes > max && others_in_use && intake.when_full == WhenFull::Refuse {
            self.bytes -= bytes;
            return Err(Full { max });
        }
        intake.announced = intake.announced.saturating_sub(bytes);
        Ok(())
    }

    /// Whether a tree is in use.
    fn is_in_use(&self) -> bool {
        !self.spoilt.is_empty() || self.trees.values().any(|tree| tree.users > 0)
    }

    /// Returns the bytes without those of unused trees. Iterates over all files of these trees.
    fn bytes_in_use(&self) -> u64 {
        let mut unused = 0;
        let mut places: HashMap<FileKey, u64> = HashMap::new();
        for tree in self.trees.values().filter(|tree| tree.users == 0) {
            unused += tree.room;
            tree.files.iter().for_each(|key| *places.entry(*key).or_default() += 1);
        }
        let files = places.iter().filter_map(|(key, places)| {
            self.files.get(key).filter(|known| known.needed == *places).map(|known| known.room)
        });
        self.bytes - unused - files.sum::<u64>()
    }

    /// Claims a file for an archive, until it is [released](Self::release).
    pub(super) fn claim(
        &mut self,
        by: IntakeNumber,
        key: FileKey,
        bytes: u64,
        leaving: &mut Leaving,
    ) -> Result<Claim, Full> {
        if let Some(known) = self.files.get_mut(&key) {
            known.needed += 1;
            return Ok(self.claim_again(key, leaving));
        }
        let number = self.fresh_number();
        let known = KnownFile::new(number, State::Writing, bytes);
        self.count(by, known.room, leaving)?;
        self.files.insert(key, known);
        Ok(Claim::Write(number))
    }

    /// Like [`Self::claim`] for a caller that claimed the file before and had to wait.
    pub(super) fn claim_again(&mut self, key: FileKey, leaving: &mut Leaving) -> Claim {
        match self.files.get_mut(&key) {
            Some(KnownFile { state: State::Written, number, .. }) => Claim::Known(*number),
            Some(KnownFile { state: State::Writing, .. }) | None => Claim::Wait,
            Some(known) => {
                self.next_file += 1;
                let number = FileNumber(self.next_file);
                leaving.files.push(std::mem::replace(&mut known.number, number));
                known.state = State::Writing;
                Claim::Write(number)
            }
        }
    }

    /// Claims a large file with this beginning, if there is one.
    pub(super) fn claim_large(&mut self, beginning: Beginning) -> Option<(FileKey, FileNumber)> {
        let key = *self.large.get(&beginning)?;
        let known = self.files.get_mut(&key).filter(|known| known.state == State::Written)?;
        known.needed += 1;
        Some((key, known.number))
    }

    /// Claims a large file that the caller has written. If it exists already, the caller's file is removed.
    pub(super) fn claim_written(
        &mut self,
        key: FileKey,
        bytes: u64,
        number: FileNumber,
        beginning: Beginning,
        leaving: &mut Leaving,
    ) {
        self.large.insert(beginning, key);
        if let Some(known) = self.files.get_mut(&key) {
            known.needed += 1;
            known.beginning = Some(beginning);
            let other = if known.state == State::Written {
                number
            } else {
                known.state = State::Written;
                std::mem::replace(&mut known.number, number)
            };
            leaving.files.push(other);
        } else {
            let known = KnownFile::new(number, State::Written, bytes);
            self.add(key, KnownFile { beginning: Some(beginning), ..known }, leaving);
        }
    }

    fn add(&mut self, key: FileKey, known: KnownFile, leaving: &mut Leaving) {
        self.bytes = self.bytes.saturating_add(known.room);
        self.files.insert(key, known);
        self.make_room(leaving);
    }

    /// Records that a file was written here. No effect if its location has changed.
    pub(super) fn written(&mut self, key: FileKey, number: FileNumber) {
        self.settle(key, number, State::Written);
    }

    /// Records that a file could not be written here, or is missing. No effect if its location has changed.
    pub(super) fn missing(&mut self, key: FileKey, number: FileNumber) {
        self.settle(key, number, State::Missing);
    }

    fn settle(&mut self, key: FileKey, number: FileNumber, state: State) {
        if let Some(known) = self.files.get_mut(&key).filter(|known| known.number == number) {
            known.state = state;
        }
    }

    /// Returns the location of a claimed file.
    pub(super) fn number(&self, key: FileKey) -> Option<FileNumber> {
        self.files.get(&key).map(|known| known.number)
    }

    /// Releases claims.
    pub(super) fn release(&mut self, files: impl IntoIterator<Item = FileKey>, leaving: &mut Leaving) {
        for key in files {
            if let Entry::Occupied(mut known) = self.files.entry(key) {
                known.get_mut().needed -= 1;
                if known.get().needed == 0 {
                    let known = known.remove();
                    self.bytes -= known.room;
                    leaving.files.push(known.number);
                    if let Some(beginning) = known.beginning
                        && self.large.get(&beginning) == Some(&key)
                    {
                        self.large.remove(&beginning);
                    }
                }
            }
        }
    }

    /// Adds a new tree with the claims of its files, and lends it. `room` is its bytes without them.
    pub(super) fn keep(
        &mut self,
        key: TreeKey,
        kept: Kept,
        files: Vec<FileKey>,
        room: u64,
        leaving: &mut Leaving,
    ) -> Arc<Kept> {
        self.clock += 1;
        self.bytes = self.bytes.saturating_add(room);
        let kept = Arc::new(kept);
        let tree = KnownTree { kept: Arc::clone(&kept), files, room, users: 1, used: self.clock };
        self.trees.insert(key, tree);
        self.make_room(leaving);
        kept
    }

    /// Lends a tree until [`Self::give_back`]. The caller checks that it is unchanged.
    pub(super) fn lend(&mut self, key: TreeKey) -> Option<Arc<Kept>> {
        self.clock += 1;
        let tree = self.trees.get_mut(&key)?;
        tree.users += 1;
        tree.used = self.clock;
        Some(Arc::clone(&tree.kept))
    }

    /// Discards a lent tree that has changed. It is not lent again, and is removed when all users have returned it. Returns its files and
    /// their locations: they may have changed, too.
    pub(super) fn spoil(&mut self, key: TreeKey, kept: &Arc<Kept>) -> Vec<(FileKey, FileNumber)> {
        let mut suspects = Vec::new();
        if let Entry::Occupied(tree) = self.trees.entry(key)
            && Arc::ptr_eq(&tree.get().kept, kept)
        {
            let tree = tree.remove();
            let numbers = tree.files.iter().filter_map(|key| Some((*key, self.files.get(key)?.number)));
            suspects.extend(numbers);
            self.spoilt.push(tree);
        }
        suspects
    }

    /// Takes back a lent tree.
    pub(super) fn give_back(&mut self, key: TreeKey, kept: &Arc<Kept>, leaving: &mut Leaving) {
        if let Some(at) = self.spoilt.iter().position(|tree| Arc::ptr_eq(&tree.kept, kept)) {
            self.spoilt[at].users -= 1;
            if self.spoilt[at].users == 0 {
                let tree = self.spoilt.swap_remove(at);
                self.let_go(tree, leaving);
            }
        } else if let Some(tree) = self.trees.get_mut(&key) {
            tree.users -= 1;
        }
        self.freed += 1;
        self.make_room(leaving);
    }

    /// Evicts all unused trees.
    pub(super) fn evict_all(&mut self, leaving: &mut Leaving) {
        while self.evict_one(leaving) {}
    }

    /// Evicts trees while a limit is exceeded.
    fn make_room(&mut self, leaving: &mut Leaving) {
        while (self.bytes > self.bounds.bytes_max || self.trees.len() > self.bounds.trees_max)
            && self.evict_one(leaving)
        {}
    }

    /// Evicts the least recently used tree that is not in use.
    fn evict_one(&mut self, leaving: &mut Leaving) -> bool {
        let unused = self.trees.iter().filter(|(_, tree)| tree.users == 0);
        let Some(key) = unused.min_by_key(|(_, tree)| tree.used).map(|(key, _)| *key) else { return false };
        let Some(tree) = self.trees.remove(&key) else { return false };
        self.evicted += 1;
        self.let_go(tree, leaving);
        true
    }

    fn let_go(&mut self, tree: KnownTree, leaving: &mut Leaving) {
        self.bytes -= tree.room;
        leaving.trees.push(tree.kept.root.to_path_buf());
        self.release(tree.files, leaving);
    }
}
