//! The program, and other programs, without anything of the user's own settings.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{PLACE, REPOSITORY_URL, STORE};
use crate::cargo::program;
use crate::{Failure, tools};

/// Variables that change what git, helm and tiphys do, by the beginning of their names.
const SETTINGS: [&str; 5] = ["GIT_", "HELM_", "TIPHYS_", "ARGOCD_", "XDG_"];

/// tiphys, called with the options that the example store needs.
#[derive(Clone)]
pub(super) struct Program {
    file: PathBuf,
    root: PathBuf,
    home: PathBuf,
    /// The store, the plugins and the repository that commands are given.
    options: Vec<String>,
}

/// What a command answered.
pub(super) struct Answer {
    /// Its exit code; none after a signal.
    pub(super) code: Option<i32>,
    /// What it printed.
    pub(super) stdout: String,
    /// What it told.
    pub(super) stderr: String,
}

impl Program {
    /// The program in `file`, called from the workspace's root; what it keeps goes to `place`.
    pub(super) fn new(root: &Path, place: &Path, file: PathBuf) -> Self {
        let program = Self { file, root: root.to_path_buf(), home: place.join("home"), options: Vec::new() };
        program.with_store(STORE)
    }

    /// The same, with another store.
    pub(super) fn with_store(&self, store: &str) -> Self {
        let plugins = ["plugins", "examples/plugins"];
        self.with_world(store, &plugins, &[(REPOSITORY_URL, &format!("{PLACE}/repository"))])
    }

    /// The same, with another store, other folders of plugins, and folders that stand for repositories.
    pub(super) fn with_world(&self, store: &str, plugins: &[&str], repositories: &[(&str, &str)]) -> Self {
        let mut options = vec!["--store".to_owned(), store.to_owned()];
        options.extend(plugins.iter().flat_map(|folder| ["--plugins".to_owned(), (*folder).to_owned()]));
        let folders = repositories.iter().map(|(url, folder)| format!("{url}={folder}"));
        options.extend(folders.flat_map(|folder| ["--repo".to_owned(), folder]));
        Self { options, ..self.clone() }
    }

    /// The same, for commands that need no Applications.
    pub(super) fn without_store(&self) -> Self {
        Self { options: Vec::new(), ..self.clone() }
    }

    /// The folder that holds the program.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }

    /// Runs a command and gives what it printed on standard output; the rest goes to the terminal.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        let output = self.command(arguments)?.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| Failure::at(&self.file, error))?;
        if output.status.success() {
            text(output.stdout)
        } else {
            Err(Failure::new(format!("tiphys {}: {}", arguments.join(" "), output.status)))
        }
    }

    /// Runs a command and gives all that it answered, whatever that is.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Answer, Failure> {
        let output = self.command(arguments)?.output().map_err(|error| Failure::at(&self.file, error))?;
        Ok(Answer { code: output.status.code(), stdout: text(output.stdout)?, stderr: text(output.stderr)? })
    }

    fn command(&self, arguments: &[&str]) -> Result<Command, Failure> {
        let mut command = isolated(&self.file, &self.home);
        command
            .args(arguments)
            .args(&self.options)
            .args(["--cache-dir", &format!("{PLACE}/cache")])
            .env("PATH", search_path(&self.root, self.folder())?)
            .current_dir(&self.root);
        Ok(command)
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| Failure::new("tiphys printed something that is not UTF-8"))
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

/// `PATH` with the pinned tools first, and the programs of plugins, which are beside the program.
#[expect(clippy::disallowed_methods, reason = "plugins run the user's shell and its programs")]
fn search_path(root: &Path, programs: &Path) -> Result<OsString, Failure> {
    let inherited = env::var_os("PATH").unwrap_or_default();
    env::join_paths(
        [tools::bin(root), programs.to_path_buf()].into_iter().chain(env::split_paths(&inherited)),
    )
    .map_err(|error| Failure::at(root, error))
}
