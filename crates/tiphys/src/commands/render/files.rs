//! The files that `render` writes: all of them or none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Component::Normal;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::NamedTempFile;
use tiphys_engine::Manifest;
use tiphys_store::{OUTPUT_LIST, StoredApplication};
use tiphys_tree::{FileOwner, open_file, read_to_bound};

use super::spool;
use crate::args::OutputFormat;
use crate::error::ServiceError;
use crate::output;

/// The option's name in messages.
const OUTPUT_DIR: &str = "--output-dir";

/// The option that removes files in messages.
const PRUNE: &str = "--prune";

/// Maximum bytes of the list: enough for more than 100,000 applications.
const LIST_BYTES_MAX: u64 = 32 << 20;

/// Collects one file per application, `<namespace>/<app>.yaml` (`.json` with `-o json`). All are stored in one unnamed temporary file until
/// all applications are rendered, so that a failure or a full disk leaves existing files unchanged. It is outside of the output directory,
/// which may be part of a rendered repository.
pub(super) struct Staging {
    /// The requested directory.
    dir: PathBuf,
    format: OutputFormat,
    texts: File,
    /// For each path, the offset in `texts` and the length in bytes.
    files: BTreeMap<PathBuf, (u64, u64)>,
}

impl Staging {
    /// `temporary` is the directory for temporary files.
    pub(super) fn new(dir: &Path, temporary: &Path, format: OutputFormat) -> Result<Self, ServiceError> {
        output::destination(OUTPUT_DIR, &dir.join("NAMESPACE"))?;
        let texts = spool::unnamed_file(temporary)?;
        Ok(Self { dir: dir.to_path_buf(), format, texts, files: BTreeMap::new() })
    }

    /// Writes the manifests of an application.
    pub(super) fn add(
        &mut self,
        stored: &StoredApplication,
        manifests: Vec<Manifest>,
        control_plane: &str,
    ) -> Result<(), ServiceError> {
        let namespace = stored.namespace(control_plane);
        let name = &stored.application.metadata.name;
        for (what, text) in [("namespace", namespace), ("name", name.as_str())] {
            if text.is_empty()
                || text.contains(|c: char| c == '/' || c.is_control())
                || text == "."
                || text == ".."
            {
                return Err(ServiceError::invalid_input(format!(
                    "{}: the {what} {text:?} cannot be a file's name",
                    stored.place
                )));
            }
        }
        let values: Vec<Value> = manifests.into_iter().map(Manifest::into_value).collect();
        let text = match self.format {
            OutputFormat::Json => output::json(&output::list(&values)),
            _ => output::documents(&values),
        };
        let path = self.dir.join(namespace).join(format!("{name}.{}", extension(self.format)));
        let begin = self.texts.stream_position().and_then(|begin| {
            self.texts.write_all(text.as_bytes())?;
            Ok(begin)
        });
        self.files.insert(path, (begin.map_err(|error| spool::unwritten(&error))?, text.len() as u64));
        Ok(())
    }

    /// Returns the files that earlier rounds wrote to the output directory, and that no application of this round has.
    pub(super) fn left_over(&self) -> Result<Vec<PathBuf>, ServiceError> {
        let mut found = self.recorded()?;
        found.retain(|file| {
            let is_in_directory = file.parent().is_some_and(|namespace| !namespace.is_symlink());
            let is_file = fs::symlink_metadata(file).is_ok_and(|found| found.is_file());
            is_in_directory && is_file && !self.files.contains_key(file)
        });
        Ok(found.into_iter().collect())
    }

    /// Returns the paths in the list of the output directory.
    fn recorded(&self) -> Result<BTreeSet<PathBuf>, ServiceError> {
        let list = self.dir.join(OUTPUT_LIST);
        // A commit may contain the list, so no link is followed.
        let opened = open_file(&list, FileOwner::Repository, File::options().read(true));
        let text = match opened.map_err(io::Error::from).and_then(|file| read_to_bound(file, LIST_BYTES_MAX))
        {
            Err(error) if is_absent(&error) => return Ok(BTreeSet::new()),
            Ok(Some(text)) => text,
            Ok(None) => return Err(unusable_list(&list, &format!("more than {LIST_BYTES_MAX} bytes"))),
            Err(error) => return Err(unusable_list(&list, &error.to_string())),
        };
        let text = String::from_utf8(text).map_err(|_| unusable_list(&list, "not UTF-8"))?;
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with('#'));
        let paths = lines.map(|(line, number)| {
            let mut parts = Path::new(line).components();
            let is_of_application = matches!(
                (parts.next(), parts.next(), parts.next()),
                (Some(Normal(_)), Some(Normal(_)), None)
            );
            let path = is_of_application.then(|| self.dir.join(line));
            path.ok_or_else(|| unusable_list(&list, &format!("line {number} is not NAMESPACE/FILE")))
        });
        paths.collect()
    }

    /// Writes each file to a temporary name in its directory, then renames all of them, after the list of them. `removed` are files that the
    /// caller removes.
    pub(super) fn move_into_place(mut self, removed: &[PathBuf]) -> Result<(), ServiceError> {
        let mut written = Vec::new();
        let mut list = self.recorded()?;
        list.retain(|path| !removed.contains(path));
        list.extend(self.files.keys().cloned());
        for (path, (begin, bytes)) in &self.files {
            refuse_link(path.parent().unwrap_or(&self.dir))?;
            let path = output::destination(OUTPUT_DIR, path)?;
            let file = write_beside(&path, &mut self.texts, *begin, *bytes);
            written.push((file.map_err(|error| unwritten(&path, &error))?, path));
        }
        self.write_list(&list)?;
        for (file, path) in written {
            file.persist(&path).map_err(|error| unwritten(&path, &error.error))?;
        }
        Ok(())
    }

    fn write_list(&self, files: &BTreeSet<PathBuf>) -> Result<(), ServiceError> {
        let mut text = "# The files that tiphys wrote here, for --prune.\n".to_owned();
        for file in files.iter().filter_map(|file| file.strip_prefix(&self.dir).ok()) {
            text.push_str(&file.to_string_lossy());
            text.push('\n');
        }
        output::replace_file(OUTPUT_DIR, &self.dir.join(OUTPUT_LIST), text.as_bytes(), output::PUBLIC_MODE)
    }
}

/// Whether a path does not exist. What is instead of a directory is reported when files are written.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unusable_list(list: &Path, problem: &str) -> ServiceError {
    ServiceError::invalid_input(format!("{OUTPUT_DIR}: {}: {problem}; remove this list", list.display()))
}

/// Removes files of applications that are gone, and the directories that become empty.
pub(super) fn remove(files: &[PathBuf]) -> Result<(), ServiceError> {
    for file in files {
        let file = &output::destination(PRUNE, file)?;
        fs::remove_file(file).map_err(|error| {
            ServiceError::rendering(format!("{PRUNE}: cannot remove {}: {error}", file.display()))
        })?;
        // A directory with other files stays.
        drop(file.parent().map(fs::remove_dir));
    }
    Ok(())
}

/// The extension of the files of applications.
fn extension(format: OutputFormat) -> &'static str {
    if format == OutputFormat::Json { "json" } else { "yaml" }
}

fn write_beside(path: &Path, texts: &mut File, begin: u64, bytes: u64) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    texts.seek(SeekFrom::Start(begin))?;
    io::copy(&mut texts.take(bytes), &mut file)?;
    file.as_file().set_permissions(Permissions::from_mode(output::PUBLIC_MODE))?;
    Ok(file)
}

/// Rejects a namespace directory that is a link, which would lead out of the output directory.
fn refuse_link(folder: &Path) -> Result<(), ServiceError> {
    if fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(ServiceError::invalid_input(format!(
            "{OUTPUT_DIR}: {} is a symbolic link; remove it",
            folder.display()
        )));
    }
    Ok(())
}

fn unwritten(path: &Path, error: &io::Error) -> ServiceError {
    ServiceError::rendering(format!("cannot write {}: {error}", path.display()))
}
