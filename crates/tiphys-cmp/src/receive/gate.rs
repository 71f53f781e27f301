//! Uploads with the same bytes: the first is unpacked, the others wait for it and are only hashed.
//!
//! A claimed checksum says only which uploads may be equal. An upload without progress does not block others that claim the same one.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::sleep;

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

    /// Returns its bytes.
    pub(super) fn bytes(self) -> [u8; CHECKSUM_BYTES] {
        self.0
    }

    /// Converts a digest.
    pub(super) fn of(digest: impl Into<[u8; CHECKSUM_BYTES]>) -> Self {
        Self(digest.into())
    }
}

/// The checksums of uploads that are being unpacked.
#[derive(Debug, Default)]
pub(super) struct Gate {
    unpacking: Mutex<HashMap<Checksum, Arc<Unpacking>>>,
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
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.lock.take());
        let mut unpacking = self.gate.lock();
        // References of the map and of this turn: no upload waits.
        if Arc::strong_count(&self.unpacking) == 2 {
            unpacking.remove(&self.checksum);
        }
    }
}

impl Gate {
    /// Waits while an upload with the same checksum is unpacked.
    pub(super) async fn enter(self: &Arc<Self>, checksum: Checksum) -> Turn {
        let unpacking = Arc::clone(self.lock().entry(checksum).or_default());
        let mut turn = Turn { gate: Arc::clone(self), checksum, unpacking, lock: None };
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
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Checksum, Arc<Unpacking>>> {
        self.unpacking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
