//! Measured calls: of the plugin by a plugin server, of helm by the plugin, and of the scripts.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::sample::{Sample, Starter, User};
use crate::Failure;
use crate::cargo::{output, search_path};
use crate::files::{create_directory, remove, write};

/// The scripts of the proposal's Example 3.
pub(super) const EXAMPLE_GENERATE: [&str; 2] = ["generate.sh", include_str!("example-generate.sh")];
pub(super) const EXAMPLE_PARAMETERS: [&str; 2] = ["parameters.sh", include_str!("example-parameters.sh")];

/// A script that replaces helm where helm is not measured. [`STAND_IN_VERSION`] is replaced by the version that it prints.
const STAND_IN: &str = include_str!("stand-in.sh");
const STAND_IN_VERSION: &str = "VERSION";

/// The version of a script if it does not matter.
pub(super) const ANY_VERSION: &str = "v4.3.1";

/// The helms of `cargo xtask tools`.
const HELMS: [&str; 2] = ["helm", "helm3"];

/// The fixture of all cases.
pub(super) struct Bench {
    /// With the plugin as program.
    pub(super) starter: Starter,
    /// Folder of yq, jq and the helms.
    pub(super) tools: PathBuf,
}

/// A helm with the name `helm` in its own directory.
#[derive(Clone, Debug)]
pub(super) struct Helm {
    /// The name in tables.
    pub(super) name: String,
    /// The version as it prints it.
    pub(super) version: String,
    folder: PathBuf,
}

/// A command with its directory and environment.
#[derive(Clone, Debug)]
pub(super) struct Call {
    line: Vec<OsString>,
    folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
    /// Directories that are removed before it starts.
    absent: Vec<PathBuf>,
}

/// A chart in a repository.
#[derive(Clone, Debug)]
pub(super) struct ChartPlace {
    /// The repository's root.
    pub(super) root: PathBuf,
    /// The chart's folder below it.
    pub(super) path: &'static str,
}

impl Bench {
    pub(super) fn folder(&self) -> &Path {
        self.starter.folder()
    }

    /// Both versions of helm.
    pub(super) fn helms(&self) -> Result<Vec<Helm>, Failure> {
        HELMS.iter().map(|name| self.helm(name)).collect()
    }

    fn helm(&self, name: &str) -> Result<Helm, Failure> {
        let folder = self.folder().join("helms").join(name);
        let link = folder.join("helm");
        if !link.exists() {
            create_directory(&folder)?;
            symlink(self.tools.join(name), &link).map_err(|error| Failure::at(&link, error))?;
        }
        let asked = self.output(&Call::new(
            &folder,
            &[link.as_os_str(), "version".as_ref(), "--template={{.Version}}".as_ref()],
        ))?;
        let version = asked.trim().to_owned();
        Ok(Helm { name: format!("helm {}", version.trim_start_matches('v')), version, folder })
    }

    /// A script that replaces helm, prints these bytes, and has this version. The plugin has cache entries for each version.
    pub(super) fn stand_in(&self, name: &str, version: &str, output: &[u8]) -> Result<Helm, Failure> {
        let folder = self.folder().join("helms").join(name);
        let script = folder.join("helm");
        write(&script, STAND_IN.replace(STAND_IN_VERSION, version))?;
        fs::set_permissions(&script, Permissions::from_mode(0o755))
            .map_err(|error| Failure::at(&script, error))?;
        write(&folder.join("helm.output"), output)?;
        Ok(Helm { name: name.to_owned(), version: version.to_owned(), folder })
    }

    /// A call of the plugin, with the environment that a plugin server gives it.
    pub(super) fn plugin(&self, command: &str, chart: &ChartPlace, helm: &Helm, parameters: &str) -> Call {
        Call::new(&chart.folder(), &[self.starter.program.as_os_str(), command.as_ref()])
            .with("PATH", self.path(helm))
            .with("XDG_CACHE_HOME", self.cache())
            .with("ARGOCD_APP_NAME", "bench")
            .with("ARGOCD_APP_NAMESPACE", "bench")
            .with("ARGOCD_APP_PROJECT_NAME", "default")
            .with("ARGOCD_APP_SOURCE_PATH", chart.path)
            .with("ARGOCD_APP_SOURCE_REPO_URL", "https://git.example.com/bench.git")
            .with("KUBE_VERSION", "1.33.1")
            .with("KUBE_API_VERSIONS", super::charts::api_versions())
            .with("ARGOCD_APP_PARAMETERS", parameters)
    }

    /// The plugin's cache of dependencies.
    pub(super) fn cache(&self) -> PathBuf {
        self.folder().join("cache")
    }

    /// The call of helm that a call of the plugin makes. A script that replaces helm records it.
    pub(super) fn call_of_helm(
        &self,
        chart: &ChartPlace,
        helm: &Helm,
        parameters: &str,
    ) -> Result<Call, Failure> {
        let recorder = self.stand_in("recorder", ANY_VERSION, b"")?;
        self.output(&self.plugin("generate", chart, &recorder, parameters))?;
        let file = recorder.folder.join("helm.arguments");
        let recorded = fs::read(&file).map_err(|error| Failure::at(&file, error))?;
        Ok(helm.call(chart, &arguments(&recorded)))
    }

    /// A script of the example, with its parameters.
    pub(super) fn example(
        &self,
        [name, text]: [&str; 2],
        chart: &ChartPlace,
        helm: &Helm,
        parameters: &str,
    ) -> Result<Call, Failure> {
        let file = self.folder().join("scripts").join(name);
        write(&file, text)?;
        let call = Call::new(&chart.folder(), &["sh".as_ref(), file.as_os_str()]);
        Ok(call.with("PATH", self.path(helm)).with("ARGOCD_APP_PARAMETERS", parameters))
    }

    /// Runs the calls in turn, once to warm up and then as often as requested, and returns the samples of each.
    pub(super) fn in_turn<const N: usize>(&self, calls: [&Call; N]) -> Result<[Vec<Sample>; N], Failure> {
        let samples = self.starter.repeated(|_| {
            let sample = |call: &&Call| {
                call.absent.iter().try_for_each(|folder| remove(folder))?;
                self.starter.measured(self.command(call, self.starter.own.as_os_str()), &call.line)
            };
            calls.iter().map(sample).collect::<Result<Vec<_>, Failure>>()
        })?;
        Ok(std::array::from_fn(|call| samples.iter().map(|run| run[call].clone()).collect()))
    }

    /// Fails unless two calls print the same; otherwise their times would not be comparable.
    pub(super) fn must_agree(&self, one: &Call, other: &Call) -> Result<(), Failure> {
        let (one_printed, other_printed) = (self.output(one)?, self.output(other)?);
        if one_printed == other_printed && !one_printed.is_empty() {
            return Ok(());
        }
        Err(Failure::new(format!("{:?} and {:?} do not print the same", one.line, other.line)))
    }

    /// Returns the standard output of a call.
    pub(super) fn output(&self, call: &Call) -> Result<String, Failure> {
        let (name, arguments) = call.line.split_first().ok_or_else(|| Failure::new("an empty call"))?;
        output(self.command(call, name).args(arguments))
    }

    fn command(&self, call: &Call, program: &OsStr) -> Command {
        let mut command = self.starter.command(program, User::Own);
        command.current_dir(&call.folder).envs(call.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn path(&self, helm: &Helm) -> OsString {
        let mut path = helm.folder.clone().into_os_string();
        for more in [self.tools.as_os_str(), &search_path()] {
            path.push(":");
            path.push(more);
        }
        path
    }
}

impl Helm {
    /// A call in a chart's folder.
    pub(super) fn call(&self, chart: &ChartPlace, arguments: &[OsString]) -> Call {
        let mut call = Call::new(&chart.folder(), &[self.folder.join("helm").as_os_str()]);
        call.line.extend_from_slice(arguments);
        call
    }
}

impl ChartPlace {
    /// The chart's folder.
    pub(super) fn folder(&self) -> PathBuf {
        self.root.join(self.path)
    }
}

impl Call {
    fn new(folder: &Path, line: &[&OsStr]) -> Self {
        Self {
            line: line.iter().map(|word| (*word).to_owned()).collect(),
            folder: folder.to_path_buf(),
            variables: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Sets a variable.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.retain(|(other, _)| *other != name);
        self.variables.push((name, value.into()));
        self
    }

    /// Adds a directory that is removed before each start.
    pub(super) fn without(mut self, folder: PathBuf) -> Self {
        self.absent.push(folder);
        self
    }
}

/// Arguments that each end in a NUL.
fn arguments(recorded: &[u8]) -> Vec<OsString> {
    let recorded = recorded.strip_suffix(b"\0").unwrap_or(recorded);
    recorded.split(|byte| *byte == 0).map(|argument| OsStr::from_bytes(argument).to_owned()).collect()
}
