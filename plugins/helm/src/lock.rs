//! Locks of files that another run may hold.

use std::fs::{File, TryLockError};
use std::io;
use std::time::Duration;

/// Time between two looks at a lock that somebody holds.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Locks a file until it is closed. Waiting in the system would keep signals from ending this program, so it is looked at again and again.
/// [`io::ErrorKind::TimedOut`] if somebody holds it for longer than `patience`.
pub(crate) async fn lock(file: &File, patience: Duration) -> io::Result<()> {
    let taken = tokio::time::timeout(patience, async {
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK_AGAIN).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    });
    taken.await.unwrap_or_else(|_elapsed| Err(io::ErrorKind::TimedOut.into()))
}
