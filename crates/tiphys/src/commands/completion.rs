//! `tiphys completion`.

use std::process::ExitCode;

use crate::args::CompletionArgs;
use crate::completion::script;
use crate::error::ServiceError;
use crate::output;

/// Prints a shell's completion script.
pub(crate) fn run(args: &CompletionArgs) -> Result<ExitCode, ServiceError> {
    output::print(script(args.shell))?;
    Ok(ExitCode::SUCCESS)
}
