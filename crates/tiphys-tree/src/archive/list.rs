//! Lists the entries of an archive without the content of its files.

use std::io::{self, Read};

use super::{ArchiveError, IncomingFile, Intake, Sink, read, unread};
use crate::{Entries, EntryPath};

/// Returns names, kinds and link targets of an archive, checked as by [`Room::take_in`](crate::Room::take_in). Nothing is
/// written and no content is stored. The archive is read to its last byte.
pub fn list(archive: &mut dyn Read, intake: &Intake<'_>) -> Result<Entries, ArchiveError> {
    read(archive, intake, &mut Names)
}

/// A sink that ignores everything: the reader records the names.
struct Names;

impl Sink for Names {
    fn directory(&mut self, _path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn link(&mut self, _path: &EntryPath<'_>, _target: &[u8]) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        // Read instead of skipped, so that a truncated archive is rejected with the same message.
        io::copy(file.content, &mut io::sink()).map(drop).map_err(unread)
    }
}
