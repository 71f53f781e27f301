//! The files of a chart, in a directory or in an archive of `helm package`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_tree::Modes;
use tiphys_tree::archive::{self, ArchiveError, ArchiveLimits, Intake};
use tiphys_tree::read_bounded;

use super::CHART;

/// Maximum bytes of one file of an archive, and of a file without values: helm's limit of a file.
const FILE_BYTES_MAX: u64 = 5 << 20;

/// Maximum bytes of a packed chart: helm's limit of the unpacked size.
pub(crate) const PACKED_CHART_BYTES_MAX: u64 = 100 << 20;

/// Limits of a subchart's archive: helm's limit of all files of a chart; packed bytes as for any file of a repository.
const ARCHIVE_LIMITS: ArchiveLimits =
    ArchiveLimits { packed_bytes_max: PACKED_CHART_BYTES_MAX, entries_max: 20_000, bytes_max: 100 << 20 };

/// The directory with a chart's subcharts.
pub(crate) const SUBCHARTS: &str = "charts";

/// Names of the files that affect values.
const WANTED: [&str; 4] = [CHART, "requirements.yaml", "values.yaml", "values.schema.json"];

const ARCHIVE_END: &str = ".tgz";

const SIGNATURE_END: &str = ".prov";

#[derive(Clone, Debug)]
pub(crate) enum ChartFiles {
    Folder(PathBuf),
    /// Files of an archive, by their path in the chart.
    Archive(BTreeMap<String, Vec<u8>>),
}

/// A subchart that is not opened yet, so that one archive at a time is in memory.
#[derive(Clone, Debug)]
pub(crate) enum Subchart {
    Files(ChartFiles),
    /// An archive in a directory, and its path in the chart.
    ArchiveFile(PathBuf, String),
    /// An archive in an archive, and its path there.
    ArchiveBytes(Vec<u8>, String),
}

/// Errors of a chart's files.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("cannot read {name}")]
    Io {
        name: String,
        #[source]
        source: io::Error,
    },
    /// A file with values is too large.
    #[error("{name} has more than {max} bytes; increase TIPHYS_HELM_CHARTS_BYTES_MAX")]
    ValuesTooLarge { name: String, max: usize },
    /// Another file, or one of an archive, is too large.
    #[error("{name} has more than {FILE_BYTES_MAX} bytes; make it smaller")]
    TooLarge { name: String },
    #[error(
        "the archive {name} has more than {} bytes or {} files; make the chart smaller",
        ARCHIVE_LIMITS.bytes_max,
        ARCHIVE_LIMITS.entries_max
    )]
    ArchiveTooLarge { name: String },
    /// The archive is invalid.
    #[error("cannot read the archive {name}")]
    Archive {
        name: String,
        #[source]
        source: ArchiveError,
    },
}

impl ChartFiles {
    /// Reads only `Chart.yaml` of a packed chart.
    pub(crate) fn chart_of_archive(path: &Path) -> Result<Self, FileError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self::Archive(unpacked(&name, &read_archive(path, &name)?, &is_chart)?))
    }

    /// Reads a metadata file; `None` if it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        self.read_within(name, FILE_BYTES_MAX, |name| FileError::TooLarge { name })
    }

    /// Reads a file of values or its schema; `None` if it does not exist. In a directory it may exceed helm's limit for archives: Helm 4
    /// reads it.
    pub(crate) fn read_values(&self, name: &str, max: usize) -> Result<Option<Vec<u8>>, FileError> {
        self.read_within(name, max as u64, |name| FileError::ValuesTooLarge { name, max })
    }

    fn read_within(
        &self,
        name: &str,
        max: u64,
        too_large: impl FnOnce(String) -> FileError,
    ) -> Result<Option<Vec<u8>>, FileError> {
        match self {
            Self::Folder(folder) => read_file(&folder.join(name), name, max, too_large),
            Self::Archive(files) => match files.get(name) {
                Some(bytes) if bytes.len() as u64 > FILE_BYTES_MAX => {
                    Err(FileError::TooLarge { name: name.to_owned() })
                }
                file => Ok(file.cloned()),
            },
        }
    }

    /// Returns the subcharts in `charts`, sorted by file name. As in helm, names that start with `.` or `_` are skipped, and so are
    /// signatures.
    pub(crate) fn subcharts(&self) -> Result<Vec<(String, Subchart)>, FileError> {
        let is_one = |name: &str| !name.starts_with(['.', '_']) && !name.ends_with(SIGNATURE_END);
        match self {
            Self::Folder(folder) => in_folder(&folder.join(SUBCHARTS), is_one),
            Self::Archive(files) => Ok(in_archive(files, is_one)),
        }
    }
}

impl Subchart {
    /// Returns a packed chart as a file of `charts`; `None` if the name is not an archive's.
    pub(crate) fn packed(file: &str, bytes: Vec<u8>) -> Option<Self> {
        file.ends_with(ARCHIVE_END).then(|| Self::ArchiveBytes(bytes, format!("{SUBCHARTS}/{file}")))
    }

    pub(crate) fn open(self) -> Result<ChartFiles, FileError> {
        match self {
            Self::Files(files) => Ok(files),
            Self::ArchiveFile(path, name) => {
                Ok(ChartFiles::Archive(unpacked(&name, &read_archive(&path, &name)?, &is_wanted)?))
            }
            Self::ArchiveBytes(bytes, name) => Ok(ChartFiles::Archive(unpacked(&name, &bytes, &is_wanted)?)),
        }
    }
}

fn in_folder(charts: &Path, is_one: impl Fn(&str) -> bool) -> Result<Vec<(String, Subchart)>, FileError> {
    let entries = match fs::read_dir(charts).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        read => read.map_err(|source| FileError::Io { name: SUBCHARTS.to_owned(), source })?,
    };
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: BTreeSet<String> = names.filter(|name| is_one(name)).collect();
    let subchart = |name: String| {
        let path = charts.join(&name);
        if name.ends_with(ARCHIVE_END) {
            let shown = format!("{SUBCHARTS}/{name}");
            return Some((name, Subchart::ArchiveFile(path, shown)));
        }
        // Helm takes a stray file for a chart without files and rejects it; it does not see empty directories.
        (!is_empty_folder(&path)).then_some((name, Subchart::Files(ChartFiles::Folder(path))))
    };
    Ok(names.into_iter().filter_map(subchart).collect())
}

fn in_archive(files: &BTreeMap<String, Vec<u8>>, is_one: impl Fn(&str) -> bool) -> Vec<(String, Subchart)> {
    let mut folders: BTreeMap<&str, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    let mut found = Vec::new();
    for (path, bytes) in files {
        let Some((SUBCHARTS, rest)) = path.split_once('/') else { continue };
        match rest.split_once('/') {
            Some((folder, file)) => {
                folders.entry(folder).or_default().insert(file.to_owned(), bytes.clone());
            }
            None => found.push((rest.to_owned(), Subchart::ArchiveBytes(bytes.clone(), path.clone()))),
        }
    }
    let files = |files| Subchart::Files(ChartFiles::Archive(files));
    found.extend(folders.into_iter().map(|(name, inside)| (name.to_owned(), files(inside))));
    found.retain(|(name, _)| is_one(name));
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Unpacks the files of an archive whose path is `wanted`. Paths do not include the chart's own directory.
fn unpacked(
    name: &str,
    bytes: &[u8],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<BTreeMap<String, Vec<u8>>, FileError> {
    let intake = Intake { modes: Modes::Plain, limits: ARCHIVE_LIMITS, stop: &|| false };
    let files = archive::files(&mut &bytes[..], &intake, wanted).map_err(|source| match source {
        ArchiveError::TooManyPackedBytes { .. }
        | ArchiveError::TooManyNameBytes { .. }
        | ArchiveError::Write(_) => FileError::ArchiveTooLarge { name: name.to_owned() },
        source => FileError::Archive { name: name.to_owned(), source },
    })?;
    let inside =
        files.into_iter().filter_map(|(path, bytes)| Some((path.split_once('/')?.1.to_owned(), bytes)));
    Ok(inside.collect())
}

/// Whether a path of an archive is the chart's `Chart.yaml`.
fn is_chart(path: &str) -> bool {
    path.split_once('/').is_some_and(|(_, file)| file == CHART)
}

/// Whether a path of an archive is a file that affects values, at any depth, or the archive of a subchart.
fn is_wanted(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_subchart = name.ends_with(ARCHIVE_END) && folder.ends_with(&format!("/{SUBCHARTS}"));
    is_subchart || WANTED.contains(&name)
}

/// Reads an archive; empty if it does not exist.
fn read_archive(path: &Path, name: &str) -> Result<Vec<u8>, FileError> {
    let too_large = |name| FileError::ArchiveTooLarge { name };
    Ok(read_file(path, name, ARCHIVE_LIMITS.packed_bytes_max, too_large)?.unwrap_or_default())
}

/// Returns `None` if the file does not exist or is a directory.
fn read_file(
    path: &Path,
    name: &str,
    bytes_max: u64,
    too_large: impl FnOnce(String) -> FileError,
) -> Result<Option<Vec<u8>>, FileError> {
    match read_bounded(path, bytes_max) {
        Ok(Some(bytes)) => Ok(Some(bytes)),
        Ok(None) => Err(too_large(name.to_owned())),
        Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::IsADirectory => Ok(None),
        Err(source) => Err(FileError::Io { name: name.to_owned(), source }),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
