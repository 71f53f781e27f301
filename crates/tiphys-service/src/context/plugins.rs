//! Loading plugins, and the settings of their runs.

pub(crate) mod replaced;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_plugin::{
    BaseEnvironment, Catalogue, Endings, EnvironmentRule, HomeFolder, LoadedPlugin, LocalPlugin,
    NativeProgram, Observer, Plugin, RunSettings, Shielded, Slots, Strictness,
};
use tiphys_process::{Launcher, adopt_orphans, set_not_dumpable};
use tiphys_tree::Store;

use crate::context::host::Host;
use crate::context::options::{ServiceOptions, Setting, SettingOrigin};
use crate::error::{ServiceError, chain};

pub(crate) use self::replaced::{NamedPlugin, without_replaced};

/// The variable with the engine of the Helm plugin.
const HELM_ENGINE_VARIABLE: &str = "TIPHYS_HELM_ENGINE";

/// Returns the settings of plugin runs within these slots and with the processes of this native program, which report to `observer`.
pub fn run_settings(
    options: &ServiceOptions,
    host: &Host,
    store: Arc<Store>,
    slots: Arc<Slots>,
    native: Option<Arc<NativeProgram>>,
    observer: Arc<dyn Observer>,
) -> RunSettings {
    // If a working copy is not an overlay, the plugin's commands are processes of the same user that can see this one.
    set_not_dumpable();
    if let Err(error) = adopt_orphans() {
        tracing::warn!(%error, "a plugin that kills its launcher will keep what it started");
    }
    RunSettings {
        launcher: Launcher::new(host.executable.clone()),
        programs: host.plugin_programs,
        native,
        in_process: host.in_process_commands,
        store,
        limits: options.run_limits(),
        private_view: options.private_view,
        shielded: Shielded::default(),
        home: HomeFolder::Shared,
        keep_workdirs: None,
        slots,
        observer,
        strictness: Strictness::Refuse,
        endings: Endings::default(),
    }
}

/// Returns the program that does commands of built-in plugins, if it is installed.
pub fn native_program(options: &ServiceOptions, host: &Host) -> Option<Arc<NativeProgram>> {
    let search_path = host.variable("PATH").unwrap_or_default();
    let (executable, limits) = (&host.executable, &options.limits);
    let (processes, commands) = (options.jobs(host), host.native_commands);
    NativeProgram::find(executable, search_path.as_ref(), limits, processes, commands).map(Arc::new)
}

/// A path of plugins, and its source.
#[derive(Clone, Debug)]
pub struct PluginPath {
    /// The absolute path.
    pub path: PathBuf,
    /// The origin of the path.
    pub origin: SettingOrigin,
}

/// Returns the paths of plugins that the caller configures.
pub fn plugin_paths(options: &ServiceOptions, host: &Host) -> Vec<PluginPath> {
    let origin = options.plugins_origin;
    options.plugins.iter().map(|path| PluginPath { path: host.absolute(path), origin }).collect()
}

/// Returns the beginning of messages about plugins from an origin.
pub(crate) fn prefix(origin: SettingOrigin) -> String {
    Setting::PLUGINS.named_by(origin) + ": "
}

/// Returns the plugins that are part of the program.
pub(crate) fn built_in(options: &ServiceOptions) -> Result<Vec<NamedPlugin>, ServiceError> {
    let read = |text: &&str| {
        let plugin = LoadedPlugin::built_in(text).map_err(ServiceError::invalid_input_from)?;
        Ok(NamedPlugin { file: plugin.shown_file(), plugin, origin: None })
    };
    let used = if options.no_default_plugins { &[] } else { options.built_in_plugins };
    used.iter().map(read).collect()
}

/// Loads the plugins at a path.
pub(crate) fn load(path: &PluginPath) -> Result<Vec<NamedPlugin>, ServiceError> {
    let PluginPath { path, origin } = path;
    let loaded = tiphys_plugin::load_plugins(path)
        .map_err(|error| ServiceError::invalid_input(format!("{}{}", prefix(*origin), chain(&error))))?;
    let named =
        |plugin: LoadedPlugin| NamedPlugin { file: plugin.shown_file(), plugin, origin: Some(*origin) };
    Ok(loaded.into_iter().map(named).collect())
}

/// Loads the plugins that run in process.
pub fn load_plugins(options: &ServiceOptions, host: &Host) -> Result<Vec<LoadedPlugin>, ServiceError> {
    let mut loaded = built_in(options)?;
    for path in plugin_paths(options, host) {
        loaded.extend(load(&path)?);
    }
    let plugins = without_replaced(loaded)?;
    plugins.iter().for_each(warn_about_folder);
    Ok(plugins)
}

/// Warns about a plugin whose directory has a colon in its path: `PATH` cannot contain it.
pub fn warn_about_folder(plugin: &LoadedPlugin) {
    if plugin.folder().is_some_and(|folder| folder.as_os_str().as_encoded_bytes().contains(&b':')) {
        tracing::warn!(
            "{}: the folder's path has a colon, so it cannot be on the PATH of the plugin's commands: files of its own are not \
             found; move it to another folder",
            plugin.shown_file()
        );
    }
}

/// Returns a catalogue of plugins that run in process and of those that other processes serve. Both replace built-in plugins.
pub(crate) fn catalogue(
    plugins: Vec<LoadedPlugin>,
    connected: Vec<Arc<dyn Plugin>>,
    options: &ServiceOptions,
    host: &Host,
    settings: &Arc<RunSettings>,
) -> Catalogue {
    let places = plugin_paths(options, host).into_iter().map(|one| one.path);
    let mut catalogue = Catalogue::of(places.collect());
    let local = |plugin| Arc::new(local_plugin(plugin, options, host, settings)) as Arc<dyn Plugin>;
    // Of several plugins with one name, the first is used.
    let (built_in, named): (Vec<_>, Vec<_>) = plugins.into_iter().partition(|plugin| plugin.files.is_none());
    let plugins = named.into_iter().map(local).chain(connected).chain(built_in.into_iter().map(local));
    plugins.for_each(|plugin| catalogue.add(plugin));
    catalogue
}

/// Returns a plugin that runs in process.
pub(crate) fn local_plugin(
    plugin: LoadedPlugin,
    options: &ServiceOptions,
    host: &Host,
    settings: &Arc<RunSettings>,
) -> LocalPlugin {
    let engine = options.helm_engine.map(|engine| (HELM_ENGINE_VARIABLE.to_owned(), engine.to_owned()));
    let variables = host.variables().chain(engine);
    let base = BaseEnvironment::new(variables, &EnvironmentRule::Listed(options.pass_env.clone()));
    let folder = plugin.folder().map(Path::to_path_buf);
    LocalPlugin::new(plugin.config, folder, base, Arc::clone(settings))
}

/// Connects to the plugin servers, if a directory of sockets is configured.
pub(crate) fn connect_plugins(
    options: &ServiceOptions,
    host: &Host,
) -> Result<Vec<Arc<dyn Plugin>>, ServiceError> {
    match (options.connect_plugins, options.plugin_socket_dir(host)) {
        (Some(connect), Some(dir)) => connect(&dir, host),
        _ => Ok(Vec::new()),
    }
}
