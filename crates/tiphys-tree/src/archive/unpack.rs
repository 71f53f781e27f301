//! An archive, or one folder of it, as a tree.

use super::{ArchiveError, IncomingFile, Intake, Sink, read};
use crate::{EntryPath, TreeWriter};

/// Writes what an archive holds below `folder`, without that folder's own name; all of it where `folder` is `None`. Gives how many files
/// and links there were. What is elsewhere in the archive is checked and left out.
///
/// The archive is checked as [`ProcessStore::take_in`](crate::ProcessStore::take_in) checks it. A link that leads out of `folder` is refused
/// like one that leads out of the archive.
pub fn unpack(
    archive: &mut dyn std::io::Read,
    intake: &Intake<'_>,
    folder: Option<&str>,
    writer: &mut TreeWriter,
) -> Result<u64, ArchiveError> {
    writer.set_modes(intake.modes);
    let mut sink = Written { writer, folder: folder.map(|name| format!("{name}/")), count: 0 };
    read(archive, intake, &mut sink)?;
    Ok(sink.count)
}

struct Written<'a> {
    writer: &'a TreeWriter,
    /// Ends in a slash.
    folder: Option<String>,
    count: u64,
}

impl Written<'_> {
    /// The path in the tree; `None` outside of it.
    fn place<'p>(&self, path: &'p EntryPath<'_>) -> Result<Option<EntryPath<'p>>, ArchiveError> {
        let path = path.as_bytes();
        let path = match &self.folder {
            None => Some(path),
            Some(folder) => path.strip_prefix(folder.as_bytes()),
        };
        path.map(EntryPath::new)
            .transpose()
            .map_err(|error| ArchiveError::malformed(format!("illegal filepath in archive: {error}")))
    }
}

impl Sink for Written<'_> {
    fn directory(&mut self, path: &EntryPath<'_>) -> Result<(), ArchiveError> {
        match self.place(path)? {
            Some(path) => Ok(self.writer.directory(path)?),
            None => Ok(()),
        }
    }

    fn link(&mut self, path: &EntryPath<'_>, target: &[u8]) -> Result<(), ArchiveError> {
        let Some(path) = self.place(path)? else { return Ok(()) };
        self.count += 1;
        Ok(self.writer.link(path, target)?)
    }

    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError> {
        let Some(path) = self.place(file.path)? else {
            return std::io::copy(file.content, &mut std::io::sink()).map(drop).map_err(super::unread);
        };
        self.count += 1;
        Ok(self.writer.file_from(path, file.executable, file.content)?)
    }
}
