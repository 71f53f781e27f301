//! What `render` writes into files: all of it or nothing.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Done, documents, summary, value};
use crate::args::OutputFormat;
use crate::failure::Failure;
use crate::output;

/// Permissions of manifests: they are for others, too.
const MANIFEST_MODE: u32 = 0o644;

/// Permissions of the report: parameters and messages of plugins may contain secrets.
const REPORT_MODE: u32 = 0o600;

/// Writes one file per application, `<namespace>/<app>.yaml` (`.json` with `-o json`). Every file is written beside its place first,
/// so that a full disk leaves the old files as they were.
pub(super) fn write_manifests(
    dir: &Path,
    done: &[Done],
    format: OutputFormat,
    control_plane: &str,
) -> Result<(), Failure> {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for one in done {
        let namespace = one.stored.namespace(control_plane);
        let name = &one.stored.application.metadata.name;
        for (what, text) in [("namespace", namespace), ("name", name.as_str())] {
            if text.is_empty()
                || text.contains(|c: char| c == '/' || c.is_control())
                || text == "."
                || text == ".."
            {
                return Err(Failure::bad_input(format!(
                    "{}: the {what} {text:?} cannot be a file's name",
                    one.stored.place
                )));
            }
        }
        let (extension, text) = match format {
            OutputFormat::Json => (
                "json",
                output::json(&output::list(&one.rendered.manifests.iter().map(value).collect::<Vec<_>>())),
            ),
            _ => ("yaml", documents(one.rendered.manifests.iter())),
        };
        texts.insert(dir.join(namespace).join(format!("{name}.{extension}")), text);
    }
    let mut written = Vec::new();
    for (path, text) in &texts {
        refuse_link(path.parent().unwrap_or(dir))?;
        let path = output::destination("--output-dir", path)?;
        written.push((write_beside(&path, text, MANIFEST_MODE)?, path));
    }
    for (file, path) in written {
        keep(file, &path)?;
    }
    Ok(())
}

/// Writes the report.
pub(super) fn write_report(path: &Path, done: &[Done]) -> Result<(), Failure> {
    let path = output::destination("--report", path)?;
    keep(write_beside(&path, &output::json(&summary::json(done)), REPORT_MODE)?, &path)
}

/// A namespace's folder that is a link would lead the files out of the folder that was asked for.
fn refuse_link(folder: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(Failure::bad_input(format!(
            "--output-dir: {} is a symbolic link; remove it",
            folder.display()
        )));
    }
    Ok(())
}

fn write_beside(path: &Path, text: &str, mode: u32) -> Result<NamedTempFile, Failure> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
        Ok(file)
    };
    write().map_err(|error: std::io::Error| {
        Failure::rendering(format!("cannot write {}: {error}", path.display()))
    })
}

fn keep(file: NamedTempFile, path: &Path) -> Result<(), Failure> {
    file.persist(path)
        .map_err(|error| Failure::rendering(format!("cannot write {}: {}", path.display(), error.error)))?;
    Ok(())
}

#[cfg(test)]
mod tests;
