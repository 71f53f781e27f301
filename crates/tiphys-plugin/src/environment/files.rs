//! The files that stand for large variables, and the folders that each run has for itself.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::passing::{EnvironmentError, file_variable};

/// Name of the folder in the run's own one, which stands beside the view of the tree and goes with the run.
const FOLDER: &str = "variables";

/// Whose `HOME` the commands of a run get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HomeFolder {
    /// The host's, which all runs share, so that plugins can keep caches there.
    #[default]
    Shared,
    /// An empty folder that is removed with the run.
    Private,
}

/// Makes the folders of one run below its own folder, which go with it; returns the variables that name them.
pub(crate) fn make_folders(
    run_dir: &Path,
    home: HomeFolder,
) -> Result<Vec<(String, String)>, EnvironmentError> {
    let mut wanted = vec![("TMPDIR", "tmp")];
    if home == HomeFolder::Private {
        wanted.push(("HOME", "home"));
    }
    let make = |(variable, name): (&str, &str)| {
        let path = run_dir.join(name);
        let made = DirBuilder::new().mode(0o700).create(&path).and_then(|()| utf8(path));
        let made = made.map_err(|source| EnvironmentError::File { variable: variable.to_owned(), source });
        Ok((variable.to_owned(), made?))
    };
    wanted.into_iter().map(make).collect()
}

/// Writes the values into files that nobody else can read; the variables with their paths.
pub(crate) async fn write(
    run_dir: PathBuf,
    files: Vec<(&'static str, String)>,
) -> Result<Vec<(String, String)>, EnvironmentError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let first = files.first().map_or("", |(name, _)| *name);
    let fail = |source| EnvironmentError::File { variable: file_variable(first), source };
    let written = tokio::task::spawn_blocking(move || write_all(&run_dir.join(FOLDER), &files)).await;
    written.map_err(|stopped| fail(io::Error::other(stopped)))?
}

fn write_all(
    folder: &Path,
    files: &[(&'static str, String)],
) -> Result<Vec<(String, String)>, EnvironmentError> {
    let mut variables = Vec::with_capacity(files.len());
    for (name, value) in files {
        let variable = file_variable(name);
        let path = write_one(folder, name, value)
            .map_err(|source| EnvironmentError::File { variable: variable.clone(), source })?;
        variables.push((variable, path));
    }
    Ok(variables)
}

fn write_one(folder: &Path, name: &str, value: &str) -> io::Result<String> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let path = folder.join(name);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(value.as_bytes())?;
    utf8(path)
}

fn utf8(path: PathBuf) -> io::Result<String> {
    path.into_os_string().into_string().map_err(|path| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not UTF-8", path.display()))
    })
}
