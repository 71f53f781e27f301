//! Reads archives of `helm package` into memory, with limits that end a decompression bomb early.

use std::io::{self, Read};
use std::sync::Arc;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use tar::{Archive, Builder, EntryType, Header};
use tiphys_go::path::clean;
use tiphys_go::strconv::quote;
use tiphys_helm_values::HelmVersion;

use super::{Loader, without_bom};
use crate::{ChartFile, LoadError};

/// Bytes of the archive format for each permitted entry: headers, padding, long names.
const FORMAT_BYTES_PER_ENTRY: u64 = 4096;

/// The file type of a header's mode, and that of directories.
const MODE_TYPE: u32 = !0o7777;
const MODE_DIRECTORY: u32 = 0o40_000;

/// Errors of an archive, in Helm's words.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is not a gzipped tar archive.
    #[error("{problem}")]
    Malformed {
        /// The problem.
        problem: String,
    },
    /// It contains no file.
    #[error("no files in chart archive")]
    Empty,
    /// A path is absolute.
    #[error("chart illegally contains absolute paths")]
    AbsolutePath,
    /// A path has no directory.
    #[error("chart illegally contains content outside the base directory: {}", quote(path))]
    OutsideBase {
        /// The path.
        path: String,
    },
    /// A path leads out of the chart.
    #[error("chart illegally references parent directory")]
    ParentDirectory,
    /// A path begins with a drive letter.
    #[error("chart contains illegally named files")]
    DriveLetter,
    /// `Chart.yaml` is a directory.
    #[error("chart yaml not in base directory")]
    ChartIsDirectory,
    /// A path is not UTF-8. Helm loads such files.
    #[error("path {} is not UTF-8; rename the file", quote(path))]
    NotUtf8 {
        /// The path.
        path: Vec<u8>,
    },
}

impl Loader {
    /// Returns the files of an archive in their order, without the first element of their paths.
    pub(super) fn unpack(&mut self, bytes: &[u8]) -> Result<Vec<ChartFile>, LoadError> {
        if bytes.is_empty() {
            return Err(malformed("EOF"));
        }
        let entries_left = self.limits.entries.saturating_sub(self.entries) as u64;
        let format_bytes = (entries_left + 1).saturating_mul(FORMAT_BYTES_PER_ENTRY);
        let stream_bytes_max = self.bytes_left().saturating_add(format_bytes);
        let mut archive = Archive::new(MultiGzDecoder::new(bytes).take(stream_bytes_max));
        let files = self.read_entries(&mut archive);
        match files {
            Err(LoadError::Archive(_)) if archive.into_inner().limit() == 0 => Err(self.too_large()),
            Ok(files) if files.is_empty() => Err(ArchiveError::Empty.into()),
            files => files,
        }
    }

    fn read_entries(&mut self, archive: &mut Archive<impl Read>) -> Result<Vec<ChartFile>, LoadError> {
        let mut files = Vec::new();
        for entry in archive.entries().map_err(|error| unreadable(&error))? {
            let mut entry = entry.map_err(|error| unreadable(&error))?;
            self.count_entry()?;
            let raw = entry.path_bytes().into_owned();
            let is_extension = entry.header().entry_type().is_pax_global_extensions();
            if is_extension || is_directory(&raw, entry.header()) {
                continue;
            }
            let path = path_in_chart(&raw)?;
            if entry.size() > 0 && is_header_only(entry.header().entry_type()) {
                return Err(self.too_large());
            }
            self.check_size(&raw, entry.size())?;
            let mut content = Vec::new();
            entry.read_to_end(&mut content).map_err(|error| unreadable(&error))?;
            let bytes = content.len() as u64;
            if bytes < entry.size() {
                return Err(malformed("unexpected EOF"));
            }
            self.bytes = self.bytes.saturating_add(bytes);
            // Helm checks this after each file, so that the limit itself is too much.
            if self.bytes_left() == 0 {
                return Err(self.too_large());
            }
            files.push(ChartFile { path, bytes: Arc::from(without_bom(&content)) });
        }
        Ok(files)
    }

    /// Checks the size in a header before the content is read.
    fn check_size(&self, raw: &[u8], size: u64) -> Result<(), LoadError> {
        if size > self.bytes_left() {
            return Err(self.too_large());
        }
        match self.limits.file_bytes {
            Some(max) if size > max => {
                Err(LoadError::EntryTooLarge { file: String::from_utf8_lossy(raw).into_owned(), max })
            }
            _ => Ok(()),
        }
    }

    fn bytes_left(&self) -> u64 {
        self.limits.bytes.saturating_sub(self.bytes)
    }

    fn too_large(&self) -> LoadError {
        let limit = match self.version {
            HelmVersion::V3 => "file size",
            HelmVersion::V4 => "size",
        };
        LoadError::ArchiveTooLarge { limit, max: self.limits.bytes }
    }
}

/// Returns an archive of files in a directory of this name, which must be the name of a file.
pub(super) fn packed(files: &[ChartFile], name: &str) -> Result<Vec<u8>, LoadError> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let written = files.iter().try_for_each(|file| {
        let mut header = Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("{name}/{}", file.path), &*file.bytes)
    });
    let packed = written.and_then(|()| archive.into_inner()).and_then(GzEncoder::finish);
    packed.map_err(|error| malformed(error.to_string()))
}

/// Whether Go's reader takes an entry for a directory: by its type, by its mode, or in an old archive by a slash at the end of its path.
fn is_directory(path: &[u8], header: &Header) -> bool {
    let kind = header.entry_type();
    kind.is_dir()
        || header.mode().is_ok_and(|mode| mode & MODE_TYPE == MODE_DIRECTORY)
        || (header.as_old().linkflag == [0] && path.ends_with(b"/"))
}

/// Whether Go's reader skips no content after an entry of this type. Helm then misses the content that a header promises, and reports a
/// chart that is too large.
fn is_header_only(kind: EntryType) -> bool {
    matches!(
        kind,
        EntryType::Link | EntryType::Symlink | EntryType::Char | EntryType::Block | EntryType::Fifo
    )
}

/// Returns the path of an entry in its chart. As in Helm, a path with a backslash is one of Windows.
fn path_in_chart(raw: &[u8]) -> Result<String, ArchiveError> {
    let not_utf8 = || ArchiveError::NotUtf8 { path: raw.to_vec() };
    let whole = str::from_utf8(raw).map_err(|_| not_utf8())?;
    let delimiter = if whole.contains('\\') { '\\' } else { '/' };
    let (directory, path) = whole.split_once(delimiter).unwrap_or((whole, ""));
    let path = path.replace(delimiter, "/");
    if path.starts_with('/') {
        return Err(ArchiveError::AbsolutePath);
    }
    let path = String::from_utf8(clean(path.as_bytes())).map_err(|_| not_utf8())?;
    if path == "." {
        return Err(ArchiveError::OutsideBase { path: whole.to_owned() });
    }
    if path.starts_with("..") {
        return Err(ArchiveError::ParentDirectory);
    }
    if let [letter, b':', b'/', ..] = path.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err(ArchiveError::DriveLetter);
    }
    if directory == "Chart.yaml" {
        return Err(ArchiveError::ChartIsDirectory);
    }
    Ok(path)
}

fn malformed(problem: impl Into<String>) -> LoadError {
    ArchiveError::Malformed { problem: problem.into() }.into()
}

fn unreadable(error: &io::Error) -> LoadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => malformed("unexpected EOF"),
        io::ErrorKind::InvalidInput => malformed("gzip: invalid header"),
        _ => malformed(error.to_string()),
    }
}
