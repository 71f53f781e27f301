//! git's askpass program under Argo CD: git asks for a user name or a password, and this prints what the repository server knows.
//!
//! It is called by git and never by a person: there are no options. What goes wrong is told to git, which shows it.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tiphys_cmp::CredentialPart;

use crate::error::{self, ServiceError, chain};
use crate::lifecycle;
use crate::output;
use crate::settings::Process;

/// Where Argo CD's repository server listens, if nothing else is said (`spec/cmp.md` 4.5).
const SOCKET: &str = "/tmp/reposerver-ask-pass.sock";

/// How long the repository server may take. It looks into its memory, so a longer wait means that it hangs; git waits for as long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers the one question of git.
pub(crate) fn run(questions: &[String], host: &Process) -> ExitCode {
    match lifecycle::run(answer(questions, host)) {
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
    let credential = tiphys_cmp::ask(Path::new(socket), nonce, wanted, PATIENCE).await;
    let credential = credential.map_err(|error| ServiceError::rendering(chain(&error)))?;
    output::print(&format!("{}\n", credential.reveal()))?;
    Ok(ExitCode::SUCCESS)
}

/// What git asks for: it calls with one argument, the question.
fn wanted(questions: &[String]) -> Result<CredentialPart, ServiceError> {
    let expected = "as git's askpass program (see ARGOCD_BINARY_NAME) this program takes one argument, which begins with `Username` or `Password`";
    match questions {
        [question] => {
            CredentialPart::from_prompt(question).ok_or_else(|| ServiceError::invalid_input(expected))
        }
        _ => Err(ServiceError::invalid_input(format!("{expected}; there are {}", questions.len()))),
    }
}
