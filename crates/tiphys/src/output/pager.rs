//! A pager for long tables on a terminal.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use tiphys_process::{Attached, find_program};

use crate::error::{ServiceError, chain};
use crate::progress::stderr;
use crate::settings::Process;

/// Variables with a command line, in this order; blanks separate its words. An empty one counts as unset.
const VARIABLES: [&str; 2] = ["TIPHYS_PAGER", "PAGER"];

/// The command line without a variable: no pager for a text that fits on the screen, colours, and the text stays on the screen.
const DEFAULT: [&str; 2] = ["less", "-FRX"];

/// Prints text that is already escaped, on a terminal through a pager.
pub(crate) async fn page(text: &str, host: &Process) -> Result<(), ServiceError> {
    let command = if host.stdout_is_terminal() { command(host) } else { Vec::new() };
    let Some((program, args)) = command.split_first() else { return super::print(text) };
    let attached = Attached {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        env: host.variables().map(|(name, value)| (name.into(), value.into())).collect(),
        input: Some(text.as_bytes().to_vec()),
    };
    drop(stderr());
    // ^C belongs to the pager: its exit code says nothing about the text.
    match attached.run(&host.absolute("")).await {
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::warn!("the pager `{program}` is not used: {}", chain(&error));
            super::print(text)
        }
    }
}

/// Returns the program and its arguments. Empty without a pager.
fn command(host: &Process) -> Vec<String> {
    if let Some(line) = VARIABLES.iter().find_map(|name| host.variable(name)) {
        return line.split_whitespace().map(str::to_owned).collect();
    }
    let path = OsStr::new(host.variable("PATH").unwrap_or_default());
    let is_installed = find_program(Path::new(DEFAULT[0]), path).is_some();
    if is_installed { DEFAULT.map(str::to_owned).to_vec() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pager_is_the_first_variable_that_is_set() {
        let cases = [
            (vec![("TIPHYS_PAGER", "most -s"), ("PAGER", "more")], vec!["most", "-s"]),
            (vec![("PAGER", "more")], vec!["more"]),
            (vec![("TIPHYS_PAGER", ""), ("PAGER", "more")], vec!["more"]),
            (vec![("PAGER", " ")], vec![]),
            (vec![("PATH", "/nonexistent")], vec![]),
        ];
        for (variables, expected) in cases {
            assert_eq!(command(&Process::for_tests(&[], &variables)), expected, "{variables:?}");
        }
    }
}
