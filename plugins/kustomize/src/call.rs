//! The program's inputs, read once: arguments, environment, working directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{GIT_PROGRAM, HELM_PROGRAM};

/// The programs whose work a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The plugin.
    Plugin,
    /// Helm, called by kustomize.
    Helm,
    /// Git, called by kustomize.
    Git,
}

/// One call of the program.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The program that the call replaces.
    pub(crate) role: Role,
    /// The arguments after the program's name.
    pub(crate) arguments: Vec<OsString>,
    /// The environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The working directory: absolute, without links.
    pub(crate) folder: PathBuf,
    /// The file of the program.
    pub(crate) executable: PathBuf,
}

impl Call {
    /// Reads this process's environment. `arguments` begin with the program's name.
    #[expect(clippy::disallowed_methods, reason = "the one place of the program that reads them")]
    pub(crate) fn of_process(arguments: Vec<OsString>) -> Self {
        let mut arguments = arguments.into_iter();
        let program = arguments.next().unwrap_or_default();
        Self {
            role: match Path::new(&program).file_name() {
                Some(name) if name == HELM_PROGRAM => Role::Helm,
                Some(name) if name == GIT_PROGRAM => Role::Git,
                _ => Role::Plugin,
            },
            arguments: arguments.collect(),
            variables: std::env::vars_os().collect(),
            folder: std::env::current_dir().unwrap_or_default(),
            executable: std::env::current_exe().unwrap_or_default(),
        }
    }

    /// Returns a variable that is set, not empty, and UTF-8.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().rfind(|(other, _)| other == name)?;
        found.1.to_str().filter(|value| !value.is_empty())
    }
}
