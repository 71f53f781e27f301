//! The files that `render` writes: all of them or none.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::NamedTempFile;
use tiphys_engine::Manifest;
use tiphys_store::StoredApplication;

use super::spool;
use crate::args::OutputFormat;
use crate::error::ServiceError;
use crate::output;

/// The option's name in messages.
const OUTPUT_DIR: &str = "--output-dir";

/// Mode of manifest files. Temporary files are private, manifests are not.
const MANIFEST_MODE: u32 = 0o644;

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

    /// Returns the files of the output directory that have the form of an application's, and that no application of this round has.
    pub(super) fn left_over(&self) -> Result<Vec<PathBuf>, ServiceError> {
        let failed =
            |error| ServiceError::rendering(format!("{OUTPUT_DIR}: {}: {error}", self.dir.display()));
        let extension = extension(self.format);
        let mut found = Vec::new();
        for namespace in directory_entries(&self.dir).map_err(failed)? {
            if !namespace.is_dir() || namespace.is_symlink() {
                continue;
            }
            let files = directory_entries(&namespace).map_err(failed)?;
            let is_left_over = |file: &PathBuf| {
                file.extension().is_some_and(|found| found == extension)
                    && fs::symlink_metadata(file).is_ok_and(|found| found.is_file())
                    && !self.files.contains_key(file)
            };
            found.extend(files.into_iter().filter(is_left_over));
        }
        found.sort();
        Ok(found)
    }

    /// Writes each file to a temporary name in its directory, then renames all of them.
    pub(super) fn move_into_place(mut self) -> Result<(), ServiceError> {
        let mut written = Vec::new();
        for (path, (begin, bytes)) in &self.files {
            refuse_link(path.parent().unwrap_or(&self.dir))?;
            let path = output::destination(OUTPUT_DIR, path)?;
            let file = write_beside(&path, &mut self.texts, *begin, *bytes);
            written.push((file.map_err(|error| unwritten(&path, &error))?, path));
        }
        for (file, path) in written {
            file.persist(&path).map_err(|error| unwritten(&path, &error.error))?;
        }
        Ok(())
    }
}

/// Removes files of applications that are gone, and the directories that become empty.
pub(super) fn remove(files: &[PathBuf]) -> Result<(), ServiceError> {
    for file in files {
        fs::remove_file(file).map_err(|error| {
            ServiceError::rendering(format!("--prune: cannot remove {}: {error}", file.display()))
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

/// Returns the paths in a directory; none if it does not exist.
fn directory_entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

fn write_beside(path: &Path, texts: &mut File, begin: u64, bytes: u64) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    texts.seek(SeekFrom::Start(begin))?;
    io::copy(&mut texts.take(bytes), &mut file)?;
    file.as_file().set_permissions(Permissions::from_mode(MANIFEST_MODE))?;
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
