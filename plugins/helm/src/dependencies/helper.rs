//! Logins that docker's credential helpers know.
//!
//! A helper keeps its state with the person: below `HOME`, in a keyring, in an agent. Helm runs in a home of its own and without any of
//! that, so that a helper that it starts finds nothing. The helper is asked here, with this program's environment, and helm gets the login.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tiphys_params::context::{RegistryLogin, Secret};
use tiphys_process::{Tool, ToolError};

use super::remote::Remote;
use crate::home::Home;
use crate::settings::{Host, SettingError};

/// Beginning of the names of helpers.
const PREFIX: &str = "docker-credential-";

/// Bytes that a helper may print. A login has hundreds; tokens of cloud providers a few thousand.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// What helpers say of a registry that they do not know. Such a registry is asked without a login.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// The name of a user in whose place a token is.
const TOKEN_USER: &str = "<token>";

/// A helper that gave no answer. What it printed may be secret, and is no part of the text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelperError {
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
        "{PREFIX}{helper} did not give the login to {registry} within {} s; TIPHYS_HELM_TIMEOUT gives it more seconds",
        timeout.as_secs()
    )]
    Timeout {
        /// The helper.
        helper: String,
        /// The registry.
        registry: String,
        /// The bound.
        timeout: Duration,
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
    /// A setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Puts logins in the place of helpers. Each helper is asked once for a registry.
pub(crate) async fn ask(remotes: &mut [Remote], host: &Host, home: &Home) -> Result<(), HelperError> {
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    for remote in remotes {
        let RegistryLogin::Helper(helper) = &remote.login else { continue };
        let registry = remote.login_name().to_owned();
        let answer = match known.get(&registry) {
            Some(answer) => answer.clone(),
            None => answer(helper, &registry, host, home.path()).await?,
        };
        known.insert(registry, answer.clone());
        log_in(remote, &answer);
    }
    Ok(())
}

/// What a helper answers; `null` if it knows no login.
async fn answer(helper: &str, registry: &str, host: &Host, dir: &Path) -> Result<Value, HelperError> {
    let (name, at) = (|| helper.to_owned(), || registry.to_owned());
    let program = host
        .find(Path::new(&[PREFIX, helper].concat()))
        .ok_or_else(|| HelperError::Missing { helper: name(), registry: at() })?;
    let tool = Tool {
        program,
        env: host.own_environment(),
        timeout: host.timeout()?,
        stdout_bytes_max: OUTPUT_BYTES_MAX,
    };
    let asked = tool.run(&[OsString::from("get")], dir, Some(registry.as_bytes().to_vec())).await;
    let output = asked.map_err(|error| match error {
        ToolError::Timeout { timeout, .. } => {
            HelperError::Timeout { helper: name(), registry: at(), timeout }
        }
        source => HelperError::Run { helper: name(), registry: at(), source },
    })?;
    if output.code != Some(0) && String::from_utf8_lossy(&output.stdout).trim() == NOT_FOUND {
        return Ok(Value::Null);
    }
    let answer: Option<Value> =
        serde_json::from_slice(&output.stdout).ok().filter(|_| output.code == Some(0));
    let is_login = |answer: &Value| ["Username", "Secret"].iter().all(|field| answer[field].is_string());
    answer.filter(is_login).ok_or_else(|| HelperError::NoLogin { helper: name(), registry: at() })
}

fn log_in(remote: &mut Remote, answer: &Value) {
    let text = |field: &str| answer[field].as_str().unwrap_or_default();
    let (user, secret) = (text("Username"), text("Secret"));
    remote.login = RegistryLogin::None;
    if user == TOKEN_USER {
        remote.login = RegistryLogin::Entry(Secret::new(json!({ "identitytoken": secret }).to_string()));
    } else {
        user.clone_into(&mut remote.access.username);
        remote.access.password = Secret::new(secret);
    }
}

#[cfg(test)]
mod tests;
