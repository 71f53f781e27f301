//! Builds missing dependencies of a chart, as Argo CD does: when helm reports that some are missing.
//!
//! All checks happen before anything is fetched: the project's permissions, directories outside the repository, unknown repository names.
//! Then `helm dependency build` runs in a private copy of the chart, so the repository does not change. The result is cached.

mod cache;
mod credential_helpers;
mod error;
mod handover;
mod key;
mod listed;
mod local;
mod permission;
mod remote;
mod replaced;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_logins::{EntryError, Needs, OwnLogins, read_certificates};
use tiphys_model::access::{MountedCredentials, NetworkUse, RepoUrl};

use crate::chart::{Chart, Dependency, REQUIREMENTS};
use crate::failure::{chain, note};
use crate::helm::{Helm, HelmError, HelmVersion};
use crate::home::Home;
use crate::mirror::{self, Around};
use crate::redaction::without_passwords;
use crate::request::Request;

pub(crate) use error::DependencyError;

pub(crate) use cache::BuiltCharts;
use cache::{Age, Cache, Snapshot};
use handover::hand_over;
use key::{BuildKey, Inputs};
use listed::Listed;
use remote::{DependencyRepository, ProjectRepositories, RemoteKind, RemoteRepository};
use replaced::Replaced;

/// The directory of a chart with its dependencies.
const CHARTS: &str = "charts";

/// The file that hides files of a chart from helm.
const HELM_IGNORE: &str = ".helmignore";

/// A copy of the chart with its dependencies. It is removed with the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// The chart's directory.
    pub(crate) chart: PathBuf,
    /// The copy of the repository's root.
    pub(crate) tree: PathBuf,
}

/// Returns a copy of the chart with cached dependencies, if helm would certainly report them missing: the chart names some and has no
/// directory `charts`. This saves a run of helm. All other cases are left to helm and [`build`], so that the same one of several errors is
/// reported. `own` is the chart's metadata.
pub(crate) fn cached(request: &Request, own: &Chart, version: &HelmVersion, home: &Home) -> Option<Built> {
    let chart = request.host.current_dir();
    let has = |name| fs::symlink_metadata(chart.join(name)).is_ok();
    // It can hide `requirements.yaml` from helm.
    let names_some = !own.dependencies.is_empty() || has(REQUIREMENTS) && !has(HELM_IGNORE);
    if !names_some || !is_empty(&chart.join(CHARTS)) {
        return None;
    }
    let plan = Plan::new(request).ok().filter(|plan| !plan.listed.dependencies.is_empty())?;
    let cache =
        Cache::open(request.settings.cache_folder.as_deref()?, request.settings.cache_bytes_max).ok()?;
    let key = plan.key(version, chart, &cache)?;
    let age = plan.age(request);
    if !cache.has(&key) {
        return None;
    }
    let built = copy(request, &home.path().join(Home::CACHED_TREE), Around::LinksIfNeeded).ok()?;
    cache.restore(&key, age, &built.chart.join(CHARTS)).then_some(built)
}

/// Returns the cached build of the current inputs, of any age. Nothing is fetched or written. `None` if there is none, or its key is
/// unknown.
pub(crate) fn cached_charts(request: &Request, version: &HelmVersion) -> Option<BuiltCharts> {
    let cache = Cache::known(request.settings.cache_folder.as_deref()?)?;
    let key = Plan::new(request).ok()?.key(version, request.host.current_dir(), &cache)?;
    cache.look(&key)
}

/// Returns the local charts that replace those of some dependencies, as far as they are known.
pub(crate) fn local_charts(request: &Request, dependencies: &[&Dependency]) -> Vec<PathBuf> {
    if request.context.local_charts.is_empty() {
        return Vec::new();
    }
    let known = ProjectRepositories::of_context(&request.context);
    let Ok(listed) = Listed::read(request.host.current_dir(), request.settings.chart_bounds) else {
        return Vec::new();
    };
    let found = |one: &&Dependency| replaced::local_chart(one, &listed, &known, &request.context).ok()?;
    dependencies.iter().filter_map(found).map(|chart| chart.path.clone()).collect()
}

/// Makes a copy of the chart with all its dependencies. Called when helm reports that some are missing.
pub(crate) async fn build(
    request: &Request,
    helm: &Helm,
    version: &HelmVersion,
    home: &Home,
) -> Result<Built, DependencyError> {
    let mut plan = Plan::new(request)?;
    let built = copy(request, &home.path().join(Home::BUILT_TREE), Around::Links)?;
    let charts = built.chart.join(CHARTS);
    let cache = open_cache(request);
    let known = cache.and_then(|cache| {
        let key = plan.key(version, &built.chart, &cache)?;
        Some((cache, key))
    });
    let Some((cache, key)) = known else {
        plan.run(request, helm, home, &built).await?;
        return Ok(built);
    };
    let age = plan.age(request);
    if cache.restore(&key, age, &charts) {
        return Ok(built);
    }
    let lock = match cache.lock(&key, request.settings.timeout).await {
        Ok(lock) => Some(lock),
        Err(error) => {
            // A run that holds the lock for so long stores the same entry.
            if error.kind() != io::ErrorKind::TimedOut {
                note_unusable(&error);
            }
            None
        }
    };
    // Another run may have built it meanwhile.
    if lock.is_some() && cache.restore(&key, age, &charts) {
        return Ok(built);
    }
    let read =
        || Snapshot::of(&charts).map_err(|source| DependencyError::Charts { path: charts.clone(), source });
    let before = read()?;
    plan.run(request, helm, home, &built).await?;
    if lock.is_some() {
        keep(&cache, &key, &before, &read()?, &charts);
    }
    Ok(built)
}

/// Decisions that are made before helm runs.
#[derive(Debug)]
struct Plan {
    listed: Listed,
    /// Those of repositories that local directories replace.
    replaced: Replaced,
    /// Repositories that helm fetches from.
    remotes: Vec<RemoteRepository>,
    /// Directories of the repository, with all links resolved, and replaced charts.
    local: Vec<PathBuf>,
}

impl Plan {
    fn new(request: &Request) -> Result<Self, DependencyError> {
        let chart = request.host.current_dir();
        let bounds = request.settings.chart_bounds;
        let listed = Listed::read(chart, bounds)?;
        let mut known = ProjectRepositories::of_context(&request.context);
        match request.context.mounted_credentials {
            MountedCredentials::Use => {
                known.repositories.mounted = own_logins(request).read(needs(&listed))?;
            }
            MountedCredentials::Ignore => {}
        }
        listed.check(&known)?;
        let replaced = Replaced::new(&listed, &known, &request.context)?;
        let mut local = Vec::new();
        for dependency in listed.all() {
            if let DependencyRepository::Folder(path) = DependencyRepository::of(&dependency.repository)
                && let Some(folder) = local::folder(&request.root, chart, dependency, path)?
            {
                local::check_whole(&folder, dependency, bounds)?;
                local.push(folder);
            }
        }
        for (dependency, chart) in &replaced.charts {
            if chart.path.is_dir() {
                local::check_whole(&chart.path, dependency, bounds)?;
            }
            local.push(chart.path.clone());
        }
        let credentials = request.options.credentials;
        let remotes = |dependencies: &[Dependency]| {
            known.remotes(dependencies.iter().map(|one| one.repository.as_str()), credentials)
        };
        check_permission(&remotes(&listed.others)?, request)?;
        check_permission(&remotes(&listed.dependencies)?, request)?;
        let mut remotes = remotes(&replaced.others)?;
        for remote in &mut remotes {
            read_certificates(std::mem::take(&mut remote.files), &mut remote.access)?;
            inherit_proxy(remote, request);
        }
        Ok(Self { listed, replaced, remotes, local })
    }

    /// Returns the cache key of the build. `chart` is the chart's directory, or a copy of it.
    fn key(&self, version: &HelmVersion, chart: &Path, cache: &Cache) -> Option<BuildKey> {
        let inputs = Inputs { helm: &version.text, chart, local: &self.local, remotes: &self.remotes };
        inputs.key(cache.secret())
    }

    /// Adds the dependencies to the copy.
    async fn run(
        &mut self,
        request: &Request,
        helm: &Helm,
        home: &Home,
        built: &Built,
    ) -> Result<(), DependencyError> {
        let bounds = request.settings.chart_bounds;
        let stdout = if self.replaced.charts.is_empty() {
            self.run_helm(request, helm, home, built).await?
        } else {
            let set_aside = self.replaced.reduce(&built.chart, home)?;
            let is_needed = self.replaced.needs_helm();
            let stdout =
                if is_needed { self.run_helm(request, helm, home, built).await? } else { Vec::new() };
            self.replaced.complete(&built.chart, &set_aside)?;
            stdout
        };
        // For a directory with another chart, helm reports missing dependencies when it renders.
        let is_fetched = |one: &&Dependency| {
            !matches!(DependencyRepository::of(&one.repository), DependencyRepository::Folder(_))
        };
        let missing = local::missing(&built.chart, &self.listed.dependencies, bounds);
        if let Some(missing) = missing.first().copied().filter(is_fetched) {
            let cause = broken_archive(&String::from_utf8_lossy(&stdout), &missing.name);
            return Err(DependencyError::NotBuilt {
                name: missing.name.clone(),
                repository: RepoUrl::new(&missing.repository),
                cause: cause.map(|text| self.redact(&text)),
            });
        }
        let charts = built.chart.join(CHARTS);
        let listed: Vec<&Dependency> = self.listed.all().collect();
        local::remove_duplicates(&charts, &listed, bounds)
            .map_err(|source| DependencyError::Charts { path: charts, source })
    }

    /// Runs helm in the copy. Returns its standard output.
    async fn run_helm(
        &mut self,
        request: &Request,
        helm: &Helm,
        home: &Home,
        built: &Built,
    ) -> Result<Vec<u8>, DependencyError> {
        if request.context.network == NetworkUse::None
            && let Some(remote) = self.remotes.first()
        {
            let bounds = request.settings.chart_bounds;
            let missing = local::missing(&built.chart, &self.replaced.others, bounds);
            let names = missing.iter().map(|one| one.name.clone()).collect();
            return Err(DependencyError::NoNetwork { names, address: remote.address.clone() });
        }
        for folder in &self.local {
            // Helm would mention a link in its messages.
            if let Ok(below) = folder.strip_prefix(&request.root) {
                replace_link(&built.tree.join(below))?;
            }
        }
        credential_helpers::ask_helpers(&mut self.remotes, &own_logins(request)).await?;
        let unusable = credential_helpers::take_unusable(&mut self.remotes);
        // This includes registries for which no helper has credentials.
        self.remotes.iter_mut().for_each(|remote| inherit_proxy(remote, request));
        let handover = hand_over(home, &request.host, &self.remotes)?;
        let environment = handover.environment.iter();
        let environment = environment.map(|(name, value)| (name.into(), value.expose().into()));
        let addresses = self.addresses().iter().map(|address| self.redact(address)).collect();
        let helm = helm.to_fetch(environment.collect(), addresses);
        let mut arguments = vec!["dependency".to_owned(), "build".to_owned()];
        arguments.extend(handover.options);
        let shown = shown_command(&arguments);
        let output = helm.run(&arguments, &shown, &built.chart).await;
        // Helm needs the files no more, and the chart determines what runs next.
        handover::take_back(home);
        let output = output.map_err(|error| self.failed(&error, &unusable))?;
        Ok(output)
    }

    /// A failure of helm in Argo CD's words. Helm reports a missing index on standard output only.
    fn failed(&self, error: &HelmError, unusable: &[EntryError]) -> DependencyError {
        let clean = |text: &str| self.redact(text);
        if let HelmError::Failed { stdout, .. } = error {
            for remote in self.remotes.iter().filter(|remote| remote.kind == RemoteKind::Web) {
                if let Some(cause) = index_failure(stdout, remote.address.expose()) {
                    let address = remote.address.to_string();
                    let name = if remote.name.is_empty() { &address } else { &remote.name };
                    return DependencyError::Unreachable {
                        name: clean(&name.replace('/', "-")),
                        address: clean(&address),
                        cause: clean(&cause),
                    };
                }
            }
        }
        let mut text = chain(error);
        if matches!(error, HelmError::Timeout { .. }) && !self.remotes.is_empty() {
            text.push_str("; it was fetching from ");
            text.push_str(&self.addresses().join(", "));
        }
        for login in unusable {
            text.push_str("; ");
            text.push_str(&login.to_string());
        }
        DependencyError::Build { text: clean(&text) }
    }

    /// The addresses that helm fetches from, redacted.
    fn addresses(&self) -> Vec<String> {
        self.remotes.iter().map(|remote| remote.address.to_string()).collect()
    }

    /// Redacts passwords.
    fn redact(&self, text: &str) -> String {
        without_passwords(text, self.remotes.iter().map(|remote| &remote.access.password))
    }

    /// How long the build may be used: a version selected from a range, without a lock file, may soon be outdated.
    fn age(&self, request: &Request) -> Age {
        if request.context.network == NetworkUse::None {
            return Age::Any;
        }
        let is_fetched = |one: &&Dependency| match DependencyRepository::of(&one.repository) {
            DependencyRepository::Named(_)
            | DependencyRepository::Web(_)
            | DependencyRepository::Registry(_)
            | DependencyRepository::Plugin(_) => true,
            DependencyRepository::Vendored
            | DependencyRepository::Folder(_)
            | DependencyRepository::Other => false,
        };
        let is_chosen =
            self.replaced.others.iter().filter(is_fetched).any(|one| !is_exact(one.version.as_str()));
        let is_locked = self.listed.is_locked();
        if is_chosen && !is_locked { Age::AtMost(request.settings.range_age) } else { Age::Any }
    }
}

/// The mounted files that a list needs.
fn needs(listed: &Listed) -> Needs {
    let need = |dependency: &Dependency| match DependencyRepository::of(&dependency.repository) {
        DependencyRepository::Vendored
        | DependencyRepository::Folder(_)
        | DependencyRepository::Plugin(_)
        | DependencyRepository::Other => Needs::Nothing,
        DependencyRepository::Named(_) | DependencyRepository::Web(_) => Needs::Repositories,
        DependencyRepository::Registry(_) => Needs::RepositoriesAndLogins,
    };
    listed.all().map(need).max().unwrap_or(Needs::Nothing)
}

/// Argo CD checks the project only when fetching has failed. Here, nothing is fetched that the project does not permit.
fn check_permission(remotes: &[RemoteRepository], request: &Request) -> Result<(), DependencyError> {
    let project = &request.context.project;
    let is_refused = |remote: &&RemoteRepository| !permission::is_permitted(remote, &project.source_repos);
    let mut refused: Vec<String> =
        remotes.iter().filter(is_refused).map(|remote| remote.address.to_string()).collect();
    refused.dedup();
    if refused.is_empty() {
        return Ok(());
    }
    Err(DependencyError::NotPermitted { repositories: refused.join(", "), project: project.name.clone() })
}

/// Dependencies use the proxy of the application's own repository, too. The caller's own credentials never go through a proxy that others
/// have chosen.
fn inherit_proxy(remote: &mut RemoteRepository, request: &Request) {
    let source = &request.context.source;
    if remote.access.proxy.is_empty() && !source.proxy.is_empty() && !remote.has_own_login() {
        remote.access.proxy = source.proxy.clone();
        remote.access.no_proxy.clone_from(&source.no_proxy);
    }
}

/// The caller's own credentials.
fn own_logins(request: &Request) -> OwnLogins {
    request.host.own_logins(request.settings.login_timeout)
}

/// Whether this is a version, not a range: three numbers and an optional suffix.
fn is_exact(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+.".contains(&byte))
}

/// Helm's message on standard output for an index that it could not fetch.
fn index_failure(stdout: &str, address: &str) -> Option<String> {
    let mark = format!(" chart repository ({address}):\n\t");
    let (before, cause) = stdout.split_once(&mark)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.starts_with("...Unable to get an update from the ")
        .then(|| cause.split('\n').next().unwrap_or_default().to_owned())
}

/// Helm's message on standard output for a fetched archive of this chart that it cannot read.
fn broken_archive(stdout: &str, name: &str) -> Option<String> {
    let mut notices = stdout.split("Could not verify ").skip(1);
    notices.find_map(|notice| {
        let (path, rest) = notice.split_once(" for moving: ")?;
        let file = path.rsplit('/').next().filter(|file| file.starts_with(&format!("{name}-")))?;
        Some(format!("{file}: {}", rest.split(" (Skipping)").next()?))
    })
}

/// The command for messages. Certificates are omitted, since they are files of this run.
fn shown_command(arguments: &[String]) -> String {
    let is_shown = |argument: &&String| !argument.starts_with('/');
    let shown = arguments.iter().filter(is_shown).filter(|one| !one.ends_with("-file"));
    let words: Vec<&str> = shown.map(String::as_str).collect();
    format!("helm {}", words.join(" "))
}

/// Copies the chart into a directory with the structure of the repository.
fn copy(request: &Request, tree: &Path, around: Around) -> Result<Built, DependencyError> {
    let dir = request.host.current_dir().strip_prefix(&request.root).unwrap_or(Path::new(""));
    let chart = mirror::mirror(&request.root, dir, tree, around)?;
    // Dependencies are written into it.
    replace_link(&chart.join(CHARTS))?;
    Ok(Built { chart, tree: tree.to_path_buf() })
}

/// Whether a directory is empty or missing.
fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Replaces a link to a directory with a copy of it.
fn replace_link(path: &Path) -> Result<(), DependencyError> {
    if !path.is_symlink() {
        return Ok(());
    }
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let failed = |source| DependencyError::Charts { path: path.to_path_buf(), source };
    fs::remove_file(path).map_err(failed)?;
    mirror::copy(&target, path)?;
    Ok(())
}

/// Opens the cache; `None` if no directory is set. An unusable one is reported and not used.
fn open_cache(request: &Request) -> Option<Cache> {
    match Cache::open(request.settings.cache_folder.as_deref()?, request.settings.cache_bytes_max) {
        Ok(cache) => Some(cache),
        Err(error) => {
            note_unusable(&error);
            None
        }
    }
}

fn keep(cache: &Cache, key: &BuildKey, before: &Snapshot, after: &Snapshot, charts: &Path) {
    if let Err(error) = cache.keep(key, &before.difference(after), charts) {
        note(&format!("dependencies are not cached: {error}"));
    } else if let Err(error) = cache.tidy(key) {
        note(&format!("dependencies are cached, but old ones cannot be removed: {error}"));
    }
}

fn note_unusable(error: &io::Error) {
    note(&format!("dependencies are not cached: cannot use the directory of TIPHYS_HELM_CACHE_DIR: {error}"));
}

#[cfg(test)]
mod tests;
