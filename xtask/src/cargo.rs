//! Runs cargo and other programs in the checkout.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Failure;

/// Creates a call of cargo in `root`.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = program(cargo_program());
    command.args(arguments).current_dir(root);
    command
}

/// Runs a program to its end without standard input. Its output goes to the terminal.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|error| Failure::new(format!("cannot start {}: {error}", shown(command))))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{}: {status}", shown(command)))) }
}

/// Runs a program to its end without standard input, and returns its standard output. A failure shows its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::new(format!("cannot start {}: {error}", shown(command))))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("{}: {}\n{}", shown(command), output.status, stderr.trim_end())))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Creates a command. Only this function of xtask does it.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask is not part of the product and drives the developer's tools"
)]
pub(crate) fn program(name: impl Into<OsString>) -> Command {
    Command::new(name.into())
}

/// The cargo that runs xtask, so that all steps use one toolchain.
pub(crate) fn cargo_program() -> OsString {
    variable("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The value of `PATH`.
pub(crate) fn search_path() -> OsString {
    variable("PATH").unwrap_or_default()
}

/// The value of an environment variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "cargo, image builds and the user's shell pass these")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
