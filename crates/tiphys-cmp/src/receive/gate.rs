//! Uploads of the same bytes: the first is unpacked, the others only hashed.
//!
//! A checksum that a caller claims says which upload may be the same as another; whether it is, only its own bytes say. So a tree is
//! handed out for a checksum only after this server has unpacked bytes that have it, and only to those whose bytes have it, too.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tiphys_tree::{Tree, TreeKey};
use tokio::sync::OwnedMutexGuard;
use tokio::time::sleep;

/// Checksums that are remembered; those used least recently are forgotten.
const KNOWN_MAX: usize = 4096;
/// How long one who waits for another's unpacking sees no progress before he unpacks by himself.
const FOLLOW_MAX: Duration = Duration::from_secs(2);
/// Bytes of a SHA-256.
const CHECKSUM_BYTES: usize = 32;

/// A SHA-256, as a caller claims it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Checksum([u8; CHECKSUM_BYTES]);

impl Checksum {
    /// Reads lower-case hexadecimal digits. Checksums are compared as texts, so nothing else is one.
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

    /// What the bytes were made into.
    pub(super) fn of(digest: impl Into<[u8; CHECKSUM_BYTES]>) -> Self {
        Self(digest.into())
    }
}

/// What this server knows of checksums.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<Checksum, Known>,
    under_way: HashMap<Checksum, Arc<UnderWay>>,
    /// Counts uses, to know which is the oldest.
    uses: u64,
}

#[derive(Debug)]
struct Known {
    tree: TreeKey,
    used: u64,
    /// Held by whoever looks for the tree.
    look: Arc<tokio::sync::Mutex<()>>,
}

/// An upload that is being unpacked, and those who wait for it.
#[derive(Debug, Default)]
struct UnderWay {
    turn: Arc<tokio::sync::Mutex<()>>,
    progress: Progress,
}

/// Says whether an unpacking goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Arc<Steps>);

#[derive(Debug, Default)]
struct Steps {
    count: AtomicU64,
    /// How many of those who could make a step wait for somebody else.
    excused: AtomicUsize,
}

impl Progress {
    /// Something was read.
    pub(super) fn step(&self) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
    }

    /// No steps are expected until what is returned is dropped: it is not the sender who keeps everybody waiting.
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

/// No steps are expected while this is there.
#[derive(Debug)]
pub(super) struct Excused(Progress);

impl Drop for Excused {
    fn drop(&mut self) {
        // Who looks next begins to count from here.
        self.0.step();
        self.0.0.excused.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What an upload has to do.
#[derive(Debug)]
pub(super) enum Pass {
    /// To be hashed; then this is its tree.
    Known(Tree),
    /// To be unpacked.
    Unpack(Turn),
}

/// The right to unpack; the next one gets it when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    gate: Arc<Gate>,
    checksum: Checksum,
    under_way: Arc<UnderWay>,
    /// None if the one before makes no progress, and this one goes ahead beside it.
    mine: Option<OwnedMutexGuard<()>>,
}

impl Turn {
    /// Where unpacking says that it goes on.
    pub(super) fn progress(&self) -> Progress {
        // Only the one whose turn it is keeps others waiting.
        if self.mine.is_some() { self.under_way.progress.clone() } else { Progress::default() }
    }

    /// The upload has the checksum, and this is its tree.
    pub(super) fn verified(self, tree: TreeKey) {
        self.gate.lock().remember(self.checksum, tree);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.mine.take());
        let mut state = self.gate.lock();
        // The map's own, and this one: nobody waits.
        if Arc::strong_count(&self.under_way) == 2 {
            state.under_way.remove(&self.checksum);
        }
    }
}

impl Gate {
    /// Waits while an upload of the same checksum is unpacked. `find` gives a tree that is still there.
    pub(super) async fn enter<F>(self: &Arc<Self>, checksum: Checksum, find: impl Fn(TreeKey) -> F) -> Pass
    where
        F: Future<Output = Option<Tree>>,
    {
        if let Some(tree) = self.known(checksum, &find).await {
            return Pass::Known(tree);
        }
        let under_way = Arc::clone(self.lock().under_way.entry(checksum).or_default());
        let mut turn =
            Turn { gate: Arc::clone(self), checksum, under_way: Arc::clone(&under_way), mine: None };
        drop(under_way);
        let mut lock = pin!(Arc::clone(&turn.under_way.turn).lock_owned());
        loop {
            let steps = turn.under_way.progress.steps();
            tokio::select! {
                biased;
                mine = &mut lock => {
                    turn.mine = Some(mine);
                    break;
                }
                () = sleep(FOLLOW_MAX) => {
                    let progress = &turn.under_way.progress;
                    if progress.steps() == steps && !progress.is_excused() {
                        break;
                    }
                }
            }
        }
        match self.known(checksum, &find).await {
            Some(tree) => Pass::Known(tree),
            None => Pass::Unpack(turn),
        }
    }

    /// The tree of uploads with this checksum, if it is known and there. One upload at a time looks for it, so that others can do with
    /// what that one saw.
    pub(super) async fn known<F>(&self, checksum: Checksum, find: &impl Fn(TreeKey) -> F) -> Option<Tree>
    where
        F: Future<Output = Option<Tree>>,
    {
        let look = self.lock().look(checksum)?;
        let _look = look.lock().await;
        // It may have become another one meanwhile.
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

    /// Forgets that a checksum stands for a tree.
    fn forget(&mut self, checksum: Checksum, tree: TreeKey) {
        if self.known.get(&checksum).is_some_and(|known| known.tree == tree) {
            self.known.remove(&checksum);
        }
    }

    fn remember(&mut self, checksum: Checksum, tree: TreeKey) {
        self.uses += 1;
        self.known.insert(checksum, Known { tree, used: self.uses, look: Arc::default() });
        while self.known.len() > KNOWN_MAX {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used).map(|(oldest, _)| *oldest);
            let Some(oldest) = oldest else { return };
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
