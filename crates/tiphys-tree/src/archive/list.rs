//! The names in an archive, without the bytes of its files.

use std::io::{self, Read};

use super::{ArchiveError, IncomingFile, Intake, Sink, read, unread};
use crate::{Entries, EntryPath};

/// Names, kinds and link targets of an archive, checked as [`ProcessStore::take_in`](crate::ProcessStore::take_in) checks them. Nothing is written,
/// and no bytes of files are kept. The archive is read to its last byte.
pub fn list(archive: &mut dyn Read, intake: &Intake<'_>) -> Result<Entries, ArchiveError> {
    read(archive, intake, &mut Names)
}

/// Wants nothing but what is noted anyway.
struct Names;

impl Sink for Names {
    fn directory(&mut self, _path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn link(&mut self, _path: &EntryPath<'_>, _target: &[u8]) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        // Read rather than passed over, so that an archive that is cut short is refused with the same text.
        io::copy(file.content, &mut io::sink()).map(drop).map_err(unread)
    }
}
