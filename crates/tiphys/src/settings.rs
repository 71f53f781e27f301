//! The environment of the program, read once: arguments, variables, directories, terminals.

mod clock;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use tiphys_service::Host;

pub(crate) use clock::now;

use crate::built_in;

/// The command that is Argo CD's plugin server.
const CMP_SERVER: &str = "cmp-server";

/// The command that is Argo CD's ApplicationSet controller.
const APPSET_CONTROLLER: &str = "appset-controller";

/// The process: its arguments, its terminals, and the [`Host`] that use cases are given, to which it dereferences.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    arguments: Vec<OsString>,
    host: Host,
    stdout_terminal: bool,
    stderr_terminal: bool,
    /// Width of the terminal that is standard output.
    terminal_columns: Option<usize>,
}

impl Deref for Process {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

/// Returns this process's arguments, including the program's name.
pub(crate) fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Whether the arguments are those of a run's launcher.
pub(crate) fn is_launcher(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|first| first == tiphys_process::LAUNCHER_ARGUMENT)
}

impl Process {
    /// Reads this process's environment. Variables that are not UTF-8 are left out. `arguments` are those of [`arguments`].
    #[expect(clippy::disallowed_methods, reason = "the one place of the program that reads them")]
    pub(crate) fn current(arguments: Vec<OsString>) -> Self {
        Self {
            arguments,
            host: Host {
                variables: std::env::vars_os()
                    .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                    .collect(),
                executable: executable(),
                plugin_programs: built_in::PROGRAMS,
                native_commands: built_in::NATIVE_COMMANDS,
                in_process_commands: built_in::IN_PROCESS_COMMANDS,
                current_dir: std::env::current_dir().unwrap_or_default(),
                processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
                standard_input: || Box::new(std::io::stdin().lock()),
                clock: clock::now,
            },
            stdout_terminal: std::io::stdout().is_terminal(),
            stderr_terminal: std::io::stderr().is_terminal(),
            terminal_columns: terminal_size::terminal_size_of(std::io::stdout())
                .map(|(terminal_size::Width(columns), _)| columns.into()),
        }
    }

    /// Returns the arguments of a completion script, if one started this process.
    pub(crate) fn completion_arguments(&self) -> Option<Vec<String>> {
        let mut arguments = self.arguments.iter().skip(1);
        let is_completion = arguments.next().is_some_and(|first| first == crate::completion::ARGUMENT);
        // Arguments that are not UTF-8 match no candidate.
        is_completion.then(|| arguments.map(|argument| argument.to_string_lossy().into_owned()).collect())
    }

    /// Returns git's arguments if this process is its askpass program. A variable in the plugin's environment decides it, not the program's
    /// name.
    pub(crate) fn askpass_questions(&self) -> Option<Vec<String>> {
        let is_askpass = self.variable("ARGOCD_BINARY_NAME") == Some("argocd-git-ask-pass");
        let questions = self.arguments.iter().skip(1);
        // Only the beginning of a prompt is needed.
        is_askpass.then(|| questions.map(|question| question.to_string_lossy().into_owned()).collect())
    }

    /// Whether the program was called as Argo CD's plugin server.
    pub(crate) fn is_plugin_server(&self) -> bool {
        self.command_of_argo_cd() == Some(CMP_SERVER)
    }

    /// Returns the command that a program of Argo CD stands for: by the variable that Argo CD's program reads, else by the name by which this
    /// program was called.
    fn command_of_argo_cd(&self) -> Option<&'static str> {
        let called = || self.arguments.first().map(Path::new)?.file_name()?.to_str();
        match self.variable("ARGOCD_BINARY_NAME").or_else(called) {
            Some("argocd-cmp-server") => Some(CMP_SERVER),
            Some("argocd-applicationset-controller") => Some(APPSET_CONTROLLER),
            _ => None,
        }
    }

    /// The arguments with the program's name, and with the command that a program of Argo CD stands for.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let command = self.command_of_argo_cd();
        let mut arguments = self.arguments.clone();
        if let Some(command) = command.filter(|command| arguments.get(1).is_none_or(|first| first != command))
            && !arguments.is_empty()
        {
            arguments.insert(1, command.into());
        }
        arguments
    }

    /// Whether standard output may have colours.
    pub(crate) fn stdout_is_styled(&self) -> bool {
        self.stdout_terminal && self.variable("NO_COLOR").is_none() && self.variable("TERM") != Some("dumb")
    }

    /// Whether standard error may have colours.
    pub(crate) fn stderr_is_styled(&self) -> bool {
        self.stderr_terminal && self.variable("NO_COLOR").is_none()
    }

    /// Returns the width of tables on a terminal: `COLUMNS`, else that of the terminal. `None` if standard output is not a terminal, or its
    /// width is unknown.
    pub(crate) fn columns(&self) -> Option<usize> {
        let given = || self.variable("COLUMNS")?.parse().ok();
        let columns = self.stdout_terminal.then(|| given().or(self.terminal_columns))?;
        columns.filter(|columns| *columns > 0)
    }

    /// Whether standard output is a terminal.
    pub(crate) fn stdout_is_terminal(&self) -> bool {
        self.stdout_terminal
    }

    /// Whether standard error is a terminal, so that progress may be shown.
    pub(crate) fn stderr_is_terminal(&self) -> bool {
        self.stderr_terminal
    }
}

/// Returns the path of this program according to the kernel. Without `/proc`, as in an empty root, it is the first argument: a path, or a
/// name that was found on `PATH`.
#[expect(clippy::disallowed_methods, reason = "called only by `Process::current`")]
fn executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| {
        let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        let current_dir = std::env::current_dir().unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        called_program(&called, &current_dir, std::env::split_paths(&path), Path::is_file).unwrap_or_default()
    })
}

/// Finds the file of a program's name from a directory and the entries of `PATH`.
fn called_program(
    called: &Path,
    current_dir: &Path,
    path: impl IntoIterator<Item = PathBuf>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let is_bare = called.components().count() == 1 && called.is_relative() && !called.starts_with(".");
    if is_bare {
        path.into_iter().map(|folder| current_dir.join(folder).join(called)).find(|file| is_file(file))
    } else {
        Some(current_dir.join(called)).filter(|file| is_file(file))
    }
}

#[cfg(test)]
impl Process {
    /// A process in the directory `/current` with these arguments and variables.
    pub(crate) fn for_tests(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            arguments: arguments.iter().map(OsString::from).collect(),
            host: Host {
                variables: variables.iter().map(owned).collect(),
                executable: PathBuf::from("/opt/tiphys/bin/tiphys"),
                plugin_programs: &[],
                native_commands: &[],
                in_process_commands: &[],
                current_dir: PathBuf::from("/current"),
                processors: 2,
                standard_input: || Box::new(std::io::empty()),
                clock: || std::time::UNIX_EPOCH,
            },
            stdout_terminal: false,
            stderr_terminal: true,
            terminal_columns: None,
        }
    }
}

#[cfg(test)]
mod tests;
