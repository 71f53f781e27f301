//! Reads some files of an archive into memory, without unpacking it.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::{ArchiveError, IncomingFile, Intake, Sink, read, unread};
use crate::EntryPath;

/// Returns the content of the files of an archive whose path is `wanted`, by path. The archive is checked as by
/// [`Room::take_in`](crate::Room::take_in), read to its last byte, and nothing is written. The result is limited by
/// [`ArchiveLimits::bytes_max`](super::ArchiveLimits::bytes_max). Paths that are not UTF-8 are ignored.
pub fn files(
    archive: &mut dyn Read,
    intake: &Intake<'_>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<BTreeMap<String, Vec<u8>>, ArchiveError> {
    let mut sink = Wanted { wanted, files: BTreeMap::new() };
    read(archive, intake, &mut sink)?;
    Ok(sink.files)
}

struct Wanted<'a> {
    wanted: &'a dyn Fn(&str) -> bool,
    files: BTreeMap<String, Vec<u8>>,
}

impl Sink for Wanted<'_> {
    fn directory(&mut self, _path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn link(&mut self, _path: &EntryPath<'_>, _target: &[u8]) -> Result<(), ArchiveError> {
        Ok(())
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        match std::str::from_utf8(file.path.as_bytes()) {
            Ok(path) if (self.wanted)(path) => {
                let mut bytes = Vec::new();
                file.content.read_to_end(&mut bytes).map_err(unread)?;
                self.files.insert(path.to_owned(), bytes);
                Ok(())
            }
            // Read instead of skipped, so that a truncated archive is rejected regardless of `wanted`.
            _ => io::copy(file.content, &mut io::sink()).map(drop).map_err(unread),
        }
    }
}
