//! Where the time of an upload goes.

use std::time::Duration;

use tokio::time::Instant;

use crate::metrics::UploadSteps;

/// Takes the times of one upload.
#[derive(Debug, Default)]
pub(super) struct Times {
    first_byte: Option<Instant>,
    end: Option<Instant>,
    /// When unpacking has begun.
    placed: Option<Instant>,
    waited: Duration,
    /// The part of it between the first byte and the end.
    waited_while_receiving: Duration,
    unpacked: Option<Duration>,
}

impl Times {
    /// Some of its bytes are here.
    pub(super) fn bytes(&mut self) {
        self.first_byte.get_or_insert_with(Instant::now);
    }

    /// It is here as a whole.
    pub(super) fn end(&mut self) {
        self.end = Some(Instant::now());
    }

    /// It has waited for others since then.
    pub(super) fn waited(&mut self, since: Instant) {
        let waited = since.elapsed();
        self.waited += waited;
        if self.first_byte.is_some() && self.end.is_none() {
            self.waited_while_receiving += waited;
        }
    }

    /// From now on it is unpacked.
    pub(super) fn placed(&mut self) {
        self.placed = Some(Instant::now());
    }

    /// It is unpacked. What was done while bytes still came has cost the call nothing.
    pub(super) fn unpacked(&mut self) {
        self.unpacked = self.end.max(self.placed).map(|began| began.elapsed());
    }

    /// The steps of an upload that has succeeded.
    pub(super) fn steps(&self) -> UploadSteps {
        let received = self.first_byte.zip(self.end).map(|(first, end)| end - first);
        UploadSteps {
            waited: self.waited,
            received: received.unwrap_or_default().saturating_sub(self.waited_while_receiving),
            unpacked: self.unpacked,
        }
    }
}

#[cfg(test)]
mod tests;
