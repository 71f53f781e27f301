//! Reads the files of a chart's directory.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_chart::{ChartFile, LoadLimits};
use tiphys_tree::read_bounded;

use super::{CHART, CHARTS, HELM_IGNORE, REQUIREMENTS};
use crate::dependencies::BuiltCharts;

/// Names of files that affect values.
const WITH_VALUES: [&str; 5] = [CHART, REQUIREMENTS, "values.yaml", "values.schema.json", HELM_IGNORE];

/// Maximum depth of a directory in a chart. That of nested charts is limited to less.
const DEPTH_MAX: usize = 100;

/// Why the files of a chart cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
    #[error("the chart has too many files")]
    TooMany,
    #[error("{} is nested too deeply", .0.display())]
    TooDeep(PathBuf),
    #[error("{} is too large", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is not a file", .0.display())]
    NoFile(PathBuf),
    #[error("{} is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    #[error("link {} leads out of the repository, or to a directory that contains it", .0.display())]
    Link(PathBuf),
    #[error("{} cannot be read: {cause}", path.display())]
    Read {
        path: PathBuf,
        /// The system's answer; part of the message.
        cause: io::Error,
    },
}

impl FilesError {
    /// Whether a limit is the cause.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::TooMany | Self::TooDeep(_) | Self::TooLarge(_))
    }
}

/// Which content is read. Other entries of the directory become empty files, without a look at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    All,
    /// Files that affect values.
    Values,
}

/// Returns the files of a chart's directory. Links lead to files below `root`.
pub(crate) fn files(
    root: &Path,
    folder: &Path,
    content: Content,
    limits: LoadLimits,
) -> Result<Vec<ChartFile>, FilesError> {
    let root = root.canonicalize().map_err(|cause| unreadable(root, cause))?;
    let (bytes_left, entries_left) = (limits.bytes, limits.entries);
    let mut files = Files { root, content, found: Vec::new(), bytes_left, entries_left };
    files.add(folder, "")?;
    Ok(files.found)
}

/// Replaces archives in `charts` by those of a build.
pub(crate) fn add_built(files: &mut Vec<ChartFile>, built: &BuiltCharts) {
    let in_charts = |name: &String| format!("{CHARTS}/{name}");
    let BuiltCharts { added, removed } = built;
    let replaced: BTreeSet<String> =
        removed.iter().chain(added.iter().map(|(name, _)| name)).map(in_charts).collect();
    files.retain(|file| !replaced.contains(&file.path));
    let archive =
        |(name, bytes): &(String, Arc<[u8]>)| ChartFile { path: in_charts(name), bytes: Arc::clone(bytes) };
    files.extend(added.iter().map(archive));
}

struct Files {
    root: PathBuf,
    content: Content,
    found: Vec<ChartFile>,
    bytes_left: u64,
    /// Links between directories may have many paths to one file.
    entries_left: usize,
}

impl Files {
    fn add(&mut self, folder: &Path, prefix: &str) -> Result<(), FilesError> {
        if prefix.matches('/').count() > DEPTH_MAX {
            return Err(FilesError::TooDeep(folder.to_path_buf()));
        }
        let entries = fs::read_dir(folder).map_err(|cause| unreadable(folder, cause))?;
        for entry in entries {
            let entry = entry.map_err(|cause| unreadable(folder, cause))?;
            self.entries_left = self.entries_left.checked_sub(1).ok_or(FilesError::TooMany)?;
            let name = entry.file_name();
            let path = format!("{prefix}{}", name.to_string_lossy());
            if self.content == Content::Values && !affects_values(&path) {
                self.found.push(ChartFile { path, bytes: Arc::default() });
            } else if name.to_str().is_none() {
                return Err(FilesError::NotUtf8(entry.path()));
            } else {
                self.add_entry(folder, &entry, path)?;
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, folder: &Path, entry: &fs::DirEntry, name: String) -> Result<(), FilesError> {
        let path = entry.path();
        let fail = |cause| unreadable(&path, cause);
        let mut kind = entry.file_type().map_err(fail)?;
        if kind.is_symlink() {
            let target = fs::canonicalize(&path).map_err(fail)?;
            if !target.starts_with(&self.root) || folder.starts_with(&target) {
                return Err(FilesError::Link(path));
            }
            kind = fs::metadata(&target).map_err(fail)?.file_type();
        }
        if kind.is_dir() {
            return self.add(&path, &format!("{name}/"));
        }
        if !kind.is_file() {
            return Err(FilesError::NoFile(path));
        }
        let bytes = read_bounded(&path, self.bytes_left).map_err(fail)?;
        let bytes = bytes.ok_or_else(|| FilesError::TooLarge(path.clone()))?;
        self.bytes_left -= bytes.len() as u64;
        self.found.push(ChartFile { path: name, bytes: bytes.into() });
        Ok(())
    }
}

/// Whether a path of a chart is a file that affects values, or may be a directory with such files.
fn affects_values(path: &str) -> bool {
    let Some((directory, rest)) = path.split_once('/') else {
        return path == CHARTS || WITH_VALUES.contains(&path);
    };
    directory == CHARTS && rest.split_once('/').is_none_or(|(_, inside)| affects_values(inside))
}

fn unreadable(path: &Path, cause: io::Error) -> FilesError {
    FilesError::Read { path: path.to_path_buf(), cause }
}
