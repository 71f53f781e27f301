//! Whether this process may write.

use std::future::pending;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The view of a leader election. Clones share the election.
#[derive(Clone, Debug)]
pub struct Leadership {
    validity: watch::Receiver<Validity>,
    /// The value that [`Leadership::changed`] returned last.
    reported: bool,
}

/// The time of a leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Never,
    Until(Instant),
    Always,
}

impl Validity {
    pub(super) fn is_current(self) -> bool {
        match self {
            Self::Never => false,
            Self::Until(end) => Instant::now() < end,
            Self::Always => true,
        }
    }
}

impl Leadership {
    pub(super) fn new(validity: watch::Receiver<Validity>) -> Self {
        Self { validity, reported: false }
    }

    /// Returns the leadership of a process without an election.
    pub fn always() -> Self {
        Self::new(watch::channel(Validity::Always).1)
    }

    /// Whether this process may write now. It is `false` from the moment at which another process could take the Lease, also if this process
    /// was paused or the elector has ended.
    pub fn is_leader(&self) -> bool {
        self.validity.borrow().is_current()
    }

    /// Waits until [`Leadership::is_leader`] differs from the last value that this method returned, initially `false`, and returns it. It
    /// is cancel safe.
    pub async fn changed(&mut self) -> bool {
        loop {
            let validity = *self.validity.borrow_and_update();
            if validity.is_current() != self.reported {
                self.reported = !self.reported;
                return self.reported;
            }
            let end = async {
                match validity {
                    Validity::Until(end) if self.reported => sleep_until(end).await,
                    _ => pending().await,
                }
            };
            let update = async {
                if self.validity.changed().await.is_err() {
                    pending::<()>().await;
                }
            };
            tokio::select! {
                () = end => {}
                () = update => {}
            }
        }
    }
}
