//! File locks that other runs may hold.

use std::fs::{File, TryLockError};
use std::io;
use std::time::Duration;

/// Interval of attempts to lock.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Locks a file until it is closed. Polls, since a blocking call would keep signals from ending this program. [`io::ErrorKind::TimedOut`]
/// after `patience`.
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
