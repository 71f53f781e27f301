//! What several commands need, made from the common options: trees, plugins, sources, the store of resources.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_access::NetworkUse;
use tiphys_cmp::{Archives, RemotePlugin};
use tiphys_engine::{DEFAULT_LABEL_KEY, SourceType, TrackingMethod};
use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_plugin::{
    BaseEnvironment, Catalogue, Endings, EnvironmentRule, HomeFolder, LoadedPlugin, LocalPlugin, Observer,
    Others, RunSettings, Shielded, SlotLimits, Slots, Strictness, Unobserved, load_plugins,
};
use tiphys_process::{Launcher, adopt_orphans, close_to_others};
use tiphys_render::{ContextSettings, DestinationVersions, RenderSettings, Renderer};
use tiphys_source::{Freshness, LocalCopy, Network, OwnCredentials, Progress, SourceOptions, Sources};
use tiphys_store::{Place, Store as Resources, StoreInput};
use tiphys_tree::Store;
use tokio_util::sync::CancellationToken;

use crate::args::{CommonArgs, TrackingArg};
use crate::cache::Cache;
use crate::failure::{Failure, chain};
use crate::lifecycle;
use crate::settings::Host;
use crate::terminal::one_line;
use crate::trust::{Origin, StoreSettings, Trust};

/// How a command runs plugins, in folders below `keep` that stay if there is one.
pub(crate) fn run_settings(
    common: &CommonArgs,
    host: &Host,
    store: Arc<Store>,
    keep: Option<PathBuf>,
) -> Arc<RunSettings> {
    let slots = common.jobs.map_or(host.processors(), usize::from);
    // A command asks for all its runs itself, so any number of them may wait.
    let slots = Slots::new(SlotLimits::patient(slots));
    let settings = observed_run_settings(common, host, store, slots, Arc::new(Unobserved));
    Arc::new(RunSettings { keep_workdirs: keep, ..settings })
}

/// How plugins are run within these bounds, and who is told.
pub(crate) fn observed_run_settings(
    common: &CommonArgs,
    host: &Host,
    store: Arc<Store>,
    slots: Arc<Slots>,
    observer: Arc<dyn Observer>,
) -> RunSettings {
    // Where a view is a copy, commands are processes of the same user that see this one.
    close_to_others();
    if let Err(error) = adopt_orphans() {
        tracing::warn!(%error, "a plugin that kills its launcher will keep what it started");
    }
    RunSettings {
        launcher: Launcher::new(host.executable().to_path_buf()),
        store,
        limits: common.bounds.run(),
        private_view: common.private_view.into(),
        shielded: Shielded::default(),
        home: HomeFolder::Shared,
        keep_workdirs: None,
        slots,
        observer,
        strictness: Strictness::Refuse,
        endings: Endings::default(),
    }
}

/// The environment of plugins in process.
pub(crate) fn plugin_environment(common: &CommonArgs, host: &Host) -> BaseEnvironment {
    BaseEnvironment::new(host.variables(), &EnvironmentRule::Listed(common.pass_env.clone()))
}

/// The environment of a plugin under the plugin server. Where `--install` has put an `argocd` beside this program, git finds it.
pub(crate) fn server_environment(host: &Host) -> BaseEnvironment {
    let base = BaseEnvironment::new(host.variables(), &EnvironmentRule::Container);
    let folder = host.executable().parent().filter(|folder| folder.join("argocd").is_file());
    match folder.and_then(Path::to_str) {
        Some(folder) => base.with_programs(folder),
        None => base,
    }
}

/// Where plugins are, and who says so.
pub(crate) struct PluginPaths {
    /// Absolute paths.
    pub(crate) paths: Vec<PathBuf>,
    /// The option or variable, as the beginning of a message; empty for the installation's own.
    pub(crate) origin: &'static str,
}

/// The paths of `--plugins`, else of the variable, else of the installation.
pub(crate) fn plugin_paths(common: &CommonArgs, host: &Host) -> PluginPaths {
    let (paths, origin) = if !common.plugins.is_empty() {
        (common.plugins.clone(), "--plugins: ")
    } else if let Some(list) = host.variable("TIPHYS_PLUGINS") {
        let paths = list.split(':').filter(|path| !path.is_empty()).map(PathBuf::from);
        (paths.collect(), "TIPHYS_PLUGINS: ")
    } else {
        (host.installed_plugins().into_iter().collect(), "")
    };
    PluginPaths { paths: paths.into_iter().map(|path| host.absolute(path)).collect(), origin }
}

/// The plugin files of `--plugins`, else of the installation.
pub(crate) fn loaded_plugins(common: &CommonArgs, host: &Host) -> Result<Vec<LoadedPlugin>, Failure> {
    let PluginPaths { paths, origin } = plugin_paths(common, host);
    let mut loaded = Vec::new();
    for path in paths {
        let found =
            load_plugins(&path).map_err(|error| Failure::bad_input(format!("{origin}{}", chain(&error))))?;
        loaded.extend(found);
    }
    for plugin in &loaded {
        warn_of_folder(plugin);
    }
    Ok(loaded)
}

/// `PATH` has no way to write a colon that does not divide.
pub(crate) fn warn_of_folder(plugin: &LoadedPlugin) {
    if plugin.folder.as_os_str().as_encoded_bytes().contains(&b':') {
        tracing::warn!(
            "{}: the folder's path has a colon, so it cannot be on the PATH of the plugin's commands: files of its own are not \
             found; move it to another folder",
            plugin.file.display()
        );
    }
}

/// These plugins, in process.
pub(crate) fn catalogue_of(
    plugins: Vec<LoadedPlugin>,
    common: &CommonArgs,
    host: &Host,
    settings: &Arc<RunSettings>,
) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for plugin in plugins {
        catalogue.add(Arc::new(local_plugin(plugin, common, host, settings)));
    }
    catalogue
}

/// A plugin in process.
pub(crate) fn local_plugin(
    plugin: LoadedPlugin,
    common: &CommonArgs,
    host: &Host,
    settings: &Arc<RunSettings>,
) -> LocalPlugin {
    let base = plugin_environment(common, host);
    LocalPlugin::new(plugin.config, Some(plugin.folder), base, Arc::clone(settings))
}

/// The plugins behind the sockets of `--plugin-sockets`.
pub(crate) fn remote_plugins(common: &CommonArgs, host: &Host) -> Result<Vec<RemotePlugin>, Failure> {
    let Some(dir) = host.plugin_sockets(common) else { return Ok(Vec::new()) };
    let archives = Arc::new(Archives::new(host.temporary_dir()));
    tiphys_cmp::remote_plugins(&dir, &archives)
        .map_err(|error| Failure::bad_input(format!("--plugin-sockets: {}", chain(&error))))
}

/// What a command that looks at applications works with.
pub(crate) struct Workplace {
    /// The store of resources.
    pub(crate) resources: Resources,
    /// Namespace of applications that name none.
    pub(crate) control_plane: String,
    /// The plugins in process.
    pub(crate) plugins: Vec<LoadedPlugin>,
    /// Renders and announces.
    pub(crate) renderer: Renderer,
    /// Where the files of the store come from.
    pub(crate) trust: Trust,
    /// How plugins are run; their endings are waited for at the end.
    pub(crate) runs: Arc<RunSettings>,
    /// Fires when the command is to end.
    pub(crate) cancel: CancellationToken,
    /// What it keeps for this command alone goes with it.
    _cache: Cache,
}

/// What a command wants of its workplace beside the common options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    /// Name every plugin that matches.
    pub(crate) name_others: bool,
    /// Leave plugins' working folders behind, in new folders below this one.
    pub(crate) keep_workdirs: Option<PathBuf>,
    /// More folders that stand for repositories, before those of the command line.
    pub(crate) copies: Vec<LocalCopy>,
    /// Plugins instead of those of the command line.
    pub(crate) plugins: Option<Vec<LoadedPlugin>>,
    /// How objects are marked where the command line does not say it.
    pub(crate) tracking: Option<TrackingArg>,
    /// Paths of applications that the caller named beside the store.
    pub(crate) applications: Vec<PathBuf>,
    /// Fires when the command is to end; shared by the workplaces of one command.
    pub(crate) cancel: CancellationToken,
}

impl Workplace {
    /// Runs work to its end, what plugins leave behind included, or until a signal comes: the first ends it in order, the second at
    /// once.
    pub(crate) async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let whole = async {
            let result = work.await;
            self.runs.endings.drained().await;
            result
        };
        lifecycle::unless_interrupted(&self.cancel, whole).await
    }
}

/// Opens the store of resources and everything that rendering needs.
pub(crate) fn workplace(
    common: &CommonArgs,
    host: &Host,
    resources: Resources,
    wishes: Wishes,
) -> Result<Workplace, Failure> {
    let cache = Cache::open(common, host)?;
    let runs = run_settings(common, host, cache.trees(), wishes.keep_workdirs.clone());
    let trust = Trust::new(common, host, &resources, &wishes.applications);
    let control_plane = control_plane(common, &resources, &trust);
    let render_settings = render_settings(common, host, &resources, &trust, &wishes)?;
    let mut options = source_options(common, host, cache.dir.clone(), wishes.copies)?;
    options.known.clone_from(&render_settings.context.known);
    let sources = Arc::new(Sources::new(cache.trees(), options));
    let (plugins, remote) = match wishes.plugins {
        Some(plugins) => (plugins, Vec::new()),
        None => (loaded_plugins(common, host)?, remote_plugins(common, host)?),
    };
    let mut catalogue = catalogue_of(plugins.clone(), common, host, &runs);
    for plugin in remote {
        catalogue.add(Arc::new(plugin));
    }
    let cancel = wishes.cancel;
    let renderer = Renderer::new(sources, catalogue, render_settings, cancel.clone());
    Ok(Workplace { resources, control_plane, plugins, renderer, trust, runs, cancel, _cache: cache })
}

/// Namespace of applications that name none.
pub(crate) fn control_plane(common: &CommonArgs, resources: &Resources, trust: &Trust) -> String {
    let is_callers = |place: &Place| trust.of_settings(&place.file) == Origin::Caller;
    let of_store = || resources.control_plane_namespace(&is_callers).to_owned();
    common.argocd_namespace.clone().unwrap_or_else(of_store)
}

/// What the options and the settings of the store say about rendering.
pub(crate) fn render_settings(
    common: &CommonArgs,
    host: &Host,
    resources: &Resources,
    trust: &Trust,
    wishes: &Wishes,
) -> Result<RenderSettings, Failure> {
    let StoreSettings { settings, known, source_repos } =
        StoreSettings::new(resources, common.argocd_namespace.as_deref(), trust);
    let tracking = match common.tracking.or(wishes.tracking) {
        Some(asked) => method_of(asked),
        // Argo CD takes a word that it does not know for `annotation`.
        None => settings.tracking_method.as_deref().and_then(|word| word.parse().ok()).unwrap_or_default(),
    };
    let switched_off = switched_off(&settings);
    let mut context = ContextSettings {
        network: if common.offline { NetworkUse::None } else { NetworkUse::Allowed },
        known,
        source_repos,
        // A command renders for the person who calls it.
        own_logins: Some(own_logins(common, host)),
        ..ContextSettings::default()
    };
    if let Some(schemes) = settings.value_file_schemes {
        context.values_file_schemes = schemes;
    }
    Ok(RenderSettings {
        tracking,
        label_key: settings.label_key.unwrap_or_else(|| DEFAULT_LABEL_KEY.to_owned()),
        installation_id: settings.installation_id.unwrap_or_default(),
        argocd_namespace: control_plane(common, resources, trust),
        destinations: destinations(common, host)?,
        plugin_timeout: common.bounds.plugin_timeout(),
        kustomize_build_options: settings.kustomize_build_options.unwrap_or_default(),
        switched_off,
        context,
        others: if wishes.name_others { Others::Name } else { Others::Ignore },
        directory_bytes_max: common.bounds.directory_bytes_max,
        manifests_max: common.bounds.manifests_max(),
    })
}

/// The source types that settings switch off: a word other than `true` does.
fn switched_off(settings: &tiphys_api::ArgoCdSettings) -> Vec<SourceType> {
    [(&settings.helm_enable, SourceType::Helm), (&settings.kustomize_enable, SourceType::Kustomize)]
        .into_iter()
        .filter(|(word, _)| word.as_deref().is_some_and(|word| word != "true"))
        .map(|(_, kind)| kind)
        .collect()
}

/// The logins that the person who calls has with helm and docker. Asking a helper for one is a part of looking something up.
fn own_logins(common: &CommonArgs, host: &Host) -> OwnLogins {
    let (timeout, option) = common.bounds.lookup_bound();
    OwnLogins::new(host.variables(), HelperBound { timeout, option: Some(option) })
}

/// The paths of `--store`.
pub(crate) fn store_paths(common: &CommonArgs) -> Vec<String> {
    if common.store.is_empty() { vec![".".to_owned()] } else { common.store.clone() }
}

/// Loads the stores of `--store`.
pub(crate) fn resources(common: &CommonArgs) -> Result<Resources, Failure> {
    let mut inputs = Vec::new();
    for path in store_paths(common) {
        if path == "-" {
            let mut text = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut text)
                .map_err(|error| Failure::bad_input(format!("cannot read standard input: {error}")))?;
            inputs.push(StoreInput::StandardInput(text));
        } else {
            inputs.push(StoreInput::Path(PathBuf::from(path)));
        }
    }
    load(&inputs)
}

/// Loads stores, and says what was left out.
pub(crate) fn load(inputs: &[StoreInput]) -> Result<Resources, Failure> {
    let resources =
        Resources::load(inputs).map_err(|error| Failure::bad_input(format!("--store: {}", chain(&error))))?;
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

fn method_of(asked: TrackingArg) -> TrackingMethod {
    match asked {
        TrackingArg::Annotation => TrackingMethod::Annotation,
        TrackingArg::Label => TrackingMethod::Label,
        TrackingArg::AnnotationAndLabel => TrackingMethod::AnnotationAndLabel,
        TrackingArg::None => TrackingMethod::None,
    }
}

/// The folders of `--repo`.
pub(crate) fn local_copies(common: &CommonArgs, host: &Host) -> Result<Vec<LocalCopy>, Failure> {
    let copy_of = |text: &String| {
        let copy = LocalCopy::parse(text, &host.absolute(""))
            .map_err(|error| Failure::bad_input(format!("--repo: {error}")))?;
        if !copy.dir.is_dir() {
            return Err(Failure::bad_input(format!("--repo: {} is no folder", copy.dir.display())));
        }
        Ok(copy)
    };
    common.repo.iter().map(copy_of).collect()
}

pub(crate) fn source_options(
    common: &CommonArgs,
    host: &Host,
    cache: PathBuf,
    mut copies: Vec<LocalCopy>,
) -> Result<SourceOptions, Failure> {
    copies.extend(local_copies(common, host)?);
    let mut file_repositories: Vec<PathBuf> = copies.iter().map(|copy| copy.dir.clone()).collect();
    for dir in &common.allow_file_repositories {
        let dir = host.absolute(dir);
        if !dir.is_dir() {
            return Err(Failure::bad_input(format!(
                "--allow-file-repositories: {} is not a directory",
                dir.display()
            )));
        }
        file_repositories.push(dir);
    }
    let environment =
        host.variables().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let mut options = SourceOptions::new(cache, environment);
    options.network = if common.offline { Network::Offline } else { Network::Online };
    options.freshness = if common.refresh { Freshness::Refresh } else { Freshness::Cached };
    options.copies = copies;
    options.file_repositories = file_repositories;
    options.own_credentials =
        if common.own_credentials_via_proxy { OwnCredentials::AlsoViaProxy } else { OwnCredentials::Direct };
    options.fetch_timeout = common.bounds.fetch_timeout();
    options.lookup_timeout = common.bounds.lookup_timeout();
    options.connect_timeout = common.bounds.connect_timeout();
    options.chart_limits = common.bounds.charts();
    if host.stderr_is_terminal() {
        options.progress = Some(Arc::new(show_progress));
    }
    Ok(options)
}

/// Fetching is what a person waits for longest.
#[expect(clippy::print_stderr, reason = "progress for a person at a terminal")]
fn show_progress(progress: &Progress<'_>) {
    match progress {
        Progress::LookingUp { .. } => {}
        Progress::Fetching { repository, revision } => {
            eprintln!("fetching {} of {} …", one_line(revision), one_line(repository));
        }
        Progress::Fetched { repository, duration } => {
            eprintln!("fetched {} in {:.1} s", one_line(repository), duration.as_secs_f64());
        }
    }
}

fn destinations(common: &CommonArgs, host: &Host) -> Result<DestinationVersions, Failure> {
    let mut versions = DestinationVersions::default();
    for text in &common.kube_version {
        let (cluster, version) = named(text);
        versions.set_kube_version(cluster, version.to_owned());
    }
    for text in &common.api_versions {
        let (cluster, list) = named(text);
        let list = match list.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(host.absolute(file)).map_err(|error| {
                Failure::bad_input(format!("--api-versions: cannot read {file}: {error}"))
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

/// `NAME=VALUE` or `VALUE`.
fn named(text: &str) -> (Option<String>, &str) {
    match text.split_once('=') {
        Some((name, value)) => (Some(name.to_owned()), value),
        None => (None, text),
    }
}
