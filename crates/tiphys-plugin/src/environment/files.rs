//! The files with large variables, and the private directories of each run.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::passing::{EnvironmentError, file_variable};

/// Name of the directory in the run directory. It is outside the view of the tree.
const DIRECTORY: &str = "variables";

/// The `HOME` of the commands of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HomeFolder {
    /// The host's, shared by all runs, so that plugins can keep caches there.
    #[default]
    Shared,
    /// An empty directory that is removed with the run.
    Private,
}

/// Makes the private directories of a run in its run directory. Returns the variables with their paths.
pub(crate) fn make_directories(
    run_dir: &Path,
    home: HomeFolder,
) -> Result<Vec<(String, String)>, EnvironmentError> {
    let mut directories = vec![("TMPDIR", "tmp")];
    if home == HomeFolder::Private {
        directories.push(("HOME", "home"));
    }
    let make = |(variable, name): (&str, &str)| {
        let path = run_dir.join(name);
        let made = DirBuilder::new().mode(0o700).create(&path).and_then(|()| utf8(path));
        let made = made.map_err(|source| EnvironmentError::File { variable: variable.to_owned(), source });
        Ok((variable.to_owned(), made?))
    };
    directories.into_iter().map(make).collect()
}

/// Writes the values to files that only this user can read. Returns the variables with their paths.
pub(crate) async fn write(
    run_dir: PathBuf,
    files: Vec<(&'static str, String)>,
) -> Result<Vec<(String, String)>, EnvironmentError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let first = files.first().map_or("", |(name, _)| *name);
    let fail = |source| EnvironmentError::File { variable: file_variable(first), source };
    let written = tokio::task::spawn_blocking(move || write_all(&run_dir.join(DIRECTORY), &files)).await;
    written.map_err(|stopped| fail(io::Error::other(stopped)))?
}

fn write_all(
    directory: &Path,
    files: &[(&'static str, String)],
) -> Result<Vec<(String, String)>, EnvironmentError> {
    let mut variables = Vec::with_capacity(files.len());
    for (name, value) in files {
        let variable = file_variable(name);
        let path = write_one(directory, name, value)
            .map_err(|source| EnvironmentError::File { variable: variable.clone(), source })?;
        variables.push((variable, path));
    }
    Ok(variables)
}

fn write_one(directory: &Path, name: &str, value: &str) -> io::Result<String> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let path = directory.join(name);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(value.as_bytes())?;
    utf8(path)
}

fn utf8(path: PathBuf) -> io::Result<String> {
    path.into_os_string().into_string().map_err(|path| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not UTF-8", path.display()))
    })
}
