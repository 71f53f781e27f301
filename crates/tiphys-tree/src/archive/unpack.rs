//! Unpacking an archive. Whatever its headers claim is checked before it is believed.

use std::io::{self, BufRead as _, BufReader, Read};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::ArchiveError;
use crate::{RepoPath, TreeWriter, WriteError};

/// Bytes of one extended header at most; Go's reader has the same bound.
const EXTENDED_HEADER_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes that are decompressed ahead.
const BUFFER_BYTES: usize = 256 * 1024;
/// Files up to this size are written at once; larger ones in pieces.
const WHOLE_FILE_BYTES_MAX: u64 = 256 * 1024;
/// Where a header says what kind of entry it is.
const TYPE_OFFSET: usize = 156;

/// Unpacks an archive into a tree that is being written; hard links, devices and the like are left out as Argo CD does.
///
/// As there, a path is taken below the tree's root whether or not it begins with a slash, and so is a link's target below the
/// directory of the link. A link to the root itself is refused. Executable bits follow the writer's modes.
pub fn unpack(archive: &mut dyn Read, writer: &mut TreeWriter) -> Result<(), ArchiveError> {
    let mut unzipped = BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(BufReader::new(archive)));
    unzipped.fill_buf().map_err(|error| ArchiveError::malformed(format!("error reading file: {error}")))?;
    let mut tar = Archive::new(unzipped);
    let mut extended = Extended::default();
    let mut content = Vec::new();
    // Raw, because extended headers are otherwise read into memory whatever their size.
    for entry in tar.entries().map_err(|error| broken(&error))?.raw(true) {
        let mut entry = entry.map_err(|error| broken(&error))?;
        match entry.header().entry_type() {
            EntryType::XHeader => extended.read_pax(&mut entry)?,
            EntryType::GNULongName => extended.path = Some(long_text(&mut entry)?),
            EntryType::GNULongLink => extended.target = Some(long_text(&mut entry)?),
            _ => write_entry(&mut entry, std::mem::take(&mut extended), &mut content, writer)?,
        }
    }
    Ok(())
}

/// What extended headers say of the entry behind them.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
}

impl Extended {
    fn read_pax<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> Result<(), ArchiveError> {
        let text = bounded(entry)?;
        for record in PaxExtensions::new(&text) {
            let record = record.map_err(|error| broken(&error))?;
            match record.key_bytes() {
                b"path" => self.path = Some(record.value_bytes().to_vec()),
                b"linkpath" => self.target = Some(record.value_bytes().to_vec()),
                b"size" => {
                    let size = record.value().ok().and_then(|size| size.parse().ok());
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
}

/// `content` is room for a file's bytes, used again for each.
fn write_entry<R: Read>(
    entry: &mut Entry<'_, R>,
    extended: Extended,
    content: &mut Vec<u8>,
    writer: &TreeWriter,
) -> Result<(), ArchiveError> {
    let header = entry.header();
    let size = header.entry_size().map_err(|error| broken(&error))?;
    if extended.size.is_some_and(|extended| extended != size) {
        return Err(broken(&"an entry is larger than its header can say"));
    }
    let name = text(extended.path.unwrap_or_else(|| header.path_bytes().into_owned()))?;
    let mut kind = header.entry_type();
    if header.as_bytes()[TYPE_OFFSET] == 0 && name.ends_with('/') {
        // The oldest archives tell directories by their slash alone.
        kind = EntryType::Directory;
    }
    if !matches!(kind, EntryType::Regular | EntryType::Directory | EntryType::Symlink) {
        return Ok(());
    }
    let illegal = || ArchiveError::malformed(format!("illegal filepath in archive: {name}"));
    let path = RepoPath::new(name.trim_start_matches('/')).map_err(|_| illegal())?;
    if path.is_root() {
        return if matches!(&*name, "." | "./") { Ok(()) } else { Err(illegal()) };
    }
    match kind {
        EntryType::Directory => writer.directory(&path)?,
        EntryType::Symlink => {
            let target = match extended.target {
                Some(target) => target,
                None => header.link_name_bytes().unwrap_or_default().into_owned(),
            };
            let target = text(target)?;
            let target = target.trim_start_matches('/');
            let illegal = || ArchiveError::malformed(format!("illegal filepath in symlink: {path}"));
            let lead = path.parent().unwrap_or_default().join(target).map_err(|_| illegal())?;
            if lead.is_root() {
                return Err(illegal());
            }
            writer.link(&path, target).map_err(|error| match error {
                WriteError::LinkOutside { .. } => illegal(),
                error => error.into(),
            })?;
        }
        _ => {
            let executable = header.mode().map_err(|error| broken(&error))? & 0o100 != 0;
            let unread =
                |error: io::Error| ArchiveError::malformed(format!("error writing tgz file: {error}"));
            let mut source = Whole { inner: entry, left: size };
            if size <= WHOLE_FILE_BYTES_MAX {
                content.clear();
                source.read_to_end(content).map_err(unread)?;
                writer.file(&path, executable, content)?;
            } else {
                writer.file_from(&path, executable, &mut source).map_err(|error| match error {
                    WriteError::Content { source, .. } => unread(source),
                    error => error.into(),
                })?;
            }
        }
    }
    Ok(())
}

/// A file's content; an end before all of it was read is an error.
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

/// A long name is ended by a NUL.
fn long_text<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, ArchiveError> {
    let mut text = bounded(entry)?;
    text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
    Ok(text)
}

fn bounded<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, ArchiveError> {
    let size = entry.header().entry_size().map_err(|error| broken(&error))?;
    if size > EXTENDED_HEADER_BYTES_MAX {
        return Err(broken(&format!("an extended header has more than {EXTENDED_HEADER_BYTES_MAX} bytes")));
    }
    let mut text = Vec::new();
    Whole { inner: entry, left: size }.read_to_end(&mut text).map_err(|error| broken(&error))?;
    Ok(text)
}

fn text(bytes: Vec<u8>) -> Result<String, ArchiveError> {
    String::from_utf8(bytes).map_err(|error| {
        let name = String::from_utf8_lossy(error.as_bytes()).into_owned();
        broken(&format!("{name:?} is not UTF-8"))
    })
}

fn broken(reason: &dyn std::fmt::Display) -> ArchiveError {
    ArchiveError::malformed(format!("error while iterating on tar reader: {reason}"))
}
