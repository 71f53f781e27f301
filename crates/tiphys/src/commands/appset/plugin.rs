//! `tiphys appset plugin`: plugin services of application sets, for their authors.

mod call;
mod serve;

use std::path::Path;
use std::process::ExitCode;

use tiphys_service::Secret;

use crate::args::{AppSetPluginArgs, AppSetPluginCommand, SharedOptions, TOKEN_VARIABLE};
use crate::error::ServiceError;
use crate::settings::Process;

/// Runs one of the subcommands.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetPluginArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    match &args.command {
        AppSetPluginCommand::Serve(args) => serve::run(shared, args, host).await,
        AppSetPluginCommand::Call(args) => call::run(shared, args, host).await,
    }
}

/// Reads a token from a file, or else from the variable. As in Argo CD, space around it does not count.
fn token(file: Option<&Path>, host: &Process) -> Result<Option<Secret>, ServiceError> {
    let (origin, token) = match (file, host.variable(TOKEN_VARIABLE)) {
        (Some(file), _) => {
            let origin = format!("--token-file {}", file.display());
            let token = std::fs::read_to_string(host.absolute(file));
            let token = token
                .map_err(|error| ServiceError::invalid_input(format!("{origin}: cannot read: {error}")))?;
            (origin, token)
        }
        (None, Some(token)) => (TOKEN_VARIABLE.to_owned(), token.to_owned()),
        (None, None) => return Ok(None),
    };
    let token = token.trim();
    if token.is_empty() || token.contains(|c: char| c != ' ' && !c.is_ascii_graphic()) {
        let problem = "a token must be one line of printable ASCII characters";
        return Err(ServiceError::invalid_input(format!("{origin}: {problem}")));
    }
    Ok(Some(Secret::new(token)))
}
