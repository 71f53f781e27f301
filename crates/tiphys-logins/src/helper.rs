//! Logins that docker's credential helpers know.
//!
//! A helper keeps its state with the person: below `HOME`, in a keyring, in an agent. So it gets the person's whole environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::Value;
use tiphys_access::Secret;
use tiphys_process::{Tool, ToolError, find_program};

use crate::{HelperBound, Login, OwnLogins};

/// Beginning of the names of helpers.
const PREFIX: &str = "docker-credential-";

/// Where helpers run. What they need they find by their environment.
const FOLDER: &str = "/";

/// Bytes that a helper may print. A login has hundreds; tokens of cloud providers a few thousand.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// What helpers say of a registry that they do not know. Such a registry is asked without a login.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// The name of a user in whose place a token is.
const TOKEN_USER: &str = "<token>";

/// A helper that gave no answer. What it printed may be secret, and is no part of the text.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// It was not found.
    #[error(
        "{PREFIX}{helper}, which has the login to {registry}, was not found on PATH; install it, or log in to {registry} without it"
    )]
    Missing {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
    },
    /// It could not be run to its end.
    #[error("{PREFIX}{helper} did not give the login to {registry}")]
    Run {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
        /// Why.
        #[source]
        source: ToolError,
    },
    /// It took too long.
    #[error(
        "{PREFIX}{helper} did not give the login to {registry} within {} s{}",
        bound.timeout.as_secs(),
        bound.option.map(|option| format!("; {option} gives it more seconds")).unwrap_or_default()
    )]
    Timeout {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
        /// The bound.
        bound: HelperBound,
    },
    /// It failed, or answered something else than a login.
    #[error(
        "{PREFIX}{helper} gave no login to {registry}; see what `{PREFIX}{helper} get` says with {registry} on its standard input"
    )]
    NoLogin {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
    },
}

impl OwnLogins {
    /// Asks a helper, by the part of its name behind `docker-credential-`, for the login to a registry, by its key in files with logins;
    /// `None` if it knows none.
    pub async fn ask(&self, helper: &str, registry: &str) -> Result<Option<Login>, HelperError> {
        let (name, at) = (|| helper.to_owned(), || registry.to_owned());
        let path = OsStr::new(self.set("PATH").unwrap_or_default());
        let program = find_program(Path::new(&[PREFIX, helper].concat()), path)
            .ok_or_else(|| HelperError::Missing { helper: name(), registry: at() })?;
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
                HelperError::Timeout { helper: name(), registry: at(), bound: self.bound }
            }
            source => HelperError::Run { helper: name(), registry: at(), source },
        })?;
        answer(output.code, &output.stdout)
            .map_err(|NoLogin| HelperError::NoLogin { helper: name(), registry: at() })
    }
}

/// An answer that is neither a login nor that there is none.
#[derive(Debug, PartialEq, Eq)]
struct NoLogin;

/// What a helper's answer means.
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
