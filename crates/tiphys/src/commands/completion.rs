//! `tiphys completion`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell as Generator;

use crate::args::{Arguments, CompletionArgs, Shell};
use crate::failure::Failure;
use crate::output;

/// Prints a shell's completion script.
pub(crate) fn run(args: &CompletionArgs) -> Result<ExitCode, Failure> {
    let generator = match args.shell {
        Shell::Bash => Generator::Bash,
        Shell::Elvish => Generator::Elvish,
        Shell::Fish => Generator::Fish,
        Shell::Powershell => Generator::PowerShell,
        Shell::Zsh => Generator::Zsh,
    };
    let mut script = Vec::new();
    clap_complete::generate(generator, &mut Arguments::command(), "tiphys", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
