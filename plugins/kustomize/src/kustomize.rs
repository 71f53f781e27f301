//! Runs kustomize in the application's directory.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tiphys_process::{FailureCause, ToolOutput, find_program};

use crate::call::{Call, CallError};
use crate::edits::HelmVersions;
use crate::{GIT_PROGRAM, HELM_PROGRAM, git};

/// The variable with the application's directory, for the program that kustomize calls instead of helm.
pub(crate) const FOLDER_VARIABLE: &str = "TIPHYS_KUSTOMIZE_FOLDER";

/// The variable with the program that Argo CD's settings register for the version, which is not checked then.
pub(crate) const PROGRAM_VARIABLE: &str = "KUSTOMIZE_PROGRAM";

/// The variable with the program that the user chose.
pub(crate) const USER_PROGRAM_VARIABLE: &str = "TIPHYS_KUSTOMIZE";

/// The variable with the options of `kustomize build`.
pub(crate) const BUILD_OPTIONS_VARIABLE: &str = "KUSTOMIZE_BUILD_OPTIONS";

/// The variable with the program of tiphys that is kustomize if it is called by that name.
const NATIVE_VARIABLE: &str = "TIPHYS_KUSTOMIZE_NATIVE";

/// The name of kustomize.
const KUSTOMIZE: &str = "kustomize";

/// The lowest supported major version. Older ones lack options of the calls below.
const LOWEST_MAJOR: u64 = 5;

/// Transports that git may use: a base may be in another repository, and never in one of this machine, which others may keep here.
const TRANSPORTS: &str = "http:https:ssh:git";

/// Variables with helm's files below an empty directory, unless the caller sets them. The repository decides what helm renders
/// (`--enable-helm`), so it must neither bring programs nor use credentials.
const HELM_FILES: [(&str, &str); 4] = [
    ("HELM_PLUGINS", "helm/plugins"),
    ("HELM_REGISTRY_CONFIG", "helm/registry.json"),
    ("HELM_REPOSITORY_CONFIG", "helm/repositories.yaml"),
    ("DOCKER_CONFIG", "helm"),
];

/// The beginning of an object as Go writes it.
const GO_OBJECT: &str = "map[string]interface {}{";

/// Part of the message of kustomize about a kustomization with charts if it may not run helm.
const HELM_IS_DISABLED: &str = "must specify --enable-helm";

/// The cause of [`HELM_IS_DISABLED`], with the setting of Argo CD.
const ENABLE_HELM: &str = "the kustomization has charts (helmCharts), and helm is not enabled; set `kustomize.buildOptions: --enable-helm` \
                           in the data of the ConfigMap argocd-cm, which tiphys reads from the store";

/// kustomize, ready to run in the application's directory.
#[derive(Debug)]
pub(crate) struct Kustomize<'a> {
    call: &'a Call,
    program: PathBuf,
    env: Vec<(OsString, OsString)>,
    /// The caller's options of `kustomize build`.
    options: Vec<OsString>,
    /// Holds the programs that kustomize calls instead of helm and git, and is otherwise empty.
    programs: TempDir,
}

/// A program that failed.
#[derive(Debug)]
pub(crate) struct FailedProgram {
    /// The exit code.
    pub(crate) code: u8,
    /// Standard error.
    stderr: String,
    /// A message about the cause, if this program knows it.
    cause: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum KustomizeError {
    #[error("{program} was not found in PATH; install {}, or set TIPHYS_KUSTOMIZE", supported_versions(), program = .0)]
    NotFound(String),
    #[error("parameter version: '{0}' is not a version of kustomize such as v5.8.3")]
    Version(String),
    #[error(
        "parameter version: kustomize v{wanted} is wanted and {installed} is installed; put kustomize-v{wanted} on PATH or change the parameter"
    )]
    OtherVersion { wanted: String, installed: String },
    #[error("cannot make a temporary directory")]
    Temporary(#[from] io::Error),
    #[error(
        "the file of this program is not known, which kustomize calls instead of helm and git; mount /proc"
    )]
    Executable,
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("failed")]
    Failed(FailedProgram),
}

impl<'a> Kustomize<'a> {
    /// Finds kustomize: `kustomize-v1.2.3` or `kustomize-1.2.3` in `PATH` if the parameter `version` requests 1.2.3, else the installed
    /// one, which must have that version.
    pub(crate) async fn new(call: &'a Call, version: Option<&str>) -> Result<Self, KustomizeError> {
        let search_path = call.variable("PATH").unwrap_or_default();
        let find = |name: &str| find_program(Path::new(name), OsStr::new(search_path));
        let configured = call.variable(PROGRAM_VARIABLE);
        let version = version.filter(|_| configured.is_none());
        let wanted = version.map(|version| version.strip_prefix('v').unwrap_or(version));
        if let (Some(wanted), Some(version)) = (wanted, version)
            && (wanted.is_empty() || !wanted.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        {
            return Err(KustomizeError::Version(version.to_owned()));
        }
        let of_version = wanted.and_then(|wanted| {
            find(&format!("kustomize-v{wanted}")).or_else(|| find(&format!("kustomize-{wanted}")))
        });
        let is_of_version = of_version.is_some();
        let chosen = configured.or_else(|| call.variable(USER_PROGRAM_VARIABLE));
        let executable = call.executable.as_ref().ok_or(KustomizeError::Executable)?;
        let programs = TempDir::with_prefix("tiphys-kustomize-")?;
        let native = call.variable(NATIVE_VARIABLE).filter(|_| chosen.is_none()).map(|native| {
            let program = programs.path().join(KUSTOMIZE);
            symlink(native, &program).map(|()| program)
        });
        let program = match (of_version, native) {
            (Some(program), _) => program,
            (None, Some(program)) => program?,
            (None, None) => {
                let installed = chosen.unwrap_or(KUSTOMIZE);
                find(installed).ok_or_else(|| KustomizeError::NotFound(installed.to_owned()))?
            }
        };
        for name in [HELM_PROGRAM, GIT_PROGRAM] {
            symlink(executable, programs.path().join(name))?;
        }
        let options = call.variable(BUILD_OPTIONS_VARIABLE).unwrap_or_default();
        let kustomize = Self {
            call,
            program,
            env: environment(call, programs.path()),
            options: options.split_ascii_whitespace().map(OsString::from).collect(),
            programs,
        };
        match wanted.filter(|_| !is_of_version) {
            Some(wanted) => {
                let installed = kustomize.version().await?;
                if installed.strip_prefix('v') != Some(wanted) {
                    return Err(KustomizeError::OtherVersion { wanted: wanted.to_owned(), installed });
                }
                Ok(kustomize)
            }
            None => Ok(kustomize),
        }
    }

    /// Returns the version as kustomize prints it: `v5.8.3`.
    pub(crate) async fn version(&self) -> Result<String, KustomizeError> {
        let output = self.run(&["version".into()]).await?;
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(printed.strip_prefix("kustomize/").map(str::to_owned).unwrap_or(printed))
    }

    /// Changes the kustomization.
    pub(crate) async fn edit(&self, arguments: &[String]) -> Result<(), KustomizeError> {
        let arguments: Vec<OsString> =
            ["edit"].iter().map(OsString::from).chain(arguments.iter().map(OsString::from)).collect();
        let mut output = self.run(&arguments).await?;
        // Kustomize prints its usage after an error of a value.
        if let Some(usage) = output.stderr.find("Usage:\n") {
            output.stderr.truncate(usage);
        }
        let cause = output.stderr.contains("already in kustomization file").then(|| {
            "parameter labels: set force-labels (forceCommonLabels of a kustomize block) to replace a label of the kustomization"
                .to_owned()
        });
        self.succeeded(output, cause).await.map(drop)
    }

    /// Builds the kustomization and returns its objects as YAML.
    pub(crate) async fn build(&self, versions: &HelmVersions) -> Result<Vec<u8>, KustomizeError> {
        let helm = self.programs.path().join(HELM_PROGRAM);
        let mut arguments: Vec<OsString> = vec!["build".into(), "--helm-command".into(), helm.into()];
        arguments.extend(self.options.iter().cloned());
        arguments.extend(self.helm_options(versions).await?);
        arguments.push(".".into());
        let output = self.run(&arguments).await?;
        let cause = output.stderr.contains(HELM_IS_DISABLED).then(|| ENABLE_HELM.to_owned());
        self.succeeded(output, cause).await
    }

    /// Returns the options with the versions for helm, if the options enable it. Kustomize has them since 5.3.
    async fn helm_options(&self, versions: &HelmVersions) -> Result<Vec<OsString>, KustomizeError> {
        let is_enabled = |option: &OsString| option.to_string_lossy().contains("--enable-helm");
        if !self.options.iter().any(is_enabled) || !has_helm_options(&self.version().await?) {
            return Ok(Vec::new());
        }
        let of_cluster = |name| self.call.variable(name).unwrap_or_default();
        let kube_version = versions.kube_version.as_deref().unwrap_or_else(|| of_cluster("KUBE_VERSION"));
        let api_versions: Vec<&str> = match versions.api_versions.as_slice() {
            [] => of_cluster("KUBE_API_VERSIONS").split(',').filter(|version| !version.is_empty()).collect(),
            own => own.iter().map(String::as_str).collect(),
        };
        let kube_version = Some(kube_version).filter(|version| !version.is_empty());
        let kube_version = kube_version.into_iter().flat_map(|version| ["--helm-kube-version", version]);
        let api_versions = api_versions.into_iter().flat_map(|version| ["--helm-api-versions", version]);
        Ok(kube_version.chain(api_versions).map(OsString::from).collect())
    }

    async fn run(&self, arguments: &[OsString]) -> Result<ToolOutput, CallError> {
        self.call.run(&self.program, &self.env, arguments).await
    }

    /// Returns the standard output of a successful call, whose standard error is passed on.
    async fn succeeded(&self, output: ToolOutput, cause: Option<String>) -> Result<Vec<u8>, KustomizeError> {
        match FailedProgram::check(output) {
            Ok(stdout) => Ok(stdout),
            Err(failed) => {
                let cause = if cause.is_some() { cause } else { self.unsupported().await };
                Err(KustomizeError::Failed(FailedProgram { cause, ..failed }))
            }
        }
    }

    /// Returns a message if the version of kustomize explains a failure.
    async fn unsupported(&self) -> Option<String> {
        let version = self.version().await.ok().filter(|version| !is_supported_version(version))?;
        let (program, version) = (self.program.display(), version.lines().next().unwrap_or_default());
        Some(format!(
            "{program} is kustomize {version}, which is not supported; install {}, or set TIPHYS_KUSTOMIZE",
            supported_versions()
        ))
    }
}

/// Whether the plugin supports the version that `kustomize version` prints.
pub fn is_supported_version(printed: &str) -> bool {
    let printed = printed.trim();
    let numbers = printed.strip_prefix("kustomize/").unwrap_or(printed).strip_prefix('v');
    let major = numbers.and_then(|numbers| numbers.split('.').next()?.parse::<u64>().ok());
    major.is_some_and(|major| major >= LOWEST_MAJOR)
}

/// Whether `kustomize build` of a version has options for the versions that helm gets.
fn has_helm_options(printed: &str) -> bool {
    let mut numbers = printed.trim_start_matches('v').split('.').map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (5, 3),
        _ => false,
    }
}

/// Returns the supported versions, for messages.
pub fn supported_versions() -> String {
    format!("kustomize {LOWEST_MAJOR} or later")
}

impl FailedProgram {
    /// Returns the standard output of a program that succeeded, and passes its standard error on.
    pub(crate) fn check(output: ToolOutput) -> Result<Vec<u8>, Self> {
        if output.code == Some(0) {
            // stderr may be closed.
            drop(io::stderr().lock().write_all(output.stderr.as_bytes()));
            return Ok(output.stdout);
        }
        let code = output.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        let by_signal = if output.code.is_none() { "ended by a signal\n" } else { "" };
        Err(Self { code, stderr: without_objects(&output.stderr) + by_signal, cause: None })
    }

    /// Returns the program's standard error, after the cause if it is known.
    pub(crate) fn message(&self) -> String {
        let Some(cause) = &self.cause else { return self.stderr.clone() };
        let text = format!("kustomize plugin: {cause}");
        FailureCause { text: &text, excerpt: None }.with_details(&self.stderr)
    }
}

/// Removes objects that Go writes into an error: they may be Secrets. The cause follows them.
fn without_objects(stderr: &str) -> String {
    let without = |line: &str| match line.split_once(GO_OBJECT) {
        Some((before, object)) => {
            let cause = object.rsplit_once("}: ").map_or("", |(_, cause)| cause);
            format!("{before}an object: {cause}")
        }
        None => line.to_owned(),
    };
    stderr.split('\n').map(without).collect::<Vec<_>>().join("\n")
}

/// Returns the environment of kustomize: that of this program, with the rules above. `programs` is the directory of programs.
fn environment(call: &Call, programs: &Path) -> Vec<(OsString, OsString)> {
    let mut env = call.variables.clone();
    let missing = HELM_FILES.iter().filter(|(name, _)| call.variable(name).is_none());
    env.extend(missing.map(|(name, path)| (name.into(), programs.join(path).into())));
    env.push(("GIT_ALLOW_PROTOCOL".into(), TRANSPORTS.into()));
    env.push((FOLDER_VARIABLE.into(), call.folder.clone().into()));
    let search_path = call.variable("PATH").unwrap_or_default();
    if let Some(program) = find_program(Path::new(GIT_PROGRAM), OsStr::new(search_path)) {
        env.push((git::PROGRAM_VARIABLE.into(), program.into()));
        env.push(("PATH".into(), format!("{}:{search_path}", programs.display()).into()));
    }
    env
}

#[cfg(test)]
mod tests;
