//! Unpacks an archive, or one directory of it, as a tree.

use super::{ArchiveError, IncomingFile, Intake, Sink, read};
use crate::{EntryPath, TreeWriter};

/// The part of an archive that becomes a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The whole archive.
    Whole,
    /// The content of this directory, without its name.
    Folder(&'a str),
    /// The content of the only top-level directory, without its name. An archive with more top-level entries is rejected.
    OnlyFolder,
}

/// Writes a part of an archive. Returns the number of files and links. The rest of the archive is checked and ignored.
///
/// The archive is checked as by [`Room::take_in`](crate::Room::take_in). A link that leads out of the part is rejected like
/// one that leads out of the archive.
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

/// How the first component of each path is handled.
enum Top {
    /// It is kept.
    Kept,
    /// It is this one, with a final slash, and is removed.
    Named(String),
    /// It is the same in all paths, and is removed. `None` before the first path.
    Only(Option<Vec<u8>>),
}

impl Written<'_> {
    /// Returns the path in the tree; `None` if it is outside the part.
    fn place<'p>(&mut self, path: &'p EntryPath<'_>) -> Result<Option<EntryPath<'p>>, ArchiveError> {
        let path = path.as_bytes();
        let path = match &mut self.top {
            Top::Kept => Some(path),
            Top::Named(folder) => path.strip_prefix(folder.as_bytes()),
            Top::Only(only) => below_only(only, path)?,
        };
        Ok(path.map(EntryPath::from_clean))
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

/// Returns the rest of a path after its first component, which must be the same in all paths.
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
