//! Asks Argo CD's repository server for the git credentials of a request, as its own askpass program does (`spec/cmp.md` 4.5).
//!
//! git calls the program that `GIT_ASKPASS` names with one question, and reads the answer from its standard output. The credentials are
//! at the repository server, on a socket of its own; a nonce in the environment of the plugin's commands says whose they are.

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

/// Which part of the credentials git asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The user's name.
    Username,
    /// The password, or a token.
    Password,
}

impl Wanted {
    /// What a question such as `Username for 'https://git.example.org': ` asks for; none for any other question.
    pub fn of_question(question: &str) -> Option<Self> {
        if question.starts_with("Username") {
            Some(Self::Username)
        } else if question.starts_with("Password") {
            Some(Self::Password)
        } else {
            None
        }
    }
}

/// One part of credentials. It prints as redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(String);

impl Credential {
    /// The value, for git and nobody else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(redacted)")
    }
}

// Messages must have this form; those with secrets get none of their own.
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

/// Why there are no credentials. No text has a credential or the nonce in it.
#[derive(Debug, thiserror::Error)]
pub enum AskpassError {
    /// Nobody serves the socket.
    #[error(
        "no credentials: cannot reach the repository server on socket {socket}; mount the folder that it has its socket in, or set \
         ARGOCD_ASK_PASS_SOCK"
    )]
    Unreachable {
        /// The socket.
        socket: PathBuf,
        /// Why not.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Whoever serves it says nothing.
    #[error("no credentials: the repository server on socket {socket} has not answered for {} s", patience.as_secs_f64())]
    Silent {
        /// The socket.
        socket: PathBuf,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The repository server knows no credentials for the nonce.
    #[error(
        "no credentials: the repository server on socket {socket} does not know ARGOCD_GIT_ASKPASS_NONCE; it is valid while a plugin \
         generates, and not longer"
    )]
    UnknownNonce {
        /// The socket.
        socket: PathBuf,
    },
    /// The repository server refuses.
    #[error("no credentials: the repository server on socket {socket} refuses: {message}")]
    Refused {
        /// The socket.
        socket: PathBuf,
        /// Its text.
        message: String,
    },
}

/// Asks for the credentials that belong to a nonce. The server may take as long as the caller has patience.
pub async fn ask(
    socket: &Path,
    nonce: &str,
    wanted: Wanted,
    patience: Duration,
) -> Result<Credential, AskpassError> {
    let mut client = AskPassServiceClient::new(channel(socket.to_path_buf()));
    let asked = client.get_credentials(CredentialsRequest { nonce: nonce.to_owned() });
    let answer = tokio::time::timeout(patience, asked)
        .await
        .map_err(|_| AskpassError::Silent { socket: socket.to_path_buf(), patience })?
        .map_err(|status| refused(socket, nonce, &status))?
        .into_inner();
    Ok(Credential(match wanted {
        Wanted::Username => answer.username,
        Wanted::Password => answer.password,
    }))
}

fn refused(socket: &Path, nonce: &str, status: &Status) -> AskpassError {
    let socket = socket.to_path_buf();
    match status.code() {
        Code::NotFound => AskpassError::UnknownNonce { socket },
        // Of our own side: there was no connection, or it ended.
        Code::Unavailable | Code::Unknown if status.source().is_some() => {
            AskpassError::Unreachable { socket, source: innermost(status).into() }
        }
        _ if nonce.is_empty() => AskpassError::Refused { socket, message: status.message().to_owned() },
        _ => AskpassError::Refused { socket, message: status.message().replace(nonce, "***") },
    }
}

/// The last cause, which is the system's own word; those before it tell of layers.
fn innermost(status: &Status) -> String {
    let causes = std::iter::successors(status.source(), |&error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}
