//! The bytes of an archive on their way to the reader of its entries: bounded, and ended when nobody waits any more.

use std::cell::RefCell;
use std::io::{self, Read};

use super::{ArchiveError, Intake};

/// Why an archive's bytes ended early. The readers of gzip and tar only pass an [`io::Error`] on, and wrap it in texts of their own.
#[derive(Debug, Default)]
pub(super) struct Cause(RefCell<Option<ArchiveError>>);

impl Cause {
    /// Notes the first cause, and gives what a reader returns in its place.
    fn note(&self, cause: ArchiveError) -> io::Error {
        self.0.borrow_mut().get_or_insert(cause);
        io::Error::other("the archive's bytes ended early")
    }

    /// The cause where there is one, else the error that came of it.
    pub(super) fn explain(&self, error: ArchiveError) -> ArchiveError {
        self.0.take().unwrap_or(error)
    }
}

/// The archive as it is sent.
pub(super) struct Packed<'a> {
    archive: &'a mut dyn Read,
    left: u64,
    max: u64,
    cause: &'a Cause,
}

impl<'a> Packed<'a> {
    pub(super) fn new(archive: &'a mut dyn Read, intake: &Intake<'_>, cause: &'a Cause) -> Self {
        let max = intake.limits.packed_bytes_max;
        Self { archive, left: max, max, cause }
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.archive.read(buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => return Err(self.cause.note(error.into())),
        };
        let left = self.left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX));
        self.left = left.ok_or_else(|| self.cause.note(ArchiveError::too_many_packed_bytes(self.max)))?;
        Ok(read)
    }
}

/// Asks before every piece whether to go on.
pub(super) struct Stoppable<'a, R> {
    inner: R,
    stop: &'a (dyn Fn() -> bool + Sync),
    cause: &'a Cause,
}

impl<'a, R: Read> Stoppable<'a, R> {
    pub(super) fn new(inner: R, intake: &Intake<'a>, cause: &'a Cause) -> Self {
        Self { inner, stop: intake.stop, cause }
    }
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() { Err(self.cause.note(ArchiveError::Stopped)) } else { self.inner.read(buffer) }
    }
}
