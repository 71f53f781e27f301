//! The changes of a build in a chart's `charts`: added and removed packed charts.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path};

use serde_json::{Value, json};
use tiphys_tree::{FileOwner, open_file, read_to_bound};

use crate::chart::PACKED_CHART_BYTES_MAX;

/// Name of the file that lists an entry.
pub(crate) const FILE: &str = "entry.json";

/// Maximum bytes of that file: enough for many thousand dependencies.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// The files in `charts`, as name to digest. Directories are omitted, since no build changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<String, String>);

/// The difference between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Added or changed files: name to digest.
    written: BTreeMap<String, String>,
    /// Names of removed files.
    removed: Vec<String>,
}

impl Snapshot {
    /// Reads a directory; a missing one is empty.
    pub(crate) fn of(charts: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let read = match fs::read_dir(charts) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self(files)),
            read => read?,
        };
        for entry in read {
            let entry = entry?;
            if entry.path().is_file() {
                let name = entry.file_name().into_string();
                let name =
                    name.map_err(|name| io::Error::other(format!("{} is not UTF-8", name.display())))?;
                files.insert(name, digest(&fs::read(entry.path())?));
            }
        }
        Ok(Self(files))
    }

    /// Returns the changes from this snapshot to `after`.
    pub(crate) fn difference(&self, after: &Self) -> Difference {
        let is_new = |(name, digest): &(&String, &String)| self.0.get(*name) != Some(*digest);
        let written = after.0.iter().filter(is_new).map(|(name, digest)| (name.clone(), digest.clone()));
        let removed = self.0.keys().filter(|name| !after.0.contains_key(*name));
        Difference { written: written.collect(), removed: removed.cloned().collect() }
    }
}

impl Difference {
    /// Writes an entry into an empty directory.
    pub(crate) fn write(&self, charts: &Path, entry: &Path) -> io::Result<()> {
        for (name, digest) in &self.written {
            fs::copy(charts.join(name), entry.join(digest))?;
        }
        let list = json!({ "written": self.written, "removed": self.removed });
        let mut open = OpenOptions::new();
        open.write(true)
            .create_new(true)
            .mode(0o600)
            .open(entry.join(FILE))?
            .write_all(list.to_string().as_bytes())
    }

    /// Reads an entry's list; `None` if it is missing or invalid.
    pub(crate) fn read(entry: &Path) -> Option<Self> {
        if !fs::symlink_metadata(entry).ok()?.is_dir() {
            return None;
        }
        let list: Value = serde_json::from_slice(&read(&entry.join(FILE), LIST_BYTES_MAX).ok()?).ok()?;
        let name = |name: &str| is_name(name).then(|| name.to_owned());
        let written = list.get("written")?.as_object()?.iter();
        let removed = list.get("removed")?.as_array()?.iter();
        Some(Self {
            written: written
                .map(|(key, digest)| Some((name(key)?, name(digest.as_str()?)?)))
                .collect::<Option<_>>()?,
            removed: removed.map(|one| name(one.as_str()?)).collect::<Option<_>>()?,
        })
    }

    /// Applies the changes to `charts`. Fails before any change if a file does not match its digest.
    pub(crate) fn apply(&self, entry: &Path, charts: &Path) -> io::Result<()> {
        let files = self.files(entry)?;
        fs::create_dir_all(charts)?;
        for name in &self.removed {
            fs::remove_file(charts.join(name))?;
        }
        files.iter().try_for_each(|(name, bytes)| replace(&charts.join(name), bytes))
    }

    /// Returns the added or changed files, and verifies their digests.
    pub(crate) fn files(&self, entry: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
        let each = self.written.iter().map(|(name, expected)| {
            let bytes = read(&entry.join(expected), PACKED_CHART_BYTES_MAX)?;
            if digest(&bytes) != *expected {
                return Err(io::ErrorKind::InvalidData.into());
            }
            Ok((name.clone(), bytes))
        });
        each.collect()
    }

    /// The names of removed files.
    pub(crate) fn removed(&self) -> &[String] {
        &self.removed
    }
}

/// Replaces a file. A link of the chart is removed first, since it leads into the repository.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path)?.write_all(bytes),
    }
}

/// Reads a file of an entry.
fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path, FileOwner::Program, File::options().read(true))?;
    read_to_bound(file, bytes_max)?.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Whether a string is a single file name.
fn is_name(text: &str) -> bool {
    let mut components = Path::new(text).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(name)), None) if name == text)
}
