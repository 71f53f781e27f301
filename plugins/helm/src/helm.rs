//! Finds helm, reads its version and runs it in a private home. Its environment contains nothing of the request.

mod recorded_version;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use tiphys_helm_values::HelmVersion as Rules;
use tiphys_process::{Tool, ToolError};

use crate::builtin::{Engine, RULES};
use crate::failure::go_words;
use crate::home::{Home, HomeError, known_versions};
use crate::host::Host;
use crate::redaction::{Redactor, without_secrets};
use crate::settings::Settings;
use crate::slow::SlowNotice;

use recorded_version::{VersionFile, is_helm};

/// The lowest supported minor version of each major version. Older ones lack options of Argo CD's calls, or interpret them differently.
const LOWEST: [(u64, u64); 2] = [(4, 3), (3, 20)];

/// The minor version of Helm 3 whose rules the built-in engine has. Others know other API versions.
const RULES_3_MINOR: u64 = 22;

/// The newest minor version of Helm 4 whose rules the built-in engine has.
const RULES_4_MINOR: u64 = 3;

/// Maximum bytes of helm's answer to `helm version`.
const VERSION_BYTES_MAX: usize = 128;

/// An installed helm.
#[derive(Debug)]
pub(crate) struct Helm {
    tool: Tool,
    slow: SlowNotice,
    /// The directory for caches, which records versions.
    caches: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelmVersion {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    /// As helm prints it.
    pub(crate) text: String,
}

/// Errors of running helm, in Argo CD's words where it has some.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelmError {
    /// The program was not found.
    #[error("failed running helm: {program} was not found in PATH; install {}, or set TIPHYS_HELM", supported_versions(), program = program.display())]
    NotFound {
        /// The name or path.
        program: PathBuf,
    },
    /// The program could not be started.
    #[error("failed running helm: fork/exec {program}: {}", go_words(cause), program = program.display())]
    Start {
        program: PathBuf,
        /// Part of the message.
        cause: io::Error,
    },
    /// Helm failed.
    #[error("failed running helm: `{command}` failed {ending}: {stderr}")]
    Failed {
        /// The command, redacted.
        command: String,
        /// How it ended: `exit status 1`.
        ending: String,
        /// Standard error, redacted and trimmed.
        stderr: String,
    },
    /// Helm exceeded the timeout.
    #[error("failed running helm: `{command}` failed timeout after {}; increase TIPHYS_HELM_TIMEOUT", go_duration(*timeout))]
    Timeout {
        /// The command, redacted.
        command: String,
        timeout: Duration,
    },
    /// Helm printed too much.
    #[error(
        "failed running helm: `{command}` printed more than {bytes_max} bytes; increase TIPHYS_HELM_OUTPUT_MAX"
    )]
    OutputTooLarge {
        /// The command, redacted.
        command: String,
        bytes_max: usize,
    },
    #[error(transparent)]
    Contact(ToolError),
    /// The program is not helm.
    #[error("{program} reports the version {printed:?}, which is not a version of helm; set TIPHYS_HELM to another program", program = program.display())]
    NoVersion { program: PathBuf, printed: String },
    /// The version is not supported.
    #[error(
        "{program} is helm {version}, which is not supported; install {}, or set TIPHYS_HELM",
        supported_versions(),
        program = program.display()
    )]
    Unsupported { program: PathBuf, version: String },
    /// A file in the home of this run failed.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// The configured helm, as far as it is known without starting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnownHelm {
    /// It does not exist.
    NotFound,
    /// An earlier run recorded its version.
    Version(HelmVersion),
    /// It has not run yet.
    New,
    /// A script, or a program of another name, which may do more than helm.
    Wrapper,
}

impl KnownHelm {
    /// Returns what is known about the configured helm.
    pub(crate) fn of(host: &Host, settings: &Settings) -> Self {
        let Some(program) = host.find(&settings.helm) else { return Self::NotFound };
        if !is_helm(&program) {
            return Self::Wrapper;
        }
        recorded_version(host, settings).map_or(Self::New, Self::Version)
    }

    /// Returns the rules by which the built-in engine renders charts as this helm does. The version of a new one is not known. The error is the
    /// reason why the engine `auto` leaves all charts to it.
    pub(crate) fn builtin_rules(&self) -> Result<Rules, &'static str> {
        match self {
            Self::Wrapper => Err("the helm on PATH is a script, or has another name"),
            Self::Version(version) => match version.rules() {
                Rules::V3 if version.minor != RULES_3_MINOR => {
                    Err("the helm on PATH is not Helm 3.22, whose rules the built-in engine has")
                }
                Rules::V4 if version.minor > RULES_4_MINOR => {
                    Err("the helm on PATH is newer than the rules of the built-in engine, those of 4.3")
                }
                rules => Ok(rules),
            },
            Self::NotFound | Self::New => Ok(RULES),
        }
    }
}

/// Returns the rules by which charts are rendered: those of the engine, else those of the configured helm, if an earlier run recorded its
/// version. Starts and writes nothing.
pub(crate) fn known_rules(host: &Host, settings: &Settings) -> Rules {
    match settings.engine {
        Engine::Builtin(rules) => rules,
        Engine::Auto | Engine::Program | Engine::Compare => {
            recorded_version(host, settings).map_or(RULES, |version| version.rules())
        }
    }
}

/// Returns the version that an earlier run recorded for the configured helm.
fn recorded_version(host: &Host, settings: &Settings) -> Option<HelmVersion> {
    let program = host.find(&settings.helm)?;
    let folders = settings.cache_folder.iter().chain([&settings.temporary_folder]);
    let mut places = folders.filter_map(|folder| VersionFile::within(&known_versions(folder)?, &program));
    places.find_map(|place| place.peek_version())
}

impl Helm {
    /// The configured helm, with a home. `redactor` redacts its commands.
    pub(crate) fn new(
        host: &Host,
        settings: &Settings,
        home: &Home,
        redactor: Redactor,
    ) -> Result<Self, HelmError> {
        let program = host
            .find(&settings.helm)
            .ok_or_else(|| HelmError::NotFound { program: settings.helm.to_path_buf() })?;
        let mut env = host.child_environment();
        env.extend(home.environment());
        env.extend(settings.helm_plugins.iter().map(|folder| ("HELM_PLUGINS".into(), folder.into())));
        let tool =
            Tool { program, env, timeout: settings.timeout, stdout_bytes_max: settings.output_bytes_max };
        let caches = settings.cache_folder.as_deref().map(Path::to_path_buf);
        Ok(Self { tool, slow: SlowNotice::new(settings, redactor), caches })
    }

    /// The program's path.
    pub(crate) fn program(&self) -> &Path {
        &self.tool.program
    }

    /// Returns a helm that fetches from these redacted addresses.
    pub(crate) fn to_fetch(&self, addresses: Vec<String>) -> Self {
        let slow = self.slow.fetching_from(addresses);
        Self { tool: self.tool.clone(), slow, caches: self.caches.clone() }
    }

    /// Returns the version, possibly recorded by an earlier run. Unsupported ones are errors.
    pub(crate) async fn version(&self, home: &Home) -> Result<HelmVersion, HelmError> {
        match self.place(home)?.and_then(|place| place.version(home)) {
            Some(version) => self.supported(version),
            None => self.ask_version(home).await,
        }
    }

    /// Like [`Self::version`], but always runs helm.
    pub(crate) async fn ask_version(&self, home: &Home) -> Result<HelmVersion, HelmError> {
        // Computed first, so that the answer is not recorded for a file that replaced the program meanwhile.
        let before = self.place(home)?;
        let arguments = ["version", "--template", "{{.Version}}"].map(str::to_owned);
        let printed = self.run(&arguments, "helm version --template {{.Version}}", home.path()).await?;
        let printed = printed.get(..VERSION_BYTES_MAX).unwrap_or(&printed);
        let text = String::from_utf8_lossy(printed).trim().to_owned();
        let Some(version) = HelmVersion::parse(&text) else {
            return Err(HelmError::NoVersion { program: self.program().to_path_buf(), printed: text });
        };
        if let Some(place) = before
            && self.place(home)?.as_ref() == Some(&place)
        {
            place.remember(&version);
        }
        self.supported(version)
    }

    /// Returns where the version is recorded.
    fn place(&self, home: &Home) -> Result<Option<VersionFile>, HomeError> {
        VersionFile::of(self.program(), self.caches.as_deref(), home)
    }

    fn supported(&self, version: HelmVersion) -> Result<HelmVersion, HelmError> {
        if version.is_supported() {
            Ok(version)
        } else {
            Err(HelmError::Unsupported { program: self.program().to_path_buf(), version: version.text })
        }
    }

    /// Runs helm in a directory and returns its output. `shown` is the command in messages.
    pub(crate) async fn run(
        &self,
        arguments: &[String],
        shown: &str,
        dir: &Path,
    ) -> Result<Vec<u8>, HelmError> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let command = || without_secrets(shown);
        match self.slow.wait(shown, self.tool.run(&arguments, dir, None)).await {
            Ok(output) if output.code == Some(0) => Ok(output.stdout),
            Ok(output) => {
                let ending = match output.code {
                    Some(code) => format!("exit status {code}"),
                    None => "signal: killed".to_owned(),
                };
                let stderr = without_secrets(&output.stderr).trim().to_owned();
                Err(HelmError::Failed { command: command(), ending, stderr })
            }
            Err(ToolError::Start { source, .. }) => {
                Err(HelmError::Start { program: self.program().to_path_buf(), cause: exec_error(source) })
            }
            Err(ToolError::Timeout { timeout, .. }) => {
                Err(HelmError::Timeout { command: command(), timeout })
            }
            Err(ToolError::OutputTooLarge { bytes_max, .. }) => {
                Err(HelmError::OutputTooLarge { command: command(), bytes_max })
            }
            Err(error @ ToolError::Io { .. }) => Err(HelmError::Contact(error)),
        }
    }
}

impl HelmVersion {
    /// Parses `v4.3.1`, `v4.3` or `v3.21.4+g0a1b2c3`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let numbers = text.strip_prefix('v')?.split(['+', '-']).next()?;
        let mut numbers = numbers.split('.').map(str::parse::<u64>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let rest_is_numbers = numbers.all(|number| number.is_ok());
        rest_is_numbers.then(|| Self { major, minor, text: text.to_owned() })
    }

    /// Rules for merging values.
    pub(crate) fn rules(&self) -> Rules {
        if self.major == 3 { Rules::V3 } else { Rules::V4 }
    }

    fn is_supported(&self) -> bool {
        LOWEST.iter().any(|(major, minor)| self.major == *major && self.minor >= *minor)
    }
}

/// Whether the plugin supports the version of helm that `helm version --template {{.Version}}` prints.
pub fn is_supported_version(printed: &str) -> bool {
    HelmVersion::parse(printed.trim()).is_some_and(|version| version.is_supported())
}

/// Returns the version of Helm by whose rules the engine `auto` renders charts beside a helm with a path, which printed this version. The error is
/// the reason why it leaves all charts to that helm.
pub fn rules_beside(program: &Path, printed: &str) -> Result<&'static str, &'static str> {
    let known = match HelmVersion::parse(printed.trim()) {
        Some(version) if is_helm(program) => KnownHelm::Version(version),
        _ => KnownHelm::Wrapper,
    };
    known.builtin_rules().map(|rules| match rules {
        Rules::V3 => "3.22",
        Rules::V4 => "4.3",
    })
}

/// Returns the supported versions, for messages.
pub fn supported_versions() -> String {
    let versions = LOWEST.map(|(major, minor)| format!("helm {major}.{minor} or a later {major}.x"));
    versions.join(", or ")
}

/// Rust rejects a NUL in an argument with its own error; this is the system's.
fn exec_error(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::InvalidInput { Errno::INVAL.into() } else { error }
}

/// Formats a duration as Go does: `1m30s`.
fn go_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests;
