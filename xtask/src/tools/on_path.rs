//! Looks for a fitting program on `PATH`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::catalogue::Tool;
use crate::cargo::program;

/// The first program on `PATH` under one of the tool's names whose version fits. Folders are searched for one name after the
/// other; `except` is left out.
pub(super) fn fitting(tool: &Tool, except: &Path) -> Option<PathBuf> {
    tool.names_on_path
        .iter()
        .flat_map(|name| candidates(name))
        .filter(|candidate| candidate.parent() != Some(except))
        .find(|candidate| printed_version(tool, candidate).is_some_and(|text| tool.fits(&text)))
}

/// The files of this name in the folders of `PATH`, in its order.
pub(super) fn candidates(name: &str) -> Vec<PathBuf> {
    env::split_paths(&search_path())
        // A relative entry would make a link depend on where it is followed from.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .filter(|candidate| candidate.is_file())
        .collect()
}

/// What the program says about its version; `None` if it cannot be asked.
pub(super) fn printed_version(tool: &Tool, candidate: &Path) -> Option<String> {
    let output = program(candidate)
        .args(tool.version_arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "PATH is the question here")]
fn search_path() -> OsString {
    env::var_os("PATH").unwrap_or_default()
}
