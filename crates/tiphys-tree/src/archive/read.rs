//! Reads an archive and passes its entries to a sink. Every claim of a header is checked.

use std::io::{self, BufRead as _, BufReader, Read};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};
use tiphys_go::path::{clean, directory, join};
use tiphys_model::limits::Limit;

use super::packed::{Cause, Packed, Stoppable};
use super::pax::Records;
use super::{ArchiveError, ArchiveLimits, Intake};
use crate::path::{is_slash, quoted, shown};
use crate::{Entries, EntryKind, EntryPath, Final, Modes, PathError, WriteError};

/// Maximum bytes of one extended header, as in Go's reader.
const EXTENDED_HEADER_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum number of extended headers in front of one entry. Two kinds exist in each of two formats, and a name needs one.
const EXTENDED_HEADERS_MAX: u32 = 8;
/// Bytes for each permitted entry ([`ArchiveLimits::entries_max`]) that give the limit of all paths together, including directories that
/// only occur in paths, and of extended headers. Paths are stored while an archive is read, and compress to almost nothing.
const NAME_BYTES_PER_ENTRY: u64 = 64;
/// Minimum of that limit: a small tree may have long names.
const NAMES_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// Bytes read from the archive at once.
const PACKED_BUFFER_BYTES: usize = 32 * 1024;
/// Bytes decompressed ahead.
const BUFFER_BYTES: usize = 128 * 1024;
/// Offset of the entry type in a header.
const TYPE_OFFSET: usize = 156;

/// Receives the entries of an archive. They are already checked: no path and no link leads out, no path occurs twice, and none is below a
/// link or file.
pub(crate) trait Sink {
    /// A directory that the archive names. Directories that only occur in paths are not passed.
    fn directory(&mut self, path: &EntryPath<'_>) -> Result<(), ArchiveError>;

    /// A link with a target relative to it.
    fn link(&mut self, path: &EntryPath<'_>, target: &[u8]) -> Result<(), ArchiveError>;

    /// A file, whose content is read before this returns.
    fn file(&mut self, file: IncomingFile<'_>) -> Result<(), ArchiveError>;
}

/// A file of an archive with its unread content.
pub(crate) struct IncomingFile<'a> {
    pub(crate) path: &'a EntryPath<'a>,
    /// Whether it gets executable bits; never if modes are not kept.
    pub(crate) executable: bool,
    /// Bytes of its content.
    pub(crate) bytes: u64,
    /// Its content. Its errors are mapped by [`unread`].
    pub(crate) content: &'a mut dyn Read,
}

/// Argo CD's message for a file whose content could not be read.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err calls")]
pub(crate) fn unread(error: io::Error) -> ArchiveError {
    ArchiveError::malformed(format!("error writing tgz file: {error}"))
}

/// Reads an archive to its last byte, including those after the end of the tar, and returns its names. Hard links, devices and similar
/// entries are ignored, as in Argo CD.
///
/// As in Argo CD, paths and the targets of links are cleaned lexically, and their leading slash is ignored: the path is relative to the
/// tree's root, and the target to the directory of the link. A path that is the root itself is ignored. A cleaned target has its `..` in
/// front, and they lead up through directories, so it does not lead out through another link.
pub(crate) fn read(
    archive: &mut dyn Read,
    intake: &Intake<'_>,
    sink: &mut impl Sink,
) -> Result<Entries, ArchiveError> {
    let cause = Cause::default();
    let mut packed = Packed::new(archive, intake, &cause);
    let answer = entries(&mut packed, intake, &cause, sink)
        .and_then(|entries| io::copy(&mut packed, &mut io::sink()).map(|_| entries).map_err(Into::into));
    answer.map_err(|error| cause.explain(error))
}

fn entries(
    packed: &mut Packed<'_>,
    intake: &Intake<'_>,
    cause: &Cause,
    sink: &mut impl Sink,
) -> Result<Entries, ArchiveError> {
    let unzipped = MultiGzDecoder::new(BufReader::with_capacity(PACKED_BUFFER_BYTES, packed));
    let mut unzipped = BufReader::with_capacity(BUFFER_BYTES, Stoppable::new(unzipped, intake, cause));
    unzipped.fill_buf().map_err(|error| ArchiveError::malformed(format!("error reading file: {error}")))?;
    let mut tar = Archive::new(unzipped);
    let mut reading = Reading::new(intake, sink);
    let mut extended = Extended::default();
    // Raw, because extended headers would otherwise be read into memory regardless of their size.
    for entry in tar.entries().map_err(|error| broken(&error))?.raw(true) {
        if (intake.stop)() {
            return Err(ArchiveError::Stopped);
        }
        let mut entry = entry.map_err(|error| broken(&error))?;
        match entry.header().entry_type() {
            EntryType::XHeader => extended.read_pax(&mut entry, &mut reading.names)?,
            EntryType::GNULongName => {
                extended.path = Some(extended.long_text(&mut entry, &mut reading.names)?);
            }
            EntryType::GNULongLink => {
                extended.target = Some(extended.long_text(&mut entry, &mut reading.names)?);
            }
            _ => {
                reading.entry(&mut entry, std::mem::take(&mut extended))?;
                reading.names.fit(&reading.entries)?;
            }
        }
    }
    Ok(reading.entries)
}

/// The extended headers of the next entry.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    /// Number of headers.
    count: u32,
}

impl Extended {
    fn read_pax<R: Read>(&mut self, entry: &mut Entry<'_, R>, names: &mut Names) -> Result<(), ArchiveError> {
        let text = self.text(entry, names)?;
        for record in Records(&text) {
            let (key, value) = record.map_err(|error| broken(&error))?;
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.target = Some(value.to_vec()),
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|size| size.parse().ok());
                    self.size = Some(size.ok_or_else(|| broken(&"invalid size in an extended header"))?);
                }
                key if key.starts_with(b"GNU.sparse.") => {
                    return Err(broken(&"sparse files are not supported"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads a long name, which ends with a NUL.
    fn long_text<R: Read>(
        &mut self,
        entry: &mut Entry<'_, R>,
        names: &mut Names,
    ) -> Result<Vec<u8>, ArchiveError> {
        let mut text = self.text(entry, names)?;
        text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
        Ok(text)
    }

    fn text<R: Read>(
        &mut self,
        entry: &mut Entry<'_, R>,
        names: &mut Names,
    ) -> Result<Vec<u8>, ArchiveError> {
        self.count += 1;
        if self.count > EXTENDED_HEADERS_MAX {
            return Err(broken(&format!("an entry has more than {EXTENDED_HEADERS_MAX} extended headers")));
        }
        let size = entry.header().entry_size().map_err(|error| broken(&error))?;
        if size > EXTENDED_HEADER_BYTES_MAX {
            let message = format!("an extended header has more than {EXTENDED_HEADER_BYTES_MAX} bytes");
            return Err(broken(&message));
        }
        names.count(size)?;
        let mut text = Vec::new();
        Whole { inner: entry, left: size }.read_to_end(&mut text).map_err(|error| broken(&error))?;
        Ok(text)
    }
}

/// Returns the maximum bytes of all names of an archive with this number of entries.
pub(super) fn names_bytes_max(entries_max: u64) -> u64 {
    entries_max.saturating_mul(NAME_BYTES_PER_ENTRY).max(NAMES_BYTES_MIN)
}

/// Bytes of extended headers read so far, and the limit of them and the paths together.
struct Names {
    bytes: u64,
    max: u64,
}

impl Names {
    fn new(limits: &ArchiveLimits) -> Self {
        Self { bytes: 0, max: names_bytes_max(limits.entries_max) }
    }

    fn count(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.check(self.bytes)
    }

    /// Checks the limit with the paths of all entries.
    fn fit(&self, entries: &Entries) -> Result<(), ArchiveError> {
        self.check(self.bytes.saturating_add(entries.path_bytes()))
    }

    fn check(&self, bytes: u64) -> Result<(), ArchiveError> {
        let max = self.max;
        if bytes > max {
            Err(ArchiveError::TooManyNameBytes { max, limit: Limit::TREE_ENTRIES_MAX })
        } else {
            Ok(())
        }
    }
}

/// State of the reader.
struct Reading<'a, S> {
    limits: ArchiveLimits,
    modes: Modes,
    entries: Entries,
    names: Names,
    /// Number of ignored entries. They cost time, too.
    left_out: u64,
    bytes: u64,
    sink: &'a mut S,
}

impl<'a, S: Sink> Reading<'a, S> {
    fn new(intake: &Intake<'_>, sink: &'a mut S) -> Self {
        let Intake { limits, modes, .. } = *intake;
        let entries = Entries::new(limits.entries_max);
        let names = Names::new(&limits);
        Self { limits, modes, entries, names, left_out: 0, bytes: 0, sink }
    }

    fn entry<R: Read>(&mut self, entry: &mut Entry<'_, R>, extended: Extended) -> Result<(), ArchiveError> {
        let header = entry.header();
        let size = header.entry_size().map_err(|error| broken(&error))?;
        if extended.size.is_some_and(|extended| extended != size) {
            return Err(broken(&"an entry is larger than its header can say"));
        }
        // Before its content is decompressed, whatever its kind: ignored content is decompressed, too.
        self.count_bytes(size)?;
        let name = extended.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let mut kind = header.entry_type();
        if header.as_bytes()[TYPE_OFFSET] == 0 && name.ends_with(b"/") {
            // In the oldest archives only a final slash marks a directory.
            kind = EntryType::Directory;
        }
        if !matches!(kind, EntryType::Regular | EntryType::Directory | EntryType::Symlink) {
            return self.leave_out();
        }
        let name = cleaned(&name);
        if name == b"." {
            return self.leave_out();
        }
        let path = EntryPath::new(&name).map_err(|error| illegal_name(kind, &name, &error))?;
        match kind {
            EntryType::Directory => {
                self.entries.directory(&path)?;
                self.sink.directory(&path)
            }
            EntryType::Symlink => {
                let target = match extended.target {
                    Some(target) => target,
                    None => header.link_name_bytes().unwrap_or_default().into_owned(),
                };
                self.link(&path, &target)
            }
            _ => {
                let executable = header.mode().map_err(|error| broken(&error))? & 0o100 != 0;
                self.entries.file(&path)?;
                let executable = executable && self.modes == Modes::Preserved;
                let content = &mut Whole { inner: entry, left: size };
                self.sink.file(IncomingFile { path: &path, executable, bytes: size, content })
            }
        }
    }

    fn link(&mut self, path: &EntryPath<'_>, target: &[u8]) -> Result<(), ArchiveError> {
        let name = path.as_bytes();
        let mut parents =
            name.iter().enumerate().filter(|(_, byte)| is_slash(byte)).map(|(end, _)| &name[..end]);
        let is_link = |parent: &&[u8]| self.entries.look_at(parent, Final::Keep) == Ok(EntryKind::Link);
        if let Some(parent) = parents.find(is_link) {
            let message = format!("illegal symlink parent directory {} for {}", quoted(parent), quoted(name));
            return Err(ArchiveError::malformed(message));
        }
        let target = &cleaned(target)[..];
        let lead = join(&directory(path.as_bytes()), target);
        EntryPath::new(&lead).map_err(|error| {
            let (shown, problem) = (quoted(&lead), in_words_of_go(&error, "statat", &lead));
            ArchiveError::malformed(format!("error checking symlink {shown} target: {problem}"))
        })?;
        self.entries.link(path, target)?;
        self.sink.link(path, target)
    }

    fn leave_out(&mut self) -> Result<(), ArchiveError> {
        let max = self.limits.entries_max;
        self.left_out += 1;
        if self.left_out > max {
            Err(WriteError::TooManyEntries { max, limit: Limit::TREE_ENTRIES_MAX }.into())
        } else {
            Ok(())
        }
    }

    fn count_bytes(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        let max = self.limits.bytes_max;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > max {
            Err(WriteError::TooManyBytes { max, limit: Limit::TREE_BYTES_MAX }.into())
        } else {
            Ok(())
        }
    }
}

/// A file's content. An early end is an error.
struct Whole<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX));
        if read == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "unexpected EOF"));
        }
        Ok(read)
    }
}

/// Returns a path of an archive as Argo CD reads it: cleaned, without a leading slash; `.` for the root.
fn cleaned(path: &[u8]) -> Vec<u8> {
    let clean = clean(path);
    match clean.strip_prefix(b"/") {
        None => clean,
        Some(b"") => b".".to_vec(),
        Some(relative) => relative.to_vec(),
    }
}

/// Returns Argo CD's error for a cleaned name that leads out: of the step that fails first.
fn illegal_name(kind: EntryType, name: &[u8], error: &PathError) -> ArchiveError {
    let parent = directory(name);
    let (step, call, path) = match kind {
        EntryType::Directory => ("error creating nested folders", "mkdirat", name),
        EntryType::Symlink if parent == b"." => ("error creating symlink", "symlinkat", name),
        EntryType::Symlink => ("error checking symlink parent \"..\"", "statat", &b".."[..]),
        _ if parent == b"." => ("error creating file \"..\"", "openat", name),
        _ => ("error creating nested folders", "mkdirat", &*parent),
    };
    ArchiveError::malformed(format!("{step}: {}", in_words_of_go(error, call, path)))
}

/// Returns the error of a system call below a root directory, as Go's `os.Root` reports it.
fn in_words_of_go(error: &PathError, call: &str, path: &[u8]) -> String {
    let problem = match error {
        PathError::Outside { .. } => "path escapes from parent".to_owned(),
        other => other.to_string(),
    };
    format!("{call} {}: {problem}", shown(path))
}

fn broken(reason: &dyn std::fmt::Display) -> ArchiveError {
    ArchiveError::malformed(format!("error while iterating on tar reader: {reason}"))
}
