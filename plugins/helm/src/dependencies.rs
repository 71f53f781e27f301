//! Building what a chart depends on and does not have, as Argo CD does it: when helm says that something is missing.
//!
//! Everything that can be decided is decided before anything is fetched: what the project permits, folders that lead out, names that
//! nobody knows. Then `helm dependency build` runs in a private copy of the chart, so that the repository stays as it is, and what it made
//! is kept in a cache for later runs.

mod cache;
mod error;
mod handover;
mod key;
mod listed;
mod local;
mod opened;
mod permission;
mod remote;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_access::{MountedCredentials, NetworkUse, RepoUrl};
use tiphys_logins::{EntryError, Needs, OwnLogins, read_certificates};

use crate::chart::{Chart, Dependency, REQUIREMENTS};
use crate::failure::{chain, note};
use crate::helm::{Helm, HelmError, HelmVersion};
use crate::home::Home;
use crate::mirror::{self, Around};
use crate::request::Request;
use crate::shown::without_passwords;

pub(crate) use error::DependencyError;

pub(crate) use cache::KeptCharts;
use cache::{Age, Cache, Snapshot};
use handover::hand_over;
use key::{BuildKey, Inputs};
use listed::Listed;
use remote::{DependencyRepository, ProjectRepositories, RemoteKind, RemoteRepository};

/// The folder of a chart that has its dependencies.
const CHARTS: &str = "charts";

/// The file that says what of a chart helm does not see.
const HELM_IGNORE: &str = ".helmignore";

/// A copy of the chart with its dependencies. It goes with the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// The chart's folder.
    pub(crate) chart: PathBuf,
    /// The folder that stands for the repository.
    pub(crate) tree: PathBuf,
}

/// A copy of the chart with dependencies that an earlier run has built, where it is certain that helm would say that they are missing: the
/// chart names some, and has no folder `charts`. That spares a run of helm. Whatever else may be the matter is left to helm and to [`build`],
/// so that of several mistakes the same one is told.
/// `own` is the chart's own file.
pub(crate) fn kept(request: &Request, own: &Chart, version: &HelmVersion, home: &Home) -> Option<Built> {
    let chart = request.host.current_dir();
    let has = |name| fs::symlink_metadata(chart.join(name)).is_ok();
    // Such a file can keep `requirements.yaml` from helm.
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
    let built = copy(request, &home.path().join(Home::KEPT_TREE), Around::LinksIfNeeded).ok()?;
    cache.restore(&key, age, &built.chart.join(CHARTS)).then_some(built)
}

/// What an earlier run has built of exactly what is here now, for who only looks: nothing is fetched or written, and its age does not count.
/// `None` if there is nothing, or it cannot be told.
pub(crate) fn look(request: &Request, version: &HelmVersion) -> Option<KeptCharts> {
    let cache = Cache::known(request.settings.cache_folder.as_deref()?)?;
    let key = Plan::new(request).ok()?.key(version, request.host.current_dir(), &cache)?;
    cache.look(&key)
}

/// Makes a copy of the chart with all its dependencies. Called when helm says that some are missing.
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
            // Who holds it for so long keeps the same.
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

/// What is known before helm runs.
#[derive(Debug)]
struct Plan {
    /// The dependencies, as the chart names them.
    listed: Listed,
    /// Where helm fetches from.
    remotes: Vec<RemoteRepository>,
    /// Folders of the repository, with all links followed.
    folders: Vec<PathBuf>,
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
        let mut folders = Vec::new();
        for dependency in listed.all() {
            if let DependencyRepository::Folder(path) = DependencyRepository::of(&dependency.repository)
                && let Some(folder) = local::folder(&request.root, chart, dependency, path)?
            {
                local::check_whole(&folder, dependency, bounds)?;
                folders.push(folder);
            }
        }
        let credentials = request.options.credentials;
        let remotes = |dependencies: &[Dependency]| {
            known.remotes(dependencies.iter().map(|one| one.repository.as_str()), credentials)
        };
        check_permission(&remotes(&listed.others)?, request)?;
        let mut remotes = remotes(&listed.dependencies)?;
        check_permission(&remotes, request)?;
        for remote in &mut remotes {
            read_certificates(std::mem::take(&mut remote.files), &mut remote.access)?;
            inherit_proxy(remote, request);
        }
        Ok(Self { listed, remotes, folders })
    }

    /// Names what building gives. `chart` is the chart's folder, or a copy of it.
    fn key(&self, version: &HelmVersion, chart: &Path, cache: &Cache) -> Option<BuildKey> {
        let inputs = Inputs { helm: &version.text, chart, folders: &self.folders, remotes: &self.remotes };
        inputs.key(cache.secret())
    }

    /// Runs helm in the copy.
    async fn run(
        &mut self,
        request: &Request,
        helm: &Helm,
        home: &Home,
        built: &Built,
    ) -> Result<(), DependencyError> {
        if request.context.network == NetworkUse::None
            && let Some(remote) = self.remotes.first()
        {
            return Err(DependencyError::NoNetwork { address: remote.address.clone() });
        }
        for folder in &self.folders {
            // Helm would mention a link in its messages.
            if let Ok(below) = folder.strip_prefix(&request.root) {
                replace_link(&built.tree.join(below))?;
            }
        }
        opened::ask_helpers(&mut self.remotes, &own_logins(request)).await?;
        let unusable = opened::take_unusable(&mut self.remotes);
        // A registry of which no helper knows a login, too.
        self.remotes.iter_mut().for_each(|remote| inherit_proxy(remote, request));
        let handover = hand_over(home, &request.host, &self.remotes)?;
        let environment = handover.environment.iter();
        let environment = environment.map(|(name, value)| (name.into(), value.expose().into()));
        let addresses = self.addresses().iter().map(|address| self.cleaned(address)).collect();
        let helm = helm.to_fetch(environment.collect(), addresses);
        let mut arguments = vec!["dependency".to_owned(), "build".to_owned()];
        arguments.extend(handover.options);
        let shown = shown_command(&arguments);
        let said = helm.run(&arguments, &shown, &built.chart).await;
        // Helm needs it no more, and what runs next is what the chart says.
        handover::take_back(home);
        let said = said.map_err(|error| self.failed(&error, &unusable))?;
        // Of a folder that holds another chart helm says itself what is missing, when it renders.
        let is_fetched = |one: &&Dependency| {
            !matches!(DependencyRepository::of(&one.repository), DependencyRepository::Folder(_))
        };
        let bounds = request.settings.chart_bounds;
        let missing = local::missing(&built.chart, &self.listed.dependencies, bounds);
        if let Some(missing) = missing.filter(is_fetched) {
            let cause = broken_archive(&String::from_utf8_lossy(&said), &missing.name);
            return Err(DependencyError::NotBuilt {
                name: missing.name.clone(),
                repository: RepoUrl::new(&missing.repository),
                cause: cause.map(|text| self.cleaned(&text)),
            });
        }
        let charts = built.chart.join(CHARTS);
        let listed: Vec<&Dependency> = self.listed.all().collect();
        local::remove_doubles(&charts, &listed, bounds)
            .map_err(|source| DependencyError::Charts { path: charts, source })
    }

    /// A failure of helm in Argo CD's words. That an index could not be had is told on standard output alone.
    fn failed(&self, error: &HelmError, unusable: &[EntryError]) -> DependencyError {
        let clean = |text: &str| self.cleaned(text);
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
            text.push_str("; it was to fetch from ");
            text.push_str(&self.addresses().join(", "));
        }
        for login in unusable {
            text.push_str("; ");
            text.push_str(&login.to_string());
        }
        DependencyError::Build { text: clean(&text) }
    }

    /// Where helm fetches from, as people may see it.
    fn addresses(&self) -> Vec<String> {
        self.remotes.iter().map(|remote| remote.address.to_string()).collect()
    }

    /// A text without passwords.
    fn cleaned(&self, text: &str) -> String {
        without_passwords(text, self.remotes.iter().map(|remote| &remote.access.password))
    }

    /// How long what is built is used: what was chosen by a range without a lock file may be outdated soon.
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
            self.listed.dependencies.iter().filter(is_fetched).any(|one| !is_exact(one.version.as_str()));
        let is_locked = self.listed.is_locked();
        if is_chosen && !is_locked { Age::AtMost(request.settings.range_age) } else { Age::Any }
    }
}

/// What of mounted files is needed for a list.
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

/// Argo CD asks the project only when fetching has failed; nothing is fetched here that it does not permit.
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

/// The proxy of the application's own repository is used for its dependencies, too. A login of the person who runs this goes through none
/// that others have chosen.
fn inherit_proxy(remote: &mut RemoteRepository, request: &Request) {
    let source = &request.context.source;
    if remote.access.proxy.is_empty() && !source.proxy.is_empty() && !remote.has_own_login() {
        remote.access.proxy = source.proxy.clone();
        remote.access.no_proxy.clone_from(&source.no_proxy);
    }
}

/// The logins of the person who runs this program.
fn own_logins(request: &Request) -> OwnLogins {
    request.host.own_logins(request.settings.login_timeout)
}

/// Whether a version is one and no range: three numbers, and what may stand behind them.
fn is_exact(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+.".contains(&byte))
}

/// What helm says on standard output of an index that it could not get.
fn index_failure(stdout: &str, address: &str) -> Option<String> {
    let mark = format!(" chart repository ({address}):\n\t");
    let (before, cause) = stdout.split_once(&mark)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.starts_with("...Unable to get an update from the ")
        .then(|| cause.split('\n').next().unwrap_or_default().to_owned())
}

/// What helm says on standard output of an archive of this chart that it fetched and cannot read.
fn broken_archive(stdout: &str, name: &str) -> Option<String> {
    let mut notices = stdout.split("Could not verify ").skip(1);
    notices.find_map(|notice| {
        let (path, rest) = notice.split_once(" for moving: ")?;
        let file = path.rsplit('/').next().filter(|file| file.starts_with(&format!("{name}-")))?;
        Some(format!("{file}: {}", rest.split(" (Skipping)").next()?))
    })
}

/// The command as texts show it: certificates are files of this run.
fn shown_command(arguments: &[String]) -> String {
    let is_shown = |argument: &&String| !argument.starts_with('/');
    let shown = arguments.iter().filter(is_shown).filter(|one| !one.ends_with("-file"));
    let words: Vec<&str> = shown.map(String::as_str).collect();
    format!("helm {}", words.join(" "))
}

/// Copies the chart into a folder that looks like the repository.
fn copy(request: &Request, tree: &Path, around: Around) -> Result<Built, DependencyError> {
    let dir = request.host.current_dir().strip_prefix(&request.root).unwrap_or(Path::new(""));
    let chart = mirror::mirror(&request.root, dir, tree, around)?;
    // Dependencies are written into it.
    replace_link(&chart.join(CHARTS))?;
    Ok(Built { chart, tree: tree.to_path_buf() })
}

/// Whether a folder is not there or has nothing in it.
fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Puts a copy of a folder in the place of a link to it.
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

/// The cache; none if nothing names a place. One that cannot be used is told and done without.
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
        note(&format!("dependencies are not kept: {error}"));
    } else if let Err(error) = cache.tidy(key) {
        note(&format!("dependencies are kept, and old ones could not be removed: {error}"));
    }
}

fn note_unusable(error: &io::Error) {
    note(&format!("dependencies are not kept: the folder of TIPHYS_HELM_CACHE_DIR cannot be used: {error}"));
}

#[cfg(test)]
mod tests;
