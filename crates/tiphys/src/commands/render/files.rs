//! What `render` writes into files: all of it or nothing.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};
use tiphys_engine::Manifest;
use tiphys_store::StoredApplication;

use super::{Done, summary};
use crate::args::OutputFormat;
use crate::failure::Failure;
use crate::output;

/// The option in messages.
const OUTPUT_DIR: &str = "--output-dir";

/// Permissions of manifests. A temporary file is private; these are for others, too.
const MANIFEST_MODE: u32 = 0o644;

/// One file per application, `<namespace>/<app>.yaml` (`.json` with `-o json`). Each waits in a private folder until all applications are
/// rendered, so that a failure or a full disk leaves the old files as they were.
pub(super) struct Staging {
    /// The folder that was asked for.
    dir: PathBuf,
    format: OutputFormat,
    /// On the same file system as `dir`; removed with its content on every way out.
    folder: TempDir,
    /// Number of files in it.
    count: usize,
    /// By its place, the file that goes there.
    files: BTreeMap<PathBuf, PathBuf>,
}

impl Staging {
    /// Makes a private folder in `dir` or, if it does not exist yet, in the nearest folder above it.
    pub(super) fn new(dir: &Path, format: OutputFormat) -> Result<Self, Failure> {
        let folder = output::destination(OUTPUT_DIR, &dir.join("NAMESPACE"))?;
        let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        let folder = tempfile::Builder::new().prefix(".tiphys-").tempdir_in(existing);
        let folder = folder.map_err(|error| unwritten(existing, &error))?;
        Ok(Self { dir: dir.to_path_buf(), format, folder, count: 0, files: BTreeMap::new() })
    }

    /// Writes the manifests of an application.
    pub(super) fn add(
        &mut self,
        stored: &StoredApplication,
        manifests: Vec<Manifest>,
        control_plane: &str,
    ) -> Result<(), Failure> {
        let namespace = stored.namespace(control_plane);
        let name = &stored.application.metadata.name;
        for (what, text) in [("namespace", namespace), ("name", name.as_str())] {
            if text.is_empty()
                || text.contains(|c: char| c == '/' || c.is_control())
                || text == "."
                || text == ".."
            {
                return Err(Failure::bad_input(format!(
                    "{}: the {what} {text:?} cannot be a file's name",
                    stored.place
                )));
            }
        }
        let values: Vec<Value> = manifests.into_iter().map(Manifest::into_value).collect();
        let (extension, text) = match self.format {
            OutputFormat::Json => ("json", output::json(&output::list(&values))),
            _ => ("yaml", output::documents(&values)),
        };
        let path = self.dir.join(namespace).join(format!("{name}.{extension}"));
        let file = self.folder.path().join(self.count.to_string());
        fs::write(&file, text)
            .and_then(|()| fs::set_permissions(&file, Permissions::from_mode(MANIFEST_MODE)))
            .map_err(|error| unwritten(&path, &error))?;
        self.count += 1;
        self.files.insert(path, file);
        Ok(())
    }

    /// Moves all files to their places.
    pub(super) fn move_into_place(self) -> Result<(), Failure> {
        let mut places = Vec::new();
        for (path, file) in &self.files {
            refuse_link(path.parent().unwrap_or(&self.dir))?;
            places.push((output::destination(OUTPUT_DIR, path)?, file));
        }
        for (path, file) in places {
            fs::create_dir_all(path.parent().unwrap_or(&self.dir))
                .and_then(|()| fs::rename(file, &path))
                .map_err(|error| unwritten(&path, &error))?;
        }
        Ok(())
    }
}

/// Writes the report. As a temporary file it is readable by its owner only, and stays so: parameters and messages of plugins may contain
/// secrets.
pub(super) fn write_report(path: &Path, done: &[Done]) -> Result<(), Failure> {
    let path = output::destination("--report", path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(output::json(&summary::json(done)).as_bytes())?;
        file.persist(&path).map_err(|error| error.error)
    };
    write().map(drop).map_err(|error| unwritten(&path, &error))
}

/// A namespace's folder that is a link would lead the files out of the folder that was asked for.
fn refuse_link(folder: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(Failure::bad_input(format!(
            "{OUTPUT_DIR}: {} is a symbolic link; remove it",
            folder.display()
        )));
    }
    Ok(())
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::rendering(format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
