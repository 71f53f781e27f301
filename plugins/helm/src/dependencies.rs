//! Builds missing dependencies of a chart, as Argo CD does with `helm dependency build` when helm reports that some are missing.
//!
//! All checks happen before anything is fetched: the project's permissions, directories outside the repository, unknown repository names.
//! Charts are fetched as those of application sources are, and cached on disk. Helm runs only for addresses that its plugins may know.

mod by_helm;
mod cache;
mod error;
mod fetch;
mod listed;
mod local;
mod permission;
mod remote;
mod replaced;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_logins::{Needs, OwnLogins, read_certificates};
use tiphys_model::access::{MountedCredentials, NetworkUse};
use tokio::runtime::Builder;

use crate::chart::{CHARTS, Dependency, PACKED, PACKED_CHART_BYTES_MAX};
use crate::home::Home;
use crate::mirror;
use crate::request::Request;

pub(crate) use error::DependencyError;

use by_helm::ForHelm;
use fetch::Fetcher;
use listed::Listed;
use local::InCharts;
use remote::{DependencyRepository, ProjectRepositories, RemoteRepository};

/// The name of a file in `charts`, and its content.
type Archive = (String, Arc<[u8]>);

/// The changes of a build in a chart's `charts`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuiltCharts {
    /// New archives, by file name.
    pub(crate) added: Vec<Archive>,
    /// Names of the archives that they replace.
    pub(crate) removed: Vec<String>,
}

/// Builds all dependencies of a chart that `charts` has in no directory. Called when some are missing.
pub(crate) async fn build(request: &Request, home: &Home) -> Result<BuiltCharts, DependencyError> {
    let cache = cache::open(request).unwrap_or_else(|| home.path().join(Home::CHARTS));
    let plan = Plan::new(request)?;
    if request.context.network == NetworkUse::None
        && let Some(ForHelm { dependency, remote }) = plan.for_helm.first()
    {
        let (name, address) = (dependency.name.clone(), remote.address.clone());
        return Err(DependencyError::NoNetwork { name, address });
    }
    let fetcher = Fetcher::new(request, cache.clone(), request.context.network);
    let mut added = plan.packed(request)?;
    for (dependency, remote) in &plan.remote {
        added.push(fetcher.fetch(dependency, remote).await?);
        check_size(&added)?;
    }
    added.extend(by_helm::fetch(request, home, &plan.for_helm).await?);
    cache::tidy(request, &cache);
    Ok(plan.built(added))
}

/// Returns the charts of Helm repositories and registries that the cache has. Nothing is fetched.
pub(crate) fn cached_charts(request: &Request) -> Option<BuiltCharts> {
    let cache = cache::known(request)?;
    let plan = Plan::new(request).ok()?;
    let fetcher = Fetcher::new(request, cache, NetworkUse::None);
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let found = runtime.block_on(async {
        let mut found = Vec::new();
        for (dependency, remote) in &plan.remote {
            found.extend(fetcher.fetch(dependency, remote).await.ok());
        }
        found
    });
    check_size(&found).ok()?;
    Some(plan.built(found))
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

impl BuiltCharts {
    /// Makes a copy of the chart with the dependencies, in a directory with the structure of the repository. It is removed with the home.
    pub(crate) fn copy(&self, request: &Request, home: &Home) -> Result<PathBuf, DependencyError> {
        let dir = request.host.current_dir().strip_prefix(&request.root).unwrap_or(Path::new(""));
        let chart = mirror::mirror(&request.root, dir, &home.path().join(Home::BUILT_TREE))?;
        let charts = chart.join(CHARTS);
        local::write(self, &charts).map_err(|source| DependencyError::Charts { path: charts, source })?;
        Ok(chart)
    }
}

/// Decisions that are made before anything is fetched.
#[derive(Debug)]
struct Plan {
    listed: Listed,
    in_charts: InCharts,
    /// Directories and archives, each with the name of its chart.
    local: Vec<(String, PathBuf)>,
    remote: Vec<(Dependency, RemoteRepository)>,
    /// Repositories that local directories replace.
    replaced: Vec<RemoteRepository>,
    for_helm: Vec<ForHelm>,
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
        let in_charts = InCharts::read(&chart.join(CHARTS), bounds);
        let mut plan = Self {
            listed,
            in_charts,
            local: Vec::new(),
            remote: Vec::new(),
            replaced: Vec::new(),
            for_helm: Vec::new(),
        };
        for dependency in plan.listed.dependencies.clone() {
            if !plan.in_charts.has_folder_of(&dependency) {
                plan.add(dependency, &known, request)?;
            }
        }
        check_permission(plan.remotes(), request)?;
        for (_, remote) in &mut plan.remote {
            read_certificates(std::mem::take(&mut remote.files), &mut remote.access)?;
            inherit_proxy(remote, request);
        }
        Ok(plan)
    }

    /// Adds a dependency.
    fn add(
        &mut self,
        dependency: Dependency,
        known: &ProjectRepositories,
        request: &Request,
    ) -> Result<(), DependencyError> {
        let bounds = request.settings.chart_bounds;
        match DependencyRepository::of(&dependency.repository) {
            DependencyRepository::Vendored if self.in_charts.has_chart(&dependency.name) => {}
            DependencyRepository::Vendored => {
                let path = format!("{CHARTS}/{}", dependency.name);
                return Err(DependencyError::NoFolder { path });
            }
            DependencyRepository::Folder(path) => {
                let chart = request.host.current_dir();
                let folder = local::folder(&request.root, chart, &dependency, path, bounds)?;
                self.local.push((dependency.name, folder));
            }
            DependencyRepository::Named(_)
            | DependencyRepository::Web(_)
            | DependencyRepository::Registry(_) => {
                let remote = known.remote(&dependency.repository, request.options.credentials)?;
                match replaced::local_chart(&dependency, &self.listed, known, &request.context)? {
                    None => self.remote.push((self.listed.locked(&dependency), remote)),
                    Some(chart) => {
                        local::check_whole(&chart.path, &dependency, bounds)?;
                        self.local.push((dependency.name, chart.path.clone()));
                        self.replaced.push(remote);
                    }
                }
            }
            DependencyRepository::Plugin(_) | DependencyRepository::Other => {
                let remote = RemoteRepository::of_plugin(&dependency.repository);
                self.for_helm.push(ForHelm { dependency: self.listed.locked(&dependency), remote });
            }
        }
        Ok(())
    }

    fn remotes(&self) -> impl Iterator<Item = &RemoteRepository> {
        let for_helm = self.for_helm.iter().map(|one| &one.remote);
        self.remote.iter().map(|(_, remote)| remote).chain(for_helm).chain(&self.replaced)
    }

    /// Packs the charts of directories, and reads local archives.
    fn packed(&self, request: &Request) -> Result<Vec<Archive>, DependencyError> {
        let mut packed = Vec::new();
        for (name, path) in &self.local {
            packed.push(local::packed(name, path, &request.root, request.settings.chart_bounds)?);
            check_size(&packed)?;
        }
        Ok(packed)
    }

    /// As in helm, all other archives are removed from `charts`, unless the list says that they are there.
    fn built(&self, mut added: Vec<Archive>) -> BuiltCharts {
        added.sort();
        added.dedup();
        let is_added = |file: &str| added.iter().any(|(name, _)| name == file);
        let vendored = self.listed.dependencies.iter().filter(|one| one.repository.is_empty());
        let vendored: Vec<&str> = vendored.map(|one| one.name.as_str()).collect();
        let others = self.in_charts.archives.iter().filter(|(_, chart)| !vendored.contains(&chart.as_str()));
        let removed = others.map(|(file, _)| file.clone()).filter(|file| !is_added(file)).collect();
        BuiltCharts { added, removed }
    }
}

/// Returns the name of a chart's archive, as helm gives it.
fn archive_name(chart: &str, version: &str) -> String {
    format!("{chart}-{version}{PACKED}")
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
    listed.dependencies.iter().map(need).max().unwrap_or(Needs::Nothing)
}

/// Checks that archives have no more bytes than helm permits to the files of a chart.
fn check_size(archives: &[Archive]) -> Result<(), DependencyError> {
    let bytes: u64 = archives.iter().map(|(_, archive)| archive.len() as u64).sum();
    if bytes > PACKED_CHART_BYTES_MAX {
        return Err(DependencyError::TooLarge { max: PACKED_CHART_BYTES_MAX });
    }
    Ok(())
}

/// Argo CD checks the project only when fetching has failed. Here, nothing is fetched that the project does not permit.
fn check_permission<'a>(
    remotes: impl Iterator<Item = &'a RemoteRepository>,
    request: &Request,
) -> Result<(), DependencyError> {
    let project = &request.context.project;
    let refused = remotes.filter(|remote| !permission::is_permitted(remote, &project.source_repos));
    let mut refused: Vec<String> = refused.map(|remote| remote.address.to_string()).collect();
    refused.sort();
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
