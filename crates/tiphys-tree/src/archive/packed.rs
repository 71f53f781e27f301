//! Readers between an archive and the reader of its entries: they enforce the size limit and stop on request.

use std::cell::RefCell;
use std::io::{self, Read};

use super::{ArchiveError, Intake};

/// Why reading an archive ended early. The gzip and tar readers only pass on an [`io::Error`], wrapped in their own messages.
#[derive(Debug, Default)]
pub(super) struct Cause(RefCell<Option<ArchiveError>>);

impl Cause {
    /// Records the first cause, and returns the error for the reader.
    fn note(&self, cause: ArchiveError) -> io::Error {
        self.0.borrow_mut().get_or_insert(cause);
        io::Error::other("the archive's bytes ended early")
    }

    /// Returns the recorded cause if there is one, else the error.
    pub(super) fn explain(&self, error: ArchiveError) -> ArchiveError {
        self.0.take().unwrap_or(error)
    }
}

/// The compressed archive.
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

/// A reader that checks before every piece whether to stop.
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
