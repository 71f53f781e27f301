//! Checks what tiphys needs from this machine: programs, the checkout, the project file.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tiphys_process::{find_beside, find_program};
use tiphys_source::redact_url;

use crate::context::default_branch::default_branch;
use crate::context::host::{Host, printed_by};
use crate::context::options::{GivenSettings, Setting};
use crate::context::project_file::{ProjectFile, ProjectFileChoice, checkout_of};
use crate::error::ServiceError;
use crate::text::listed;

/// The usual name of the remote of a fork's original.
const UPSTREAM: &str = "upstream";

/// The default of the setting `helmEngine`.
const DEFAULT_ENGINE: &str = "auto";

/// The consequence of a missing program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramNeed {
    /// A problem.
    Required,
    /// A note: only some of the sources that need it fail.
    Optional,
    /// None.
    Unused,
}

/// A program that commands or plugins run.
#[derive(Clone, Debug)]
pub struct RequiredProgram {
    /// Its name.
    pub name: &'static str,
    /// The variable that names another program.
    pub variable: Option<&'static str>,
    /// A program beside tiphys or in `PATH`, and its version, that is used instead, unless the variable is set.
    pub instead: Option<(&'static str, &'static str)>,
    /// The arguments that make it print its version.
    pub version_arguments: &'static [&'static str],
    /// Whether the printed version is supported.
    pub is_supported: fn(&str) -> bool,
    /// The supported versions.
    pub supported: String,
    /// Its uses.
    pub needed_by: &'static str,
    /// The consequence if it is missing.
    pub need: ProgramNeed,
    /// The address of its installation instructions.
    pub website: &'static str,
}

/// A program as it was found.
#[derive(Clone, Debug)]
pub struct CheckedProgram {
    /// The requirement.
    pub required: RequiredProgram,
    /// Its path.
    pub path: Option<PathBuf>,
    /// The first line of the version that it prints.
    pub version: Option<String>,
    /// Its problem with the remedy, if it is required.
    pub problem: Option<String>,
    /// The same, if it is optional.
    pub note: Option<String>,
}

impl CheckedProgram {
    fn new(
        required: RequiredProgram,
        path: Option<PathBuf>,
        version: Option<String>,
        defect: Option<String>,
    ) -> Self {
        let (problem, note) = match required.need {
            ProgramNeed::Required => (defect, None),
            ProgramNeed::Optional => (None, defect),
            ProgramNeed::Unused => (None, None),
        };
        Self { required, path, version, problem, note }
    }
}

/// The checkout around the current directory.
#[derive(Clone, Debug, Default)]
pub struct CheckedCheckout {
    /// Its top directory.
    pub folder: PathBuf,
    /// The branch that is checked out; none if HEAD is detached.
    pub branch: Option<String>,
    /// Each remote's name and URL, without credentials.
    pub remotes: Vec<(String, String)>,
    /// The default branch, as the first remote that has one reports it: `origin/main`.
    pub default_branch: Option<String>,
    /// The user that owns it.
    pub owner: u32,
    /// Whether another user runs this process.
    pub is_foreign: bool,
    /// Its problems with their remedies.
    pub problems: Vec<String>,
    /// Remarks about needs of some commands.
    pub notes: Vec<String>,
}

/// The project file.
#[derive(Debug)]
pub struct CheckedProjectFile {
    /// Its path for messages; none if there is no file.
    pub file: Option<String>,
    /// Why it cannot be used.
    pub problem: Option<ServiceError>,
}

/// Everything that was checked.
#[derive(Debug)]
pub struct Diagnosis {
    /// The programs, in the order of the requirements.
    pub programs: Vec<CheckedProgram>,
    /// The checkout; none outside of one.
    pub checkout: Option<CheckedCheckout>,
    /// The project file.
    pub project_file: CheckedProjectFile,
    /// The consequence of a missing `HOME`, if it is not set.
    pub home: Option<MissingHome>,
}

/// The consequence of a missing `HOME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingHome {
    /// git and helm do not find the user's settings and credentials.
    Settings,
    /// There is no directory for the cache, either.
    Cache,
}

impl MissingHome {
    fn of(host: &Host, cache_dir: Option<&Path>) -> Option<Self> {
        match (host.variable("HOME"), host.cache_dir(cache_dir)) {
            (Some(_), _) => None,
            (None, Ok(_)) => Some(Self::Settings),
            (None, Err(_)) => Some(Self::Cache),
        }
    }
}

impl Diagnosis {
    /// Whether nothing is wrong.
    pub fn is_content(&self) -> bool {
        self.programs.iter().all(|program| program.problem.is_none())
            && self.checkout.as_ref().is_none_or(|checkout| checkout.problems.is_empty())
            && self.project_file.problem.is_none()
            && self.home != Some(MissingHome::Cache)
    }
}

/// Returns the engine that renders charts: the value of the setting `helmEngine`, also of the project file.
pub fn helm_engine(host: &Host, given: &GivenSettings, project_file: &ProjectFileChoice) -> String {
    let mut given = given.clone();
    if let Ok(Some(file)) = ProjectFile::find(project_file, host) {
        // Invalid values are reported with the file.
        drop(given.add_usable(&file));
    }
    let value = given.get(Setting::HELM_ENGINE).and_then(|given| given.values.first());
    value.map_or(DEFAULT_ENGINE, String::as_str).to_owned()
}

/// Checks programs, the checkout around the current directory, the project file, and the directory for the cache if it is not `cache_dir`.
pub async fn diagnose(
    host: &Host,
    programs: Vec<RequiredProgram>,
    project_file: &ProjectFileChoice,
    cache_dir: Option<&Path>,
) -> Diagnosis {
    let mut checked = Vec::new();
    for required in programs {
        checked.push(check_program(host, required).await);
    }
    let checkout = match checkout_of(&host.current_dir) {
        Some(folder) => Some(check_checkout(host, folder).await),
        None => None,
    };
    Diagnosis {
        programs: checked,
        checkout,
        project_file: check_project_file(host, project_file),
        home: MissingHome::of(host, cache_dir),
    }
}

async fn check_program(host: &Host, required: RequiredProgram) -> CheckedProgram {
    let chosen = required.variable.and_then(|name| host.variable(name));
    let named = chosen.unwrap_or(required.name);
    let install = format!("install {}: {}", required.supported, required.website);
    let search_path = OsStr::new(host.variable("PATH").unwrap_or_default());
    let instead = match required.instead.filter(|_| chosen.is_none()) {
        Some((name, version)) => {
            let found = find_beside(&host.executable, name, search_path);
            let is_usable = async |path: &PathBuf| {
                let printed = printed_by(host, path, required.version_arguments, Path::new("/")).await;
                printed.is_ok_and(|printed| printed.trim() == version)
            };
            match found {
                Some(path) if is_usable(&path).await => Some(path),
                _ => None,
            }
        }
        None => None,
    };
    let Some(path) = instead.or_else(|| find_program(Path::new(named), search_path)) else {
        let of = if named == required.name { String::new() } else { format!("{named} is ") };
        let defect = Some(format!("{of}not found in PATH; {install}"));
        return CheckedProgram::new(required, None, None, defect);
    };
    let printed = printed_by(host, &path, required.version_arguments, Path::new("/")).await;
    let (version, defect) = match printed {
        Ok(printed) => {
            let version = printed.lines().next().unwrap_or_default().trim().to_owned();
            let is_supported = (required.is_supported)(&printed);
            let defect = (!is_supported).then(|| format!("{version} is not supported; {install}"));
            (Some(version), defect)
        }
        Err(why) => (None, Some(format!("it does not print a version ({why}); {install}"))),
    };
    CheckedProgram::new(required, Some(path), version, defect)
}

async fn check_checkout(host: &Host, folder: &Path) -> CheckedCheckout {
    let owner = folder.metadata().map(|metadata| metadata.uid()).unwrap_or_default();
    let is_foreign = owner != geteuid().as_raw();
    let place = folder.to_path_buf();
    let mut checkout = CheckedCheckout { folder: place, owner, is_foreign, ..CheckedCheckout::default() };
    let git = async |arguments: &[&str]| printed_by(host, Path::new("git"), arguments, folder).await;
    if let Err(why) = git(&["rev-parse", "--git-dir"]).await {
        checkout.problems.push(format!("git cannot read it: {why}"));
        return checkout;
    }
    let branch = git(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await;
    checkout.branch = branch.ok().map(|name| name.trim().to_owned());
    for name in git(&["remote"]).await.unwrap_or_default().lines() {
        let url = git(&["remote", "get-url", name]).await.unwrap_or_default();
        checkout.remotes.push((name.to_owned(), redact_url(url.trim())));
    }
    checkout.default_branch = default_branch(host, folder).await.unwrap_or_default();
    let mut names: Vec<String> = checkout.remotes.iter().map(|(name, _)| name.clone()).collect();
    names.sort_by_key(|name| name != "origin");
    match names.first() {
        None => checkout.problems.push(
            "it has no remotes, so it is not known which repository its files are; add one with `git remote add`".to_owned(),
        ),
        Some(first) if checkout.default_branch.is_none() => checkout.notes.push(format!(
            "the default branch of {} is not known; `git remote set-head {first} --auto` asks for it",
            listed(&names)
        )),
        Some(_) => {}
    }
    let has = |remote: &str| names.iter().any(|name| name == remote);
    if has("origin") && has(UPSTREAM) {
        checkout.notes.push(format!(
            "it is a checkout of a fork: Applications that name the repository of {UPSTREAM} are made from it, too, and a comparison without a \
             base has {} as base, which may be older than that of {UPSTREAM}",
            checkout.default_branch.as_deref().unwrap_or("the default branch of origin")
        ));
    }
    checkout
}

fn check_project_file(host: &Host, choice: &ProjectFileChoice) -> CheckedProjectFile {
    match ProjectFile::find(choice, host) {
        Ok(None) => CheckedProjectFile { file: None, problem: None },
        Ok(Some(file)) => {
            let problem = file.require_usable(|_| true).err();
            CheckedProjectFile { file: Some(file.shown().to_owned()), problem }
        }
        Err(error) => CheckedProjectFile { file: None, problem: Some(error) },
    }
}
