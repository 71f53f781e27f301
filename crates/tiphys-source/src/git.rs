//! Calls of the git program.
//!
//! Git never prompts, gets only a short list of the caller's environment variables, runs no program that a repository's configuration names,
//! and prints messages in English, which [`failure`] parses.

pub(crate) mod failure;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_process::{Tool, ToolError, ToolOutput};
use tokio::sync::OnceCell;

use crate::{Secret, SourceError};

/// The minimum version of git: the first that reads settings from its environment (`GIT_CONFIG_COUNT`), which keeps secrets out of argument
/// lists.
pub const GIT_VERSION_MIN: &str = "2.31";

/// Variables of the caller's environment that git gets, besides those that end in `_PROXY` in either case.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Maximum size of git's standard output, in bytes.
const STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Commands that only read, ask no other host and end soon.
const QUERIES: [&str; 6] = ["--version", "config", "for-each-ref", "ls-files", "rev-parse", "symbolic-ref"];

/// Maximum number of lines of git's standard error in an error.
const STDERR_LINES_MAX: usize = 6;

/// Settings that take precedence over all configuration files.
const SETTINGS: [(&str, &str); 10] = [
    // These would run programs that a repository names.
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("protocol.ext.allow", "never"),
    ("credential.interactive", "false"),
    ("core.quotePath", "false"),
    // This process may have packs open.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // A pack appears atomically; loose objects appear one after another.
    ("fetch.unpackLimit", "1"),
    ("fetch.writeCommitGraph", "false"),
    ("submodule.recurse", "false"),
];

/// Whether git uses the user's own settings and credentials, besides those of Secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserSettings {
    /// Git's configuration with credential helpers and `insteadOf`, `~/.ssh`, and the ssh agent are used. For laptops and CI.
    #[default]
    Honoured,
    /// They are ignored. For servers.
    Ignored,
}

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

/// A call of git.
pub(crate) struct Call<'a> {
    pub(crate) args: Vec<OsString>,
    pub(crate) dir: &'a Path,
    pub(crate) place: Place<'a>,
    pub(crate) config: Vec<(String, String)>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) timeout: Duration,
}

/// The repository of a call.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// A bare repository.
    Bare(&'a Path),
    /// The repository whose work tree begins in the call's directory.
    Here,
    /// No repository.
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

    /// Returns a call that needs no network.
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

    /// Returns the user's `core.sshCommand`, or `ssh`.
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

    /// Returns the file with the user's attributes, unless the configuration names another one.
    pub(crate) fn user_attributes(&self) -> Option<PathBuf> {
        let home = self.env.iter().rfind(|(name, _)| name == "HOME").map(|(_, home)| Path::new(home));
        let is_read = self.user == UserSettings::Honoured;
        home.filter(|_| is_read).map(|home| home.join(".config/git/attributes"))
    }

    async fn check_version(&self) -> Result<(), ToolProblem> {
        let call = self.local(Path::new("/"), Place::Nowhere, ["--version"]);
        let output = self.start(call).await.map_err(ToolProblem::Tool)?;
        let text = String::from_utf8_lossy(&output.stdout);
        if is_supported_git(&text) { Ok(()) } else { Err(ToolProblem::Old(version_words(&text).to_owned())) }
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
        let is_query = |command: &OsString| QUERIES.iter().any(|query| *query == *command);
        if call.args.first().is_some_and(is_query) {
            tool.query(&call.args, call.dir, call.stdin).await
        } else {
            tool.run(&call.args, call.dir, call.stdin).await
        }
    }
}

/// The reason why git did not run, or was stopped.
#[derive(Debug)]
pub(crate) enum ToolProblem {
    Tool(ToolError),
    Old(String),
}

impl ToolProblem {
    /// Converts it into an error about a repository.
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

/// Returns the last lines of git's standard error, with secrets redacted.
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
    let kept = &lines[lines.len().saturating_sub(STDERR_LINES_MAX)..];
    // A line that ends in a colon introduces the next one.
    if kept.is_empty() { "git said nothing".to_owned() } else { kept.join("; ").replace(":; ", ": ") }
}

fn base_environment(environment: &[(OsString, OsString)], user: UserSettings) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        ENVIRONMENT.contains(&name.as_ref()) || name.to_ascii_uppercase().ends_with("_PROXY")
    };
    let mut env: Vec<(OsString, OsString)> =
        environment.iter().filter(|(name, _)| is_passed(name)).cloned().collect();
    // Git's TLS library does not read these two.
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

/// Whether the version that `git --version` prints is supported.
pub fn is_supported_git(printed: &str) -> bool {
    version_of(version_words(printed)) >= version_of(GIT_VERSION_MIN)
}

fn version_words(printed: &str) -> &str {
    let printed = printed.trim();
    printed.strip_prefix("git version ").unwrap_or(printed)
}

fn version_of(text: &str) -> Vec<u32> {
    let number = text.split(' ').next().unwrap_or_default();
    number.split('.').map_while(|part| part.parse().ok()).take(2).collect()
}
