//! Requests the git credentials of a call from Argo CD's repo-server, like Argo CD's own askpass program.
//!
//! git calls the program in `GIT_ASKPASS` with one prompt and reads the answer from its standard output. The repo-server serves the
//! credentials on a socket of its own. A nonce in the environment of the plugin's commands identifies them.

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tonic::{Code, Status};

use crate::client::channel;
use crate::generated::askpass::ask_pass_service_client::AskPassServiceClient;
use crate::generated::askpass::{CredentialsRequest, CredentialsResponse};

/// The part of the credentials that git requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialPart {
    /// The user's name.
    Username,
    /// The password, or a token.
    Password,
}

impl CredentialPart {
    /// Parses a prompt such as `Username for 'https://git.example.org': `. `None` for other prompts.
    pub fn from_prompt(prompt: &str) -> Option<Self> {
        if prompt.starts_with("Username") {
            Some(Self::Username)
        } else if prompt.starts_with("Password") {
            Some(Self::Password)
        } else {
            None
        }
    }
}

/// A user name or password. Its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(String);

impl Credential {
    /// Returns the secret, to be printed for git only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(redacted)")
    }
}

// Messages must implement `Debug`. It is redacted for those with secrets.
impl fmt::Debug for CredentialsRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialsRequest(redacted)")
    }
}

impl fmt::Debug for CredentialsResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialsResponse(redacted)")
    }
}

/// An error of a credential request. The messages contain neither a credential nor the nonce.
#[derive(Debug, thiserror::Error)]
pub enum AskpassError {
    /// The connection failed.
    #[error(
        "no credentials: cannot reach the repository server on socket {socket}; mount the directory of its socket, or set \
         ARGOCD_ASK_PASS_SOCK"
    )]
    Unreachable {
        /// The socket.
        socket: PathBuf,
        /// The system's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// No answer in time.
    #[error("no credentials: the repository server on socket {socket} has not answered for {} s", timeout.as_secs_f64())]
    Silent {
        /// The socket.
        socket: PathBuf,
        /// The timeout.
        timeout: Duration,
    },
    /// The repository server knows no credentials for the nonce.
    #[error(
        "no credentials: the repository server on socket {socket} does not know ARGOCD_GIT_ASKPASS_NONCE; it is valid only while \
         the plugin generates"
    )]
    UnknownNonce {
        /// The socket.
        socket: PathBuf,
    },
    /// The repository server returned another error.
    #[error("no credentials: the repository server on socket {socket} refuses: {message}")]
    Refused {
        /// The socket.
        socket: PathBuf,
        /// Its message.
        message: String,
    },
}

/// Requests the credentials of a nonce.
pub async fn ask(
    socket: &Path,
    nonce: &str,
    part: CredentialPart,
    timeout: Duration,
) -> Result<Credential, AskpassError> {
    let mut client = AskPassServiceClient::new(channel(socket.to_path_buf()));
    let call = client.get_credentials(CredentialsRequest { nonce: nonce.to_owned() });
    let answer = tokio::time::timeout(timeout, call)
        .await
        .map_err(|_| AskpassError::Silent { socket: socket.to_path_buf(), timeout })?
        .map_err(|status| refused(socket, nonce, &status))?
        .into_inner();
    Ok(Credential(match part {
        CredentialPart::Username => answer.username,
        CredentialPart::Password => answer.password,
    }))
}

fn refused(socket: &Path, nonce: &str, status: &Status) -> AskpassError {
    let socket = socket.to_path_buf();
    match status.code() {
        Code::NotFound => AskpassError::UnknownNonce { socket },
        // A client-side error: the connection failed or ended.
        Code::Unavailable | Code::Unknown if status.source().is_some() => {
            AskpassError::Unreachable { socket, source: innermost(status).into() }
        }
        _ if nonce.is_empty() => AskpassError::Refused { socket, message: status.message().to_owned() },
        _ => AskpassError::Refused { socket, message: status.message().replace(nonce, "***") },
    }
}

/// Returns the last cause, which is the system's error. Those before it name layers.
fn innermost(status: &Status) -> String {
    let causes = std::iter::successors(status.source(), |&error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}
