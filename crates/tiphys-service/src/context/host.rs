//! The process that a use case runs in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tiphys_plugin::{InProcessCommand, NativeCommand};
use tiphys_process::Tool;

use crate::error::{Input, Remedy, ServiceError, chain};

/// Limit for one call of a program that only answers a question.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum bytes of its answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The environment, directories and program of the process. The binary reads them once; the use cases read nothing else of them.
#[derive(Clone, Debug)]
pub struct Host {
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// The program's own file, which runs of plugins start again as their launcher.
    pub executable: PathBuf,
    /// Names of the programs of plugins that are part of it. It runs one if its first argument is such a name.
    pub plugin_programs: &'static [&'static str],
    /// Their commands that the program `tiphys-native` can do instead.
    pub native_commands: &'static [NativeCommand],
    /// Their commands that this process does itself.
    pub in_process_commands: &'static [InProcessCommand],
    /// The directory that relative paths are resolved against.
    pub current_dir: PathBuf,
    /// Number of processors.
    pub processors: usize,
    /// Opens what `-` stands for. A server passes an empty reader.
    pub standard_input: fn() -> Box<dyn Read>,
    /// Returns the time of day.
    pub clock: fn() -> SystemTime,
}

impl Host {
    /// Returns an environment variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns all environment variables.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone()))
    }

    /// Returns all environment variables as those of another program.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// Resolves a path against the current directory.
    pub fn absolute(&self, path: impl AsRef<Path>) -> PathBuf {
        self.current_dir.join(path)
    }

    /// Returns the kubeconfigs of `kubectl`: those of `KUBECONFIG`, else the one in the home directory.
    pub fn kubeconfigs(&self) -> Vec<PathBuf> {
        match (self.variable("KUBECONFIG"), self.variable("HOME")) {
            (Some(list), _) => {
                list.split(':').filter(|path| !path.is_empty()).map(|path| self.absolute(path)).collect()
            }
            (None, Some(home)) => vec![PathBuf::from(home).join(".kube/config")],
            (None, None) => Vec::new(),
        }
    }

    /// Returns the requested cache directory, or `tiphys` in the user's cache directory (XDG).
    pub(crate) fn cache_dir(&self, requested: Option<&Path>) -> Result<PathBuf, ServiceError> {
        if let Some(dir) = requested {
            return Ok(self.absolute(dir));
        }
        let base = self
            .variable("XDG_CACHE_HOME")
            .filter(|dir| dir.starts_with('/'))
            .map(PathBuf::from)
            .or_else(|| self.variable("HOME").map(|home| Path::new(home).join(".cache")));
        match base {
            Some(base) => Ok(base.join("tiphys")),
            None => {
                Err(ServiceError::invalid_input("no cache folder: neither XDG_CACHE_HOME nor HOME is set")
                    .with_remedy(Remedy::ChangeCacheDirectory))
            }
        }
    }

    /// Returns the directory for temporary files.
    pub fn temporary_dir(&self) -> PathBuf {
        self.variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), |dir| self.absolute(dir))
    }

    /// Creates a directory in which plugins' working directories stay after the run. Only its owner can read it, since files in there may
    /// contain secrets.
    pub fn create_kept_workdirs(&self) -> Result<PathBuf, ServiceError> {
        let base = self.temporary_dir();
        tempfile::Builder::new()
            .prefix("tiphys-workdirs-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&base)
            .map(tempfile::TempDir::keep)
            .map_err(|error| {
                ServiceError::invalid_input(format!("cannot make a folder in {}: {error}", base.display()))
                    .of_input(Input::KeepWorkdir)
            })
    }
}

/// Runs a program and returns what it prints, or why it failed in one line.
pub(crate) async fn printed_by(
    host: &Host,
    program: &Path,
    arguments: &[&str],
    dir: &Path,
) -> Result<String, String> {
    let env = ["PATH", "HOME", "XDG_CONFIG_HOME"].iter();
    let env = env.filter_map(|name| Some((OsString::from(name), OsString::from(host.variable(name)?))));
    let tool = Tool {
        program: program.to_path_buf(),
        env: env.collect(),
        timeout: QUESTION_TIMEOUT,
        stdout_bytes_max: ANSWER_BYTES_MAX,
    };
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let output = tool.run(&arguments, dir, None).await.map_err(|error| chain(&error))?;
    if output.code == Some(0) {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let lines: Vec<&str> = output.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(lines.join(" "))
}

#[cfg(test)]
impl Host {
    /// A process in the directory `/current` with these variables and an empty standard input.
    pub(crate) fn for_tests(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            variables: variables.iter().map(owned).collect(),
            executable: PathBuf::from("/opt/tiphys/bin/tiphys"),
            plugin_programs: &[],
            native_commands: &[],
            in_process_commands: &[],
            current_dir: PathBuf::from("/current"),
            processors: 2,
            standard_input: || Box::new(std::io::empty()),
            clock: || std::time::UNIX_EPOCH,
        }
    }

    /// The same process in another directory.
    pub(crate) fn in_dir(self, current_dir: &Path) -> Self {
        Self { current_dir: current_dir.to_path_buf(), ..self }
    }
}

#[cfg(test)]
mod tests;
