//! Unpacking an archive into a tree that is being written.

use std::io::Read;

use super::{ArchiveError, IncomingFile, Intake, Sink, read, unread};
use crate::{EntryPath, TreeWriter, WriteError};

/// Files up to this size are written at once; larger ones in pieces.
const WHOLE_FILE_BYTES_MAX: u64 = 256 * 1024;

/// Unpacks an archive into a tree that is being written.
pub(crate) fn unpack(
    archive: &mut dyn Read,
    intake: &Intake<'_>,
    writer: &TreeWriter,
) -> Result<(), ArchiveError> {
    read(archive, intake, &mut Writing { writer, content: Vec::new() }).map(drop)
}

struct Writing<'a> {
    writer: &'a TreeWriter,
    /// Room for a file's bytes, used again for each.
    content: Vec<u8>,
}

impl Sink for Writing<'_> {
    fn directory(&mut self, path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        Ok(self.writer.directory(path)?)
    }

    fn link(&mut self, path: &EntryPath<'_>, target: &[u8]) -> Result<(), ArchiveError> {
        Ok(self.writer.link(path, target)?)
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        let IncomingFile { path, executable, bytes, content } = file;
        if bytes <= WHOLE_FILE_BYTES_MAX {
            self.content.clear();
            content.read_to_end(&mut self.content).map_err(unread)?;
            return Ok(self.writer.file(path, executable, &self.content)?);
        }
        self.writer.file_from(path, executable, content).map_err(|error| match error {
            WriteError::Content { source, .. } => unread(source),
            error => error.into(),
        })
    }
}
