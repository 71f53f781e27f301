//! Finding helm, asking its version, and running it: in a home of its own, with nothing of the request in its environment.

mod remembered;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use tiphys_process::{Tool, ToolError};

use crate::failure::go_words;
use crate::home::{Home, HomeError, known_versions};
use crate::host::Host;
use crate::settings::Settings;
use crate::shown::{Cleaner, without_secret_options};
use crate::slow::SlowNotice;

use remembered::Place;

/// The lowest versions of helm that are run, the first two numbers of each; before them options of Argo CD's calls were missing or meant
/// something else. Of each first number all later ones are run.
const LOWEST: [(u64, u64); 2] = [(4, 3), (3, 20)];

/// Bytes of the text of a version.
const VERSION_BYTES_MAX: usize = 128;

/// A helm that can be run.
#[derive(Debug)]
pub(crate) struct Helm {
    tool: Tool,
    slow: SlowNotice,
    /// The folder for caches, below which versions are remembered.
    caches: Option<PathBuf>,
}

/// A version of helm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelmVersion {
    /// The first number.
    pub(crate) major: u64,
    /// The second.
    pub(crate) minor: u64,
    /// As helm prints it.
    pub(crate) text: String,
}

/// Why helm did not do what it was to do. The texts are those of Argo CD where it has some.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelmError {
    /// It was not found.
    #[error("failed running helm: {program} was not found on PATH; install {}, or name one in TIPHYS_HELM", supported(), program = program.display())]
    NotFound {
        /// What was looked for.
        program: PathBuf,
    },
    /// It could not be started.
    #[error("failed running helm: fork/exec {program}: {}", go_words(cause), program = program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's answer; it is part of the text.
        cause: io::Error,
    },
    /// It failed.
    #[error("failed running helm: `{command}` failed {ending}: {stderr}")]
    Failed {
        /// The command, secrets masked.
        command: String,
        /// How it ended: `exit status 1`.
        ending: String,
        /// What it wrote to standard error, secrets masked, without white space around it.
        stderr: String,
        /// What it wrote to standard output, where `helm dependency build` tells causes. It is no part of the text.
        stdout: String,
    },
    /// It took too long.
    #[error("failed running helm: `{command}` failed timeout after {}; TIPHYS_HELM_TIMEOUT gives it more seconds", go_duration(*timeout))]
    Timeout {
        /// The command, secrets masked.
        command: String,
        /// The bound.
        timeout: Duration,
    },
    /// It printed too much.
    #[error(
        "failed running helm: `{command}` printed more than {bytes_max} bytes; TIPHYS_HELM_OUTPUT_MAX allows more"
    )]
    OutputTooLarge {
        /// The command, secrets masked.
        command: String,
        /// The bound.
        bytes_max: usize,
    },
    /// Its pipes failed.
    #[error(transparent)]
    Contact(ToolError),
    /// What it says of its version is none.
    #[error("{program} says that its version is {printed:?}, which is no version of helm; name another one in TIPHYS_HELM", program = program.display())]
    NoVersion {
        /// The program.
        program: PathBuf,
        /// What it printed.
        printed: String,
    },
    /// A version that the plugin does not know.
    #[error(
        "{program} is helm {version}, which is not supported; install {}, or name one in TIPHYS_HELM",
        supported(),
        program = program.display()
    )]
    Unsupported {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: String,
    },
    /// A file of this program's own.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// The version of the helm that the settings name, if an earlier run has asked it. Nothing is started or written.
pub(crate) fn remembered_version(host: &Host, settings: &Settings) -> Option<HelmVersion> {
    let program = host.find(&settings.helm)?;
    let folders = settings.cache_folder.iter().chain([&settings.temporary_folder]);
    let mut places = folders.filter_map(|folder| Place::within(&known_versions(folder)?, &program));
    places.find_map(|place| place.seen_version())
}

impl Helm {
    /// The helm that the settings name, with a home. `cleaner` makes its commands fit to be seen.
    pub(crate) fn new(
        host: &Host,
        settings: &Settings,
        home: &Home,
        cleaner: Cleaner,
    ) -> Result<Self, HelmError> {
        let program = host
            .find(&settings.helm)
            .ok_or_else(|| HelmError::NotFound { program: settings.helm.to_path_buf() })?;
        let mut env = host.passed_on();
        env.extend(home.environment());
        env.extend(settings.helm_plugins.iter().map(|folder| ("HELM_PLUGINS".into(), folder.into())));
        let tool =
            Tool { program, env, timeout: settings.timeout, stdout_bytes_max: settings.output_bytes_max };
        let caches = settings.cache_folder.as_deref().map(Path::to_path_buf);
        Ok(Self { tool, slow: SlowNotice::new(settings, cleaner), caches })
    }

    /// The program's path.
    pub(crate) fn program(&self) -> &Path {
        &self.tool.program
    }

    /// The same helm with more variables, which win over those of the same name, to fetch from these addresses, as people may see them.
    pub(crate) fn to_fetch(&self, more: Vec<(OsString, OsString)>, addresses: Vec<String>) -> Self {
        let mut tool = self.tool.clone();
        tool.env.retain(|(name, _)| more.iter().all(|(other, _)| name != other));
        tool.env.extend(more);
        Self { tool, slow: self.slow.fetching_from(addresses), caches: self.caches.clone() }
    }

    /// Its version, which must be one that the plugin knows. It may be remembered from an earlier run.
    pub(crate) async fn version(&self, home: &Home) -> Result<HelmVersion, HelmError> {
        match self.place(home)?.and_then(|place| place.version(home)) {
            Some(version) => self.supported(version),
            None => self.ask_version(home).await,
        }
    }

    /// The same, by asking the program itself.
    pub(crate) async fn ask_version(&self, home: &Home) -> Result<HelmVersion, HelmError> {
        // What answers is not remembered as the answer of a file that took its place meanwhile.
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

    /// Where its version is remembered.
    fn place(&self, home: &Home) -> Result<Option<Place>, HomeError> {
        Place::of(self.program(), self.caches.as_deref(), home)
    }

    fn supported(&self, version: HelmVersion) -> Result<HelmVersion, HelmError> {
        if version.is_supported() {
            Ok(version)
        } else {
            Err(HelmError::Unsupported { program: self.program().to_path_buf(), version: version.text })
        }
    }

    /// Runs helm in a folder and gives what it printed. `shown` is the command as texts show it.
    pub(crate) async fn run(
        &self,
        arguments: &[String],
        shown: &str,
        dir: &Path,
    ) -> Result<Vec<u8>, HelmError> {
        self.run_with_input(arguments, shown, dir, None).await
    }

    /// As [`Self::run`], with bytes on standard input, such as a password.
    pub(crate) async fn run_with_input(
        &self,
        arguments: &[String],
        shown: &str,
        dir: &Path,
        input: Option<Vec<u8>>,
    ) -> Result<Vec<u8>, HelmError> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let command = || without_secret_options(shown);
        match self.slow.wait(shown, self.tool.run(&arguments, dir, input)).await {
            Ok(output) if output.code == Some(0) => Ok(output.stdout),
            Ok(output) => {
                let ending = match output.code {
                    Some(code) => format!("exit status {code}"),
                    None => "signal: killed".to_owned(),
                };
                let stderr = without_secret_options(&output.stderr).trim().to_owned();
                let stdout = without_secret_options(&String::from_utf8_lossy(&output.stdout));
                Err(HelmError::Failed { command: command(), ending, stderr, stdout })
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
    /// Reads `v4.3.1`, `v4.3` or `v3.21.4+g0a1b2c3`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let numbers = text.strip_prefix('v')?.split(['+', '-']).next()?;
        let mut numbers = numbers.split('.').map(str::parse::<u64>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let rest_is_numbers = numbers.all(|number| number.is_ok());
        rest_is_numbers.then(|| Self { major, minor, text: text.to_owned() })
    }

    /// Whose rules it follows where values are merged.
    pub(crate) fn rules(&self) -> tiphys_helm_values::HelmVersion {
        if self.major == 3 {
            tiphys_helm_values::HelmVersion::V3
        } else {
            tiphys_helm_values::HelmVersion::V4
        }
    }

    fn is_supported(&self) -> bool {
        LOWEST.iter().any(|(major, minor)| self.major == *major && self.minor >= *minor)
    }
}

/// The versions that are run, as texts have them.
fn supported() -> String {
    let versions = LOWEST.map(|(major, minor)| format!("helm {major}.{minor} or a later {major}.x"));
    versions.join(", or ")
}

/// A NUL in an argument is found before the system is asked; the system would say this.
fn exec_error(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::InvalidInput { Errno::INVAL.into() } else { error }
}

/// A duration as Go prints it: `1m30s`.
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
