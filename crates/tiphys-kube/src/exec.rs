//! Credential plugins of a kubeconfig (`exec`).
//!
//! <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tiphys_model::access::Secret;
use tiphys_model::limits::Limit;
use tiphys_process::{Tool, ToolError};

use crate::{ClientCertificate, KubeOptions, Pem};

/// Maximum size of a plugin's output in bytes. Tokens of cloud providers take a few thousand.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Working directory of plugins.
const FOLDER: &str = "/";

/// The variable that passes the request to a plugin.
const REQUEST_VARIABLE: &str = "KUBERNETES_EXEC_INFO";

/// A credential plugin. `Debug` writes only its program, because arguments may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecPlugin {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables in addition to the caller's.
    pub env: Vec<(String, Secret)>,
    /// API version of the request and the response.
    pub api_version: String,
}

impl fmt::Debug for ExecPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExecPlugin({})", self.command.display())
    }
}

/// A credential plugin that returned no credentials. The message does not include its output, which may be secret.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The plugin could not be run.
    #[error("the credential plugin {} of the kubeconfig could not be run", command.display())]
    Run {
        /// The program.
        command: PathBuf,
        /// The cause.
        #[source]
        source: ToolError,
    },
    /// The plugin timed out.
    #[error("the credential plugin {} of the kubeconfig did not end within {seconds} s", command.display())]
    Timeout {
        /// The program.
        command: PathBuf,
        /// The time limit in seconds.
        seconds: u64,
        /// The limit.
        #[source]
        limit: Limit,
    },
    /// The plugin failed.
    #[error(
        "the credential plugin {} of the kubeconfig failed with {}; run it to see why",
        command.display(),
        code.map_or("a signal".to_owned(), |code| format!("exit code {code}"))
    )]
    Failed {
        /// The program.
        command: PathBuf,
        /// Its exit code; `None` for a signal.
        code: Option<i32>,
    },
    /// The output has no credentials.
    #[error("the credential plugin {} of the kubeconfig printed no valid ExecCredential: {problem}", command.display())]
    Output {
        /// The program.
        command: PathBuf,
        /// The problem.
        problem: &'static str,
    },
}

/// Credentials from a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecCredentials {
    /// Bearer token.
    pub(crate) token: Option<Secret>,
    /// Client certificate.
    pub(crate) client_certificate: Option<ClientCertificate>,
}

impl ExecPlugin {
    /// Runs the plugin.
    pub(crate) async fn credentials(&self, options: &KubeOptions) -> Result<ExecCredentials, ExecError> {
        let command = || self.command.clone();
        let request = json!({
            "apiVersion": self.api_version, "kind": "ExecCredential", "spec": {"interactive": false}
        });
        let own = self.env.iter().map(|(name, value)| (name.into(), value.expose().into()));
        let request = [(REQUEST_VARIABLE.into(), request.to_string().into())];
        let tool = Tool {
            program: self.command.clone(),
            env: options.environment.iter().cloned().chain(own).chain(request).collect(),
            timeout: options.exec_timeout,
            stdout_bytes_max: OUTPUT_BYTES_MAX,
        };
        let args: Vec<OsString> = self.args.iter().map(OsString::from).collect();
        let output = tool.run(&args, Path::new(FOLDER), None).await.map_err(|error| match error {
            ToolError::Timeout { timeout, .. } => ExecError::Timeout {
                command: command(),
                seconds: timeout.as_secs(),
                limit: Limit::KUBE_EXEC_TIMEOUT,
            },
            source => ExecError::Run { command: command(), source },
        })?;
        if output.code != Some(0) {
            return Err(ExecError::Failed { command: command(), code: output.code });
        }
        credentials(&output.stdout, &self.api_version)
            .map_err(|problem| ExecError::Output { command: command(), problem })
    }
}

/// Interprets the output of a plugin.
fn credentials(stdout: &[u8], api_version: &str) -> Result<ExecCredentials, &'static str> {
    let response: Value = serde_json::from_slice(stdout).map_err(|_| "expected JSON")?;
    if response["kind"] != "ExecCredential" {
        return Err("expected the kind ExecCredential");
    }
    if response["apiVersion"] != api_version {
        return Err("the apiVersion differs from that of the kubeconfig");
    }
    let string = |field: &str| response["status"][field].as_str().filter(|value| !value.is_empty());
    let pem = |data: &str| Pem::Data(Secret::new(data));
    let client_certificate = match (string("clientCertificateData"), string("clientKeyData")) {
        (Some(certificate), Some(key)) => {
            Some(ClientCertificate { certificate: pem(certificate), key: pem(key) })
        }
        (None, None) => None,
        _ => return Err("expected both clientCertificateData and clientKeyData"),
    };
    let token = string("token").map(Secret::new);
    if token.is_none() && client_certificate.is_none() {
        return Err("status has no token and no client certificate");
    }
    Ok(ExecCredentials { token, client_certificate })
}

#[cfg(test)]
mod tests;
