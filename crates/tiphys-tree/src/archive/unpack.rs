//! An archive, or one folder of it, as a tree.

use super::{ArchiveError, IncomingFile, Intake, Sink, read};
use crate::{EntryPath, TreeWriter};

/// What of an archive becomes a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// All of it.
    Whole,
    /// What is below this folder, without the folder's own name.
    Folder(&'a str),
    /// What is below the one folder that has everything, without the folder's own name. An archive with more at its top is refused.
    OnlyFolder,
}

/// Writes a part of an archive. Gives how many files and links there were. What is elsewhere in the archive is checked and left out.
///
/// The archive is checked as [`ProcessStore::take_in`](crate::ProcessStore::take_in) checks it. A link that leads out of the part is refused
/// like one that leads out of the archive.
pub fn unpack(
    archive: &mut dyn std::io::Read,
    intake: &Intake<'_>,
    part: Part<'_>,
    writer: &mut TreeWriter,
) -> Result<u64, ArchiveError> {
    writer.set_modes(intake.modes);
    let top = match part {
        Part::Whole => Top::Kept,
        Part::Folder(name) => Top::Named(format!("{name}/")),
        Part::OnlyFolder => Top::Only(None),
    };
    let mut sink = Written { writer, top, count: 0 };
    read(archive, intake, &mut sink)?;
    Ok(sink.count)
}

struct Written<'a> {
    writer: &'a TreeWriter,
    top: Top,
    count: u64,
}

/// What becomes of the first part of each path.
enum Top {
    /// It stays.
    Kept,
    /// It is this, which ends in a slash, and goes.
    Named(String),
    /// It is the same in all paths, and goes; nothing before the first one was seen.
    Only(Option<Vec<u8>>),
}

impl Written<'_> {
    /// The path in the tree; `None` outside of it.
    fn place<'p>(&mut self, path: &'p EntryPath<'_>) -> Result<Option<EntryPath<'p>>, ArchiveError> {
        let path = path.as_bytes();
        let path = match &mut self.top {
            Top::Kept => Some(path),
            Top::Named(folder) => path.strip_prefix(folder.as_bytes()),
            Top::Only(only) => below_only(only, path)?,
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

/// What is behind the first part of a path, which is the only one that any path may have.
fn below_only<'p>(only: &mut Option<Vec<u8>>, path: &'p [u8]) -> Result<Option<&'p [u8]>, ArchiveError> {
    if path.is_empty() {
        return Ok(None);
    }
    let end = path.iter().position(|&byte| byte == b'/').unwrap_or(path.len());
    if only.get_or_insert_with(|| path[..end].to_vec()) != &path[..end] {
        return Err(ArchiveError::malformed("it has more than one folder at its top"));
    }
    Ok(path.get(end + 1..))
}
