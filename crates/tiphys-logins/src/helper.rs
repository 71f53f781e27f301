//! Docker's credential helpers.
//!
//! A helper stores its state in the user's environment: below `HOME`, in a keyring, in an agent. So it gets all of the environment
//! variables.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::Value;
use tiphys_model::access::Secret;
use tiphys_process::{Tool, ToolError, find_program};

use crate::{HelperBound, Login, OwnLogins};

/// Prefix of the programs' names.
const PREFIX: &str = "docker-credential-";

/// Working directory of helpers. They find their files by environment variables.
const FOLDER: &str = "/";

/// Maximum size of a helper's output in bytes. Passwords take hundreds of bytes; tokens of cloud providers a few thousand.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Output of helpers for an unknown registry. Such a registry is accessed without credentials.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// The user name that marks a token.
const TOKEN_USER: &str = "<token>";

/// A helper that failed. The message does not include its output, which may be secret.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// The helper was not found.
    #[error(
        "{PREFIX}{helper}, which has the credentials for {registry}, was not found in PATH; install it, or log in to {registry} without it"
    )]
    Missing {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
    },
    /// The helper could not be run.
    #[error("{PREFIX}{helper} returned no credentials for {registry}")]
    Run {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
        /// The cause.
        #[source]
        source: ToolError,
    },
    /// The helper timed out.
    #[error(
        "{PREFIX}{helper} returned no credentials for {registry} within {} s{}",
        bound.timeout.as_secs(),
        bound.option.map(|option| format!("; increase {option}")).unwrap_or_default()
    )]
    Timeout {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
        /// The time limit.
        bound: HelperBound,
    },
    /// The helper failed, or its output is not a set of credentials.
    #[error(
        "{PREFIX}{helper} has no credentials for {registry}; run `{PREFIX}{helper} get` with {registry} on its standard input to see why"
    )]
    NoLogin {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
    },
}

impl OwnLogins {
    /// Runs a helper, named without `docker-credential-`, to get the credentials for a registry key; `None` if it has none.
    pub async fn ask(&self, helper: &str, registry: &str) -> Result<Option<Login>, HelperError> {
        let (name, key) = (|| helper.to_owned(), || registry.to_owned());
        let path = OsStr::new(self.set("PATH").unwrap_or_default());
        let program = find_program(Path::new(&[PREFIX, helper].concat()), path)
            .ok_or_else(|| HelperError::Missing { helper: name(), registry: key() })?;
        let env = self.variables.iter().map(|(name, value)| (name.into(), value.into()));
        let tool = Tool {
            program,
            env: env.collect(),
            timeout: self.bound.timeout,
            stdout_bytes_max: OUTPUT_BYTES_MAX,
        };
        let asked =
            tool.run(&[OsString::from("get")], Path::new(FOLDER), Some(registry.as_bytes().to_vec())).await;
        let output = asked.map_err(|error| match error {
            ToolError::Timeout { .. } => {
                HelperError::Timeout { helper: name(), registry: key(), bound: self.bound }
            }
            source => HelperError::Run { helper: name(), registry: key(), source },
        })?;
        answer(output.code, &output.stdout)
            .map_err(|NoLogin| HelperError::NoLogin { helper: name(), registry: key() })
    }
}

/// Output that is neither credentials nor the message that there are none.
#[derive(Debug, PartialEq, Eq)]
struct NoLogin;

/// Interprets a helper's exit code and output.
fn answer(code: Option<i32>, stdout: &[u8]) -> Result<Option<Login>, NoLogin> {
    if code != Some(0) {
        let is_unknown = String::from_utf8_lossy(stdout).trim() == NOT_FOUND;
        return if is_unknown { Ok(None) } else { Err(NoLogin) };
    }
    let answer: Value = serde_json::from_slice(stdout).map_err(|_| NoLogin)?;
    let text = |field: &str| answer[field].as_str().ok_or(NoLogin);
    let (username, secret) = (text("Username")?, Secret::new(text("Secret")?));
    Ok(Some(match username {
        TOKEN_USER => Login::Token(secret),
        _ => Login::Password { username: username.to_owned(), password: secret },
    }))
}

#[cfg(test)]
mod tests;
