//! git's askpass program under Argo CD. git asks for a user name or a password; this program prints the repository server's answer.
//!
//! Only git calls it, so it has no options. Errors go to standard error, which git shows.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tiphys_cmp::CredentialPart;

use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::output;
use crate::settings::Process;

/// The default socket of Argo CD's repository server.
const SOCKET: &str = "/tmp/reposerver-ask-pass.sock";

/// Limit for the repository server. It answers from memory, and git waits without a limit of its own.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Answers git's question.
pub(crate) fn run(questions: &[String], host: &Process) -> ExitCode {
    match lifecycle::run(None, answer(questions, host)) {
        Ok(code) => code,
        Err(failure) => error::report(&failure),
    }
}

async fn answer(questions: &[String], host: &Process) -> Result<ExitCode, ServiceError> {
    let wanted = wanted(questions)?;
    let nonce = host.variable("ARGOCD_GIT_ASKPASS_NONCE").ok_or_else(|| {
        ServiceError::invalid_input(
            "no credentials: ARGOCD_GIT_ASKPASS_NONCE is not set; only commands of plugins with `provideGitCreds: true` get it",
        )
    })?;
    let socket = host.variable("ARGOCD_ASK_PASS_SOCK").unwrap_or(SOCKET);
    let credential = tiphys_cmp::ask(Path::new(socket), nonce, wanted, TIMEOUT).await;
    let credential = credential.map_err(|error| ServiceError::caused(ErrorKind::Rendering, error))?;
    output::print(&format!("{}\n", credential.reveal()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns which credential git asks for. git passes one argument, the prompt.
fn wanted(questions: &[String]) -> Result<CredentialPart, ServiceError> {
    let expected = "as git's askpass program (see ARGOCD_BINARY_NAME) this program expects one argument that begins with `Username` or `Password`";
    match questions {
        [question] => {
            CredentialPart::from_prompt(question).ok_or_else(|| ServiceError::invalid_input(expected))
        }
        _ => Err(ServiceError::invalid_input(format!("{expected}; found {}", questions.len()))),
    }
}
