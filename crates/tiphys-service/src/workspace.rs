//! What a use case works with: the store of resources, plugins, sources and the renderer.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_access::NetworkUse;
use tiphys_engine::{DEFAULT_LABEL_KEY, SourceType, TrackingMethod};
use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_plugin::{LoadedPlugin, Others, RunSettings};
use tiphys_render::{
    ContextSettings, DestinationVersions, RenderRequest, RenderService, RenderSettings, Renderer,
};
use tiphys_source::{
    Freshness, LocalCopy, Network, OwnCredentials, SourceOptions, SourceRequest, SourceService,
};
use tiphys_store::{Place, Store as Resources, StoreInput};
use tokio_util::sync::CancellationToken;

use crate::cache::Cache;
use crate::error::{ServiceError, chain};
use crate::host::Host;
use crate::options::{ApplicationSelection, ServiceOptions};
use crate::plugin::{self, PluginPaths};
use crate::trust::{Origin, StoreSettings, Trust};

/// What a use case that reads applications works with.
pub struct Workspace {
    pub(crate) resources: Resources,
    /// Namespace of applications without one.
    pub(crate) control_plane: String,
    /// The plugins that run in process.
    pub(crate) plugins: Vec<LoadedPlugin>,
    /// The renderer of the one request of all use cases: a branch stands for one commit in all applications.
    pub(crate) renderer: Renderer,
    pub(crate) trust: Trust,
    pub(crate) runs: Arc<RunSettings>,
    /// Maximum number of concurrent plugin runs.
    pub(crate) jobs: usize,
    cancel: CancellationToken,
    /// Removes its temporary store when it is dropped.
    _cache: Cache,
}

/// What a use case needs besides the shared options.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceOptions {
    /// Whether to report all plugins that match, not only the first.
    pub name_others: bool,
    /// Keeps the plugins' working directories, in new directories below this one.
    pub keep_workdirs: Option<PathBuf>,
    /// Paths of applications that the caller named in addition to the store.
    pub applications: Vec<PathBuf>,
    /// Cancels the use case. Workspaces of one request share it.
    pub cancel: CancellationToken,
    /// Local directories used instead of repositories, before those of the options.
    pub(crate) local_copies: Vec<LocalCopy>,
    /// Plugins used instead of those of the options.
    pub(crate) plugins: Option<Vec<LoadedPlugin>>,
    /// The tracking method if the options have none.
    pub(crate) tracking: Option<TrackingMethod>,
}

impl WorkspaceOptions {
    /// Returns options for the selected applications.
    #[must_use]
    pub fn for_selection(selection: &ApplicationSelection) -> Self {
        Self { applications: selection.paths(), ..Self::default() }
    }
}

impl Workspace {
    /// Loads the store and opens a workspace.
    pub fn open(
        options: &ServiceOptions,
        host: &Host,
        workspace: WorkspaceOptions,
    ) -> Result<Self, ServiceError> {
        Self::with_resources(options, host, load_store(options, host)?, workspace)
    }

    /// Opens a workspace for a store that is loaded already.
    pub(crate) fn with_resources(
        options: &ServiceOptions,
        host: &Host,
        resources: Resources,
        workspace: WorkspaceOptions,
    ) -> Result<Self, ServiceError> {
        let cache = Cache::open(options, host)?;
        let runs =
            plugin::default_run_settings(options, host, cache.trees(), workspace.keep_workdirs.clone());
        let trust = Trust::new(options, host, &resources, &workspace.applications);
        let control_plane = control_plane(options, &resources, &trust);
        let settings = RenderSettings {
            others: if workspace.name_others { Others::Name } else { Others::Ignore },
            ..render_settings(options, host, &resources, &trust, workspace.tracking)?
        };
        let sources = source_request(options, host, workspace.local_copies)?;
        let source_service = source_service(options, host, &cache, &sources)?;
        let (plugins, connected) = match workspace.plugins {
            Some(plugins) => (plugins, Vec::new()),
            None => (plugin::load_plugins(options, host)?, plugin::connect_plugins(options, host)?),
        };
        let mut catalogue = plugin::catalogue(plugins.clone(), options, host, &runs);
        for plugin in connected {
            catalogue.add(plugin);
        }
        let cancel = workspace.cancel;
        let request = RenderRequest { settings, sources, deadline: None, cancel: cancel.clone() };
        let renderer = RenderService::new(source_service, catalogue).renderer(&request);
        let jobs = options.jobs(host);
        Ok(Self { resources, control_plane, plugins, renderer, trust, runs, jobs, cancel, _cache: cache })
    }

    /// Returns the namespace of applications without one.
    pub fn control_plane(&self) -> &str {
        &self.control_plane
    }

    /// Returns the token that cancels what runs in this workspace. Cancelled plugins are stopped in order, so the use case should still be
    /// awaited.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Returns a warning if plugins that the caller configured are in a rendered repository: in CI the checkout is often that of a pull
    /// request, which then chooses the commands that run.
    pub fn plugins_in_checkout(&self, options: &ServiceOptions, host: &Host) -> Option<String> {
        if host.variable("CI").is_none_or(|value| value == "false") {
            return None;
        }
        let PluginPaths { paths, origin } = plugin::plugin_paths(options, host);
        let plugins = paths.into_iter().filter(|_| !origin.is_empty()).map(|path| (origin, path));
        let sockets = host.plugin_sockets(options).map(|path| ("--plugin-sockets: ", path));
        let (origin, path) = plugins.chain(sockets).find(|(_, path)| self.trust.is_rendered(path))?;
        Some(format!(
            "{origin}{} is in a repository that is rendered: a pull request can change the commands that run here; use plugins \
             from outside of the checkout",
            path.display()
        ))
    }

    /// Completes work, then waits until everything that plugins left behind is stopped and removed.
    pub(crate) async fn drained<T>(&self, work: impl Future<Output = T>) -> T {
        let result = work.await;
        self.runs.endings.drained().await;
        result
    }
}

/// Returns the namespace of applications without one.
pub(crate) fn control_plane(options: &ServiceOptions, resources: &Resources, trust: &Trust) -> String {
    let is_callers = |place: &Place| trust.origin(&place.file) == Origin::Caller;
    let of_store = || resources.control_plane_namespace(&is_callers).to_owned();
    options.argocd_namespace.clone().unwrap_or_else(of_store)
}

/// Returns the render settings of the options and of the store. `tracking` is the tracking method if the options have none.
pub(crate) fn render_settings(
    options: &ServiceOptions,
    host: &Host,
    resources: &Resources,
    trust: &Trust,
    tracking: Option<TrackingMethod>,
) -> Result<RenderSettings, ServiceError> {
    let StoreSettings { settings, known, source_repos } =
        StoreSettings::new(resources, options.argocd_namespace.as_deref(), trust);
    // Like Argo CD, an unknown method counts as `annotation`.
    let of_store = || settings.tracking_method.as_deref().and_then(|word| word.parse().ok());
    let tracking = options.tracking.or(tracking).or_else(of_store).unwrap_or_default();
    let switched_off = switched_off(&settings);
    let mut context = ContextSettings {
        network: if options.offline { NetworkUse::None } else { NetworkUse::Allowed },
        known,
        source_repos,
        // The use cases render for the user of this machine.
        own_logins: Some(own_logins(options, host)),
        ..ContextSettings::default()
    };
    if let Some(schemes) = settings.value_file_schemes {
        context.values_file_schemes = schemes;
    }
    Ok(RenderSettings {
        tracking,
        label_key: settings.label_key.unwrap_or_else(|| DEFAULT_LABEL_KEY.to_owned()),
        installation_id: settings.installation_id.unwrap_or_default(),
        argocd_namespace: control_plane(options, resources, trust),
        destinations: destinations(options, host)?,
        plugin_timeout: options.limits.plugin_timeout(),
        kustomize_build_options: settings.kustomize_build_options.unwrap_or_default(),
        switched_off,
        context,
        others: Others::Ignore,
        directory_bytes_max: options.limits.directory_bytes_max,
        manifests_max: options.limits.manifests_max(),
    })
}

/// Returns the source types that the settings disable: any value other than `true` does.
fn switched_off(settings: &tiphys_api::ArgoCdSettings) -> Vec<SourceType> {
    [(&settings.helm_enable, SourceType::Helm), (&settings.kustomize_enable, SourceType::Kustomize)]
        .into_iter()
        .filter(|(word, _)| word.as_deref().is_some_and(|word| word != "true"))
        .map(|(_, kind)| kind)
        .collect()
}

/// Returns the user's own credentials of helm and docker. The timeout of look-ups applies to credential helpers.
fn own_logins(options: &ServiceOptions, host: &Host) -> OwnLogins {
    let (timeout, option) = options.limits.lookup_timeout();
    OwnLogins::new(host.variables(), HelperBound { timeout, option: Some(option) })
}

/// Loads the store.
pub fn load_store(options: &ServiceOptions, host: &Host) -> Result<Resources, ServiceError> {
    let mut inputs = Vec::new();
    for path in options.store_paths() {
        if path == "-" {
            let mut text = Vec::new();
            (host.standard_input)().read_to_end(&mut text).map_err(|error| {
                ServiceError::invalid_input(format!("cannot read standard input: {error}"))
            })?;
            inputs.push(StoreInput::StandardInput(text));
        } else {
            inputs.push(StoreInput::Path(PathBuf::from(path)));
        }
    }
    load_inputs(&inputs)
}

/// Loads a store and logs what it left out.
pub(crate) fn load_inputs(inputs: &[StoreInput]) -> Result<Resources, ServiceError> {
    let resources = Resources::load(inputs)
        .map_err(|error| ServiceError::invalid_input(format!("--store: {}", chain(&error))))?;
    let counts = resources.counts();
    tracing::info!(
        files = counts.files,
        without_resources = counts.files_without_resources,
        applications = resources.applications().len(),
        left_out = resources.skipped().len(),
        "store loaded"
    );
    for skipped in resources.skipped() {
        tracing::info!("left out {}: {}", skipped.place, skipped.reason);
    }
    Ok(resources)
}

/// Parses the local directories of the `repo` option.
pub(crate) fn local_copies(options: &ServiceOptions, host: &Host) -> Result<Vec<LocalCopy>, ServiceError> {
    let parse = |text: &String| {
        let copy = LocalCopy::parse(text, &host.absolute(""))
            .map_err(|error| ServiceError::invalid_input(format!("--repo: {error}")))?;
        if !copy.dir.is_dir() {
            let dir = copy.dir.display();
            return Err(ServiceError::invalid_input(format!("--repo: {dir} is not a folder")));
        }
        Ok(copy)
    };
    options.repo.iter().map(parse).collect()
}

/// Returns the source settings of a request. `copies` come before those of the options. The repositories that it may use are missing.
pub(crate) fn source_request(
    options: &ServiceOptions,
    host: &Host,
    mut copies: Vec<LocalCopy>,
) -> Result<SourceRequest, ServiceError> {
    copies.extend(local_copies(options, host)?);
    Ok(SourceRequest {
        copies,
        network: if options.offline { Network::Offline } else { Network::Online },
        freshness: if options.refresh { Freshness::Refresh } else { Freshness::Cached },
        ..SourceRequest::default()
    })
}

/// Returns the source service for requests with the directories of this one.
pub(crate) fn source_service(
    options: &ServiceOptions,
    host: &Host,
    cache: &Cache,
    request: &SourceRequest,
) -> Result<SourceService, ServiceError> {
    let mut file_repositories: Vec<PathBuf> = request.copies.iter().map(|copy| copy.dir.clone()).collect();
    for dir in &options.allow_file_repositories {
        let dir = host.absolute(dir);
        if !dir.is_dir() {
            return Err(ServiceError::invalid_input(format!(
                "--allow-file-repositories: {} is not a directory",
                dir.display()
            )));
        }
        file_repositories.push(dir);
    }
    let environment =
        host.variables().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let mut sources = SourceOptions::new(cache.dir.clone(), environment);
    sources.file_repositories = file_repositories;
    sources.own_credentials =
        if options.own_credentials_via_proxy { OwnCredentials::AlsoViaProxy } else { OwnCredentials::Direct };
    sources.fetch_timeout = options.limits.fetch_timeout();
    (sources.lookup_timeout, _) = options.limits.lookup_timeout();
    sources.connect_timeout = options.limits.connect_timeout();
    sources.chart_limits = options.limits.charts();
    sources.progress.clone_from(&options.fetch_progress);
    Ok(SourceService::new(cache.trees(), sources))
}

fn destinations(options: &ServiceOptions, host: &Host) -> Result<DestinationVersions, ServiceError> {
    let mut versions = DestinationVersions::default();
    for text in &options.kube_version {
        let (cluster, version) = split_cluster(text);
        versions.set_kube_version(cluster, version.to_owned());
    }
    for text in &options.api_versions {
        let (cluster, list) = split_cluster(text);
        let list = match list.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(host.absolute(file)).map_err(|error| {
                ServiceError::invalid_input(format!("--api-versions: cannot read {file}: {error}"))
            })?,
            None => list.to_owned(),
        };
        let list = list
            .split([',', '\n'])
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect();
        versions.set_api_versions(cluster, list);
    }
    Ok(versions)
}

/// Splits `NAME=VALUE` or `VALUE`.
fn split_cluster(text: &str) -> (Option<String>, &str) {
    match text.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), value),
        None => (None, text),
    }
}
