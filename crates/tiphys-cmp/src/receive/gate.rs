//! Uploads with the same bytes: the first is unpacked, the others are only hashed.
//!
//! A claimed checksum says only which uploads may be equal. So a tree is returned for a checksum only after this server has unpacked bytes
//! with this checksum, and only to callers whose bytes have it, too.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tiphys_tree::{Tree, TreeKey};
use tokio::sync::OwnedMutexGuard;
use tokio::time::sleep;

/// Maximum number of remembered checksums. The least recently used ones are forgotten.
const KNOWN_MAX: usize = 4096;
/// How long an upload waits for another one without progress before it unpacks itself.
const FOLLOW_MAX: Duration = Duration::from_secs(2);
/// Bytes of a SHA-256.
const CHECKSUM_BYTES: usize = 32;

/// A SHA-256, as a caller claims it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Checksum([u8; CHECKSUM_BYTES]);

impl Checksum {
    /// Parses lower-case hexadecimal digits. Argo CD compares checksums as strings, so no other form is valid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, []) = digits.as_chunks::<2>() else { return None };
        let mut bytes = [0; CHECKSUM_BYTES];
        if pairs.len() != CHECKSUM_BYTES {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }

    /// Converts a digest.
    pub(super) fn of(digest: impl Into<[u8; CHECKSUM_BYTES]>) -> Self {
        Self(digest.into())
    }
}

/// The verified checksums, and those of uploads that are being unpacked.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<Checksum, VerifiedTree>,
    unpacking: HashMap<Checksum, Arc<Unpacking>>,
    /// Number of uses, to find the least recently used one.
    uses: u64,
}

#[derive(Debug)]
struct VerifiedTree {
    tree: TreeKey,
    used: u64,
    /// Held while the tree is looked up.
    look: Arc<tokio::sync::Mutex<()>>,
}

/// An upload that is being unpacked, and the lock that equal uploads wait for.
#[derive(Debug, Default)]
struct Unpacking {
    turn: Arc<tokio::sync::Mutex<()>>,
    progress: Progress,
}

/// Progress of an unpacking.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Arc<Steps>);

#[derive(Debug, Default)]
struct Steps {
    count: AtomicU64,
    /// Number of reasons why no step is expected.
    excused: AtomicUsize,
}

impl Progress {
    /// Records that bytes were read.
    pub(super) fn step(&self) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Suspends the progress check until the result is dropped: the upload waits for others, not for its sender.
    pub(super) fn excused(&self) -> Excused {
        self.0.excused.fetch_add(1, Ordering::Relaxed);
        Excused(self.clone())
    }

    fn steps(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    fn is_excused(&self) -> bool {
        self.0.excused.load(Ordering::Relaxed) > 0
    }
}

/// A suspension of the progress check.
#[derive(Debug)]
pub(super) struct Excused(Progress);

impl Drop for Excused {
    fn drop(&mut self) {
        // The next check starts from here.
        self.0.step();
        self.0.0.excused.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How an upload continues.
#[derive(Debug)]
pub(super) enum Admission {
    /// Hash it; if its checksum is right, this is its tree.
    Known(Tree),
    /// Unpack it.
    Unpack(Turn),
}

/// The right to unpack. Dropping it passes it to the next upload.
#[derive(Debug)]
pub(super) struct Turn {
    gate: Arc<Gate>,
    checksum: Checksum,
    unpacking: Arc<Unpacking>,
    /// `None` if the previous upload makes no progress, and this one unpacks concurrently.
    lock: Option<OwnedMutexGuard<()>>,
}

impl Turn {
    /// Returns where unpacking reports its progress.
    pub(super) fn progress(&self) -> Progress {
        // Only the holder of the lock makes others wait.
        if self.lock.is_some() { self.unpacking.progress.clone() } else { Progress::default() }
    }

    /// Records that the upload has the checksum, and its tree.
    pub(super) fn verified(self, tree: TreeKey) {
        self.gate.lock().remember(self.checksum, tree);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.lock.take());
        let mut state = self.gate.lock();
        // References of the map and of this turn: no upload waits.
        if Arc::strong_count(&self.unpacking) == 2 {
            state.unpacking.remove(&self.checksum);
        }
    }
}

impl Gate {
    /// Waits while an upload with the same checksum is unpacked. `find` returns a tree that the store still has.
    pub(super) async fn enter<F>(
        self: &Arc<Self>,
        checksum: Checksum,
        find: impl Fn(TreeKey) -> F,
    ) -> Admission
    where
        F: Future<Output = Option<Tree>>,
    {
        if let Some(tree) = self.known(checksum, &find).await {
            return Admission::Known(tree);
        }
        let unpacking = Arc::clone(self.lock().unpacking.entry(checksum).or_default());
        let mut turn =
            Turn { gate: Arc::clone(self), checksum, unpacking: Arc::clone(&unpacking), lock: None };
        drop(unpacking);
        let mut lock = pin!(Arc::clone(&turn.unpacking.turn).lock_owned());
        loop {
            let steps = turn.unpacking.progress.steps();
            tokio::select! {
                biased;
                guard = &mut lock => {
                    turn.lock = Some(guard);
                    break;
                }
                () = sleep(FOLLOW_MAX) => {
                    let progress = &turn.unpacking.progress;
                    if progress.steps() == steps && !progress.is_excused() {
                        break;
                    }
                }
            }
        }
        match self.known(checksum, &find).await {
            Some(tree) => Admission::Known(tree),
            None => Admission::Unpack(turn),
        }
    }

    /// Returns the tree for a checksum if it is known and the store still has it. One upload at a time looks for it, so that the next ones
    /// can reuse the result.
    pub(super) async fn known<F>(&self, checksum: Checksum, find: &impl Fn(TreeKey) -> F) -> Option<Tree>
    where
        F: Future<Output = Option<Tree>>,
    {
        let look = self.lock().look(checksum)?;
        let _look = look.lock().await;
        // It may have changed meanwhile.
        let key = self.lock().used(checksum)?;
        let tree = find(key).await;
        if tree.is_none() {
            self.lock().forget(checksum, key);
        }
        tree
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn look(&self, checksum: Checksum) -> Option<Arc<tokio::sync::Mutex<()>>> {
        Some(Arc::clone(&self.known.get(&checksum)?.look))
    }

    fn used(&mut self, checksum: Checksum) -> Option<TreeKey> {
        self.uses += 1;
        let known = self.known.get_mut(&checksum)?;
        known.used = self.uses;
        Some(known.tree)
    }

    /// Forgets the tree of a checksum.
    fn forget(&mut self, checksum: Checksum, tree: TreeKey) {
        if self.known.get(&checksum).is_some_and(|known| known.tree == tree) {
            self.known.remove(&checksum);
        }
    }

    fn remember(&mut self, checksum: Checksum, tree: TreeKey) {
        self.uses += 1;
        self.known.insert(checksum, VerifiedTree { tree, used: self.uses, look: Arc::default() });
        while self.known.len() > KNOWN_MAX {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used).map(|(oldest, _)| *oldest);
            let Some(oldest) = oldest else { return };
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
