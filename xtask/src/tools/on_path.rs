//! Finds a program with a fitting version on `PATH`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::catalogue::Tool;
use crate::cargo::program;

/// Returns the first program on `PATH` with one of the tool's names and a fitting version, in the order of the names, except `except`.
pub(super) fn fitting(tool: &Tool, except: &Path) -> Option<PathBuf> {
    tool.names_on_path
        .iter()
        .flat_map(|name| candidates(name))
        .filter(|candidate| candidate.parent() != Some(except))
        .find(|candidate| printed_version(tool, candidate).is_some_and(|text| tool.fits(&text)))
}

/// Returns the files with this name in the directories of `PATH`, in order.
pub(super) fn candidates(name: &str) -> Vec<PathBuf> {
    env::split_paths(&search_path())
        // With a relative entry, a link would depend on the current directory.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .filter(|candidate| candidate.is_file())
        .collect()
}

/// Returns the program's version output; `None` if it fails.
pub(super) fn printed_version(tool: &Tool, candidate: &Path) -> Option<String> {
    let output = program(candidate)
        .args(tool.version_arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "PATH is searched")]
fn search_path() -> OsString {
    env::var_os("PATH").unwrap_or_default()
}
