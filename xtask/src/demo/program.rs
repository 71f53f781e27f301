//! The program, and other programs, without anything of the user's own settings.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{PLACE, REPOSITORY_URL, STORE};
use crate::cargo::program;
use crate::{Failure, tools};

/// Variables that change what git and tiphys do, by the beginning of their names.
const SETTINGS: [&str; 4] = ["GIT_", "TIPHYS_", "ARGOCD_", "XDG_"];

/// tiphys, called with the options that the example store needs.
pub(super) struct Program {
    file: PathBuf,
    root: PathBuf,
    home: PathBuf,
}

impl Program {
    /// The program in `file`, called from the workspace's root; what it keeps goes to `place`.
    pub(super) fn new(root: &Path, place: &Path, file: PathBuf) -> Self {
        Self { file, root: root.to_path_buf(), home: place.join("home") }
    }

    /// The folder that holds the program.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// Runs a command and gives what it printed on standard output; the rest goes to the terminal.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        let output = isolated(&self.file, &self.home)
            .args(arguments)
            .args(["--store", STORE, "--plugins", "plugins", "--plugins", "examples/plugins"])
            .args(["--repo", &format!("{REPOSITORY_URL}={PLACE}/repository")])
            .args(["--cache-dir", &format!("{PLACE}/cache")])
            .env("PATH", search_path(&self.root)?)
            .current_dir(&self.root)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| Failure::at(&self.file, error))?;
        let text = String::from_utf8(output.stdout)
            .map_err(|_| Failure::new("tiphys printed something that is not UTF-8"))?;
        if output.status.success() {
            Ok(text)
        } else {
            Err(Failure::new(format!("tiphys {}: {}", arguments.join(" "), output.status)))
        }
    }
}

/// A program that finds an empty home folder and none of the settings.
#[expect(clippy::disallowed_methods, reason = "what is inherited has to be known to leave a part of it out")]
pub(super) fn isolated(name: impl Into<OsString>, home: &Path) -> Command {
    let mut command = program(name);
    for (variable, _) in env::vars_os() {
        if SETTINGS.iter().any(|start| variable.to_string_lossy().starts_with(start)) {
            command.env_remove(variable);
        }
    }
    command.env("HOME", home).stdin(Stdio::null());
    command
}

/// `PATH` with the pinned tools first.
#[expect(clippy::disallowed_methods, reason = "plugins run the user's shell and its programs")]
fn search_path(root: &Path) -> Result<OsString, Failure> {
    let inherited = env::var_os("PATH").unwrap_or_default();
    env::join_paths([tools::bin(root)].into_iter().chain(env::split_paths(&inherited)))
        .map_err(|error| Failure::at(root, error))
}
