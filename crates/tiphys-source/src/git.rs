//! The git program: one place that builds every call.
//!
//! Nothing prompts, no setting of the caller's environment gets in beside a short list, what a repository's own
//! configuration could run is switched off, and messages are in English, because [`failure`] reads them.

pub(crate) mod failure;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_process::{Tool, ToolError, ToolOutput};
use tokio::sync::OnceCell;

use crate::credential::UserSettings;
use crate::{Secret, SourceError};

/// The oldest git that will do: the first that takes settings from its environment (`GIT_CONFIG_COUNT`), which keeps
/// secrets out of argument lists.
pub(crate) const GIT_VERSION_MIN: &str = "2.31";

/// What of the caller's environment git gets to see; all names that end in `_PROXY`, in either case, beside it.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Bytes that a listing of files or refs may have.
const STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Lines of git's that an error shows.
const SAID_LINES_MAX: usize = 6;

/// Settings that win over those of every configuration file.
const SETTINGS: [(&str, &str); 10] = [
    // These would run programs that a working copy names.
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("protocol.ext.allow", "never"),
    ("credential.interactive", "false"),
    ("core.quotePath", "false"),
    // A reader of ours may have packs open.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // A pack appears whole; loose objects would appear one after another.
    ("fetch.unpackLimit", "1"),
    ("fetch.writeCommitGraph", "false"),
    ("submodule.recurse", "false"),
];

/// The git program.
#[derive(Debug)]
pub(crate) struct Git {
    program: PathBuf,
    env: Vec<(OsString, OsString)>,
    version: OnceCell<()>,
    ssh_command: OnceCell<String>,
    user: UserSettings,
    local_timeout: Duration,
}

/// One call.
pub(crate) struct Call<'a> {
    pub(crate) args: Vec<OsString>,
    pub(crate) dir: &'a Path,
    pub(crate) place: Place<'a>,
    pub(crate) config: Vec<(String, String)>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) timeout: Duration,
}

/// Which repository a call is about.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// This one, bare.
    Bare(&'a Path),
    /// The one whose work tree begins in the call's directory.
    Here,
    /// None.
    Nowhere,
}

impl Git {
    pub(crate) fn new(
        program: PathBuf,
        environment: &[(OsString, OsString)],
        user: UserSettings,
        local_timeout: Duration,
    ) -> Self {
        Self {
            program,
            env: base_environment(environment, user),
            version: OnceCell::new(),
            ssh_command: OnceCell::new(),
            user,
            local_timeout,
        }
    }

    /// Runs git; checks its version at the first call.
    pub(crate) async fn run(&self, call: Call<'_>) -> Result<ToolOutput, ToolProblem> {
        self.version.get_or_try_init(|| self.check_version()).await?;
        self.start(call).await.map_err(ToolProblem::Tool)
    }

    /// A call that reads something of this machine.
    pub(crate) fn local<'a>(
        &self,
        dir: &'a Path,
        place: Place<'a>,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Call<'a> {
        Call {
            args: args.into_iter().map(OsString::from).collect(),
            dir,
            place,
            config: Vec::new(),
            env: Vec::new(),
            stdin: None,
            timeout: self.local_timeout,
        }
    }

    /// What the user runs for ssh, without its options of ours.
    pub(crate) async fn ssh_command(&self) -> Result<&str, ToolProblem> {
        let command = self
            .ssh_command
            .get_or_try_init(|| async {
                if self.user == UserSettings::Ignored {
                    return Ok("ssh".to_owned());
                }
                let call = self.local(Path::new("/"), Place::Nowhere, ["config", "--get", "core.sshCommand"]);
                let output = self.run(call).await?;
                let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                Ok(if text.is_empty() { "ssh".to_owned() } else { text })
            })
            .await?;
        Ok(command)
    }

    async fn check_version(&self) -> Result<(), ToolProblem> {
        let call = self.local(Path::new("/"), Place::Nowhere, ["--version"]);
        let output = self.start(call).await.map_err(ToolProblem::Tool)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let found = text.trim().strip_prefix("git version ").unwrap_or(text.trim()).to_owned();
        if version_of(&found) >= version_of(GIT_VERSION_MIN) { Ok(()) } else { Err(ToolProblem::Old(found)) }
    }

    async fn start(&self, call: Call<'_>) -> Result<ToolOutput, ToolError> {
        let mut env = self.env.clone();
        match call.place {
            Place::Bare(dir) => env.push(("GIT_DIR".into(), dir.into())),
            Place::Here => {
                let ceiling = call.dir.parent().unwrap_or(call.dir);
                env.push(("GIT_CEILING_DIRECTORIES".into(), ceiling.into()));
            }
            Place::Nowhere => env.push(("GIT_DIR".into(), "/nonexistent".into())),
        }
        let fixed = SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let settings: Vec<(String, String)> = fixed.chain(call.config).collect();
        env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
        for (at, (key, value)) in settings.into_iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{at}").into(), key.into()));
            env.push((format!("GIT_CONFIG_VALUE_{at}").into(), value.into()));
        }
        env.extend(call.env);
        let tool = Tool {
            program: self.program.clone(),
            env,
            timeout: call.timeout,
            stdout_bytes_max: STDOUT_BYTES_MAX,
        };
        tool.run(&call.args, call.dir, call.stdin).await
    }
}

/// Why git did not run to its end.
#[derive(Debug)]
pub(crate) enum ToolProblem {
    Tool(ToolError),
    Old(String),
}

impl ToolProblem {
    /// As an error about a repository.
    pub(crate) fn into_error(self, repository: &str, action: &'static str) -> SourceError {
        match self {
            Self::Old(found) => SourceError::OldGit { found, minimum: GIT_VERSION_MIN },
            Self::Tool(ToolError::Timeout { timeout, .. }) => {
                SourceError::Timeout { repository: repository.to_owned(), action, timeout, limit: None }
            }
            Self::Tool(source @ ToolError::Start { .. }) => {
                SourceError::NoGit { minimum: GIT_VERSION_MIN, source }
            }
            Self::Tool(other) => {
                let reason = std::error::Error::source(&other).map(|reason| format!(": {reason}"));
                let detail = format!("{other}{}", reason.unwrap_or_default());
                SourceError::Git { repository: repository.to_owned(), detail }
            }
        }
    }
}

/// What git said on standard error, for people: its last lines, without secrets.
pub(crate) fn shown(stderr: &str, secrets: &[Secret]) -> String {
    let mut text = stderr.to_owned();
    for secret in secrets.iter().map(Secret::expose).filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "***");
    }
    let lines: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.split(' ').map(crate::redact_url).collect::<Vec<_>>().join(" "))
        .collect();
    let kept = &lines[lines.len().saturating_sub(SAID_LINES_MAX)..];
    if kept.is_empty() { "git said nothing".to_owned() } else { kept.join("; ") }
}

fn base_environment(environment: &[(OsString, OsString)], user: UserSettings) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        ENVIRONMENT.contains(&name.as_ref()) || name.to_ascii_uppercase().ends_with("_PROXY")
    };
    let mut env: Vec<(OsString, OsString)> =
        environment.iter().filter(|(name, _)| is_passed(name)).cloned().collect();
    // Git's own TLS library does not read these two.
    for (from, to) in [("SSL_CERT_FILE", "GIT_SSL_CAINFO"), ("SSL_CERT_DIR", "GIT_SSL_CAPATH")] {
        if let Some((_, value)) = environment.iter().rfind(|(name, _)| name == from) {
            env.push((to.into(), value.clone()));
        }
    }
    let mut fix = |name: &str, value: &str| env.push((name.into(), value.into()));
    fix("LC_ALL", "C");
    fix("GIT_TERMINAL_PROMPT", "0");
    fix("GIT_ASKPASS", "");
    fix("GCM_INTERACTIVE", "never");
    fix("GIT_OPTIONAL_LOCKS", "0");
    if user == UserSettings::Ignored {
        fix("GIT_CONFIG_GLOBAL", "/dev/null");
        fix("GIT_CONFIG_NOSYSTEM", "1");
    }
    env
}

fn version_of(text: &str) -> Vec<u32> {
    let number = text.split(' ').next().unwrap_or_default();
    number.split('.').map_while(|part| part.parse().ok()).take(2).collect()
}
