//! Runs cargo and other programs in the checkout.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Failure;

/// A command line that can be run and printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine {
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl CommandLine {
    /// `cargo` with these arguments.
    pub(crate) fn cargo(arguments: &[&str]) -> Self {
        Self {
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            environment: Vec::new(),
        }
    }

    /// Adds an environment variable.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Runs it in `root` without standard input. Its output goes to the terminal.
    pub(crate) fn run(&self, root: &Path) -> Result<(), Failure> {
        let mut command = program(cargo_program());
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(root)
            .stdin(Stdio::null());
        let status =
            command.status().map_err(|error| Failure::new(format!("cannot start cargo: {error}")))?;
        if status.success() { Ok(()) } else { Err(Failure::new(format!("{self}: {status}"))) }
    }
}

impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.environment {
            write!(f, "{name}=\"{value}\" ")?;
        }
        write!(f, "cargo {}", self.arguments.join(" "))
    }
}

/// Creates a command. Only this function of xtask does it.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask is not part of the product and drives the developer's tools"
)]
pub(crate) fn program(name: impl Into<OsString>) -> Command {
    Command::new(name.into())
}

/// Runs a program to its end, and returns its standard output. A failure shows its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let output = command.output().map_err(|error| Failure::new(format!("cannot start {shown}: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("{shown}: {}\n{}", output.status, stderr.trim_end())))
}

/// The cargo that runs xtask, so that all steps use one toolchain.
#[expect(clippy::disallowed_methods, reason = "cargo sets this variable for its children")]
pub(crate) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The value of `PATH`.
#[expect(clippy::disallowed_methods, reason = "measured programs need git, sh and cat")]
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
