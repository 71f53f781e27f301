//! State that outlives a use case.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_engine::appset::GenerateOptions;
use tiphys_engine::appset::TemplateProject;
use tiphys_generators::PluginConnections;
use tiphys_go::gotemplate;
use tiphys_kube::KubeOptions;
use tiphys_model::limits::Limit;
use tiphys_plugin::{LoadedPlugin, NativeProgram, Plugin, RunSettings, SlotLimits, Slots, Unobserved};
use tiphys_source::SourceService;

use crate::context::cache::Cache;
use crate::context::host::Host;
use crate::context::options::ServiceOptions;
use crate::context::plugins;
use crate::context::settings;
use crate::error::ServiceError;

/// The state that use cases share: the cache with its clones, charts and trees, look-ups, plugins, and the slots that limit concurrent
/// plugin runs. A command opens one, a server opens one for all requests. Cheap to clone.
///
/// Each request opens a [`Workspace`](crate::context::workspace::Workspace) on it, with the store, settings and credentials of that request.
#[derive(Clone)]
pub struct Service(Arc<Shared>);

struct Shared {
    options: ServiceOptions,
    host: Host,
    cache: Cache,
    sources: SourceService,
    slots: Arc<Slots>,
    native: Option<Arc<NativeProgram>>,
    plugins: OnFirstUse<Vec<LoadedPlugin>>,
    connected: OnFirstUse<Vec<Arc<dyn Plugin>>>,
    plugin_connections: Arc<PluginConnections>,
}

/// A value that is made when it is needed for the first time. An error is not kept.
type OnFirstUse<T> = Mutex<Option<T>>;

impl Service {
    /// Opens the cache, and creates it if necessary.
    pub fn open(options: ServiceOptions, host: Host) -> Result<Self, ServiceError> {
        let cache = Cache::open(&options, &host)?;
        let sources = settings::source_service(&options, &host, &cache);
        // The requests of this process are the only callers, so the queue needs no limit.
        let slots = Slots::new(SlotLimits::patient(options.jobs(&host)));
        let native = plugins::native_program(&options, &host);
        let shared = Shared {
            options,
            host,
            cache,
            sources,
            slots,
            native,
            plugins: OnFirstUse::default(),
            connected: OnFirstUse::default(),
            plugin_connections: Arc::default(),
        };
        Ok(Self(Arc::new(shared)))
    }

    /// Returns the process.
    pub fn host(&self) -> &Host {
        &self.0.host
    }

    /// Returns the limits of connections to API servers.
    pub fn kube_options(&self) -> KubeOptions {
        KubeOptions::new(&self.options().limits, self.host().environment())
    }

    /// Returns the directory of the cache.
    pub(crate) fn cache_dir(&self) -> &Path {
        &self.0.cache.dir
    }

    pub(crate) fn options(&self) -> &ServiceOptions {
        &self.0.options
    }

    /// Returns the options of generating application sets now.
    pub(crate) fn generating(&self) -> GenerateOptions {
        {
            let now = (self.host().clock)();
            GenerateOptions {
                templates: gotemplate::Options {
                    limits: self.options().template_limits(),
                    ..gotemplate::Options::at(now)
                },
                parameters_max: self.options().limits.size(Limit::APPSET_PARAMETERS_MAX),
                template_project: TemplateProject::Assumed,
            }
        }
    }

    /// Returns the connections to plugin services.
    pub(crate) fn plugin_connections(&self) -> &Arc<PluginConnections> {
        &self.0.plugin_connections
    }

    pub(crate) fn sources(&self) -> &SourceService {
        &self.0.sources
    }

    /// Returns the maximum number of concurrent plugin runs.
    pub(crate) fn jobs(&self) -> usize {
        self.options().jobs(self.host())
    }

    /// Returns the program that does commands of built-in plugins and evaluates Jsonnet.
    pub(crate) fn native(&self) -> Option<Arc<NativeProgram>> {
        self.0.native.clone()
    }

    /// Returns the settings of a request's plugin runs. With `keep_workdirs` the working directories stay in directories below it.
    pub(crate) fn runs(&self, keep_workdirs: Option<PathBuf>) -> Arc<RunSettings> {
        let (store, slots) = (self.0.cache.trees(), Arc::clone(&self.0.slots));
        let native = self.native();
        let settings =
            plugins::run_settings(self.options(), self.host(), store, slots, native, Arc::new(Unobserved));
        Arc::new(RunSettings { keep_workdirs, ..settings })
    }

    /// Returns the plugins of the options that run in process.
    pub(crate) fn plugins(&self) -> Result<Vec<LoadedPlugin>, ServiceError> {
        on_first_use(&self.0.plugins, || plugins::load_plugins(self.options(), self.host()))
    }

    /// Returns the plugins that other processes serve.
    pub(crate) fn connected_plugins(&self) -> Result<Vec<Arc<dyn Plugin>>, ServiceError> {
        on_first_use(&self.0.connected, || plugins::connect_plugins(self.options(), self.host()))
    }
}

fn on_first_use<T: Clone>(
    cell: &OnFirstUse<T>,
    make: impl FnOnce() -> Result<T, ServiceError>,
) -> Result<T, ServiceError> {
    let mut cell = cell.lock().unwrap_or_else(PoisonError::into_inner);
    match &*cell {
        Some(made) => Ok(made.clone()),
        None => Ok(cell.insert(make()?).clone()),
    }
}
