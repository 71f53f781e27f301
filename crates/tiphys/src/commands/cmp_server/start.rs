//! Starts the server's parts, each after those that it needs.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use tempfile::TempDir;
use tiphys_cmp::{Metrics, Server, ServerOptions, SocketGuard, Versions, bind};
use tiphys_plugin::{
    BaseEnvironment, EnvironmentRule, LoadedPlugin, LocalPlugin, RunSettings, Shielded, SlotLimits, Slots,
    load_plugins,
};
use tiphys_process::{Launcher, PrivateView, ViewKind, reap_orphans};
use tiphys_service::ServiceOptions;
use tiphys_service::plugin::{native_program, run_settings, warn_about_folder};
use tiphys_tree::{ProcessStore, Store, StoreError, StoreOptions, is_trusted_owner};
use tiphys_web::Endpoint;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use super::observed::{ServerObserved, Serving};
use super::self_check::SelfCheck;
use super::settings::ServerSettings;
use crate::build;
use crate::error::{ErrorKind, ServiceError, chain};
use crate::lifecycle::{self, SideTask, Signals};
use crate::settings::Process;
use crate::telemetry;

/// Launchers that are started before they are needed, so that a run need not wait for one. Each is an idle process. A new one is started as
/// soon as a run ends, so more would only use memory.
const SPARE_LAUNCHERS_MAX: usize = 2;

/// Serves until a signal arrives and running calls have ended.
pub(super) async fn serve(
    settings: &ServerSettings,
    options: &ServiceOptions,
    host: &Process,
) -> Result<(), ServiceError> {
    // From here on a signal shuts the server down and removes its socket.
    let mut signals = Signals::install()?;
    let plugin = plugin(&settings.config)?;
    // Links are resolved before the directories are shielded, so that a link cannot be replaced later.
    let plugin_folder = plugin.folder().map(without_links);
    let socket_dir = without_links(&settings.socket_dir);
    let own_workdir = own_workdir(&settings.workdir)?;
    let workdir = own_workdir.as_ref().map_or(settings.workdir.as_path(), TempDir::path);
    let own_store = store(workdir, settings, options)?;
    let store = own_store.shared();
    let metrics = Metrics::new();
    let shielded =
        Shielded { hidden: vec![socket_dir.clone()], read_only: plugin_folder.iter().cloned().collect() };
    let runs = runs(settings, options, host, &store, &metrics);
    let runs = Arc::new(RunSettings { shielded, ..runs });
    let serving = Serving::default();
    let observed = Arc::new(ServerObserved::new(Arc::clone(&metrics), &store, &runs.slots, serving.clone()));
    let mut side_tasks: Vec<SideTask<'_>> = Vec::new();
    if let Some(address) = settings.metrics_address {
        let endpoint = Endpoint::bind(address)
            .await
            .map_err(|error| ServiceError::invalid_input(format!("--metrics-address {address}: {error}")))?;
        tracing::info!("metrics are on http://{}/metrics", endpoint.address());
        side_tasks.push(Box::pin(async move {
            let ended = endpoint.serve_metrics(observed).await;
            ended
                .map_or_else(|error| format!("metrics: {error}"), |()| "metrics: the server ended".to_owned())
        }));
    }
    let socket = socket_dir.join(plugin.config.socket_name());
    let base = environment(host);
    let plugin = LocalPlugin::new(plugin.config, plugin_folder, base, Arc::clone(&runs));
    let server = Server::new(Arc::new(plugin), own_store.clone(), metrics, server_options(workdir, settings));
    let (listener, socket) = bind(&socket).await.map_err(ServiceError::invalid_input_from)?;
    serving.begin();
    tracing::info!("argocd-cmp-server {} serving on {}", build::VERSION, socket.file().path().display());
    side_tasks.push(Box::pin(SelfCheck::new(socket.file().clone()).run(settings.self_check_interval)));
    runs.launcher.prepare();
    side_tasks.push(Box::pin(async {
        log_private_view(&runs, options.private_view).await;
        std::future::pending().await
    }));
    // The kernel reparents orphans of killed launchers to this process, and as process 1 of its container all other orphans.
    side_tasks.push(Box::pin(async {
        match reap_orphans().await {
            Ok(never) => match never {},
            Err(error) => format!("reaping orphans: {error}"),
        }
    }));
    let stop = CancellationToken::new();
    let served = async {
        let result = calls(server, listener, socket, &stop, &serving).await;
        // Processes that calls left behind end before the server.
        runs.endings.drained().await;
        // Connections that callers keep open reference the store until the process ends.
        close(own_store).await;
        result
    };
    let result =
        lifecycle::serve(&mut signals, &stop, settings.shutdown_max(options), served, side_tasks).await;
    if result.is_ok() {
        tracing::info!("all calls have ended");
    }
    result
}

/// Serves calls until `stop` fires and running calls have ended. The socket is removed as soon as new calls are refused, so that callers do
/// not wait for this server.
async fn calls(
    server: Server,
    listener: UnixListener,
    socket: SocketGuard,
    stop: &CancellationToken,
    serving: &Serving,
) -> Result<(), ServiceError> {
    let mut ending = pin!(server.serve(listener, stop.clone()));
    let result = tokio::select! {
        // Without running calls the server ends at the same moment.
        biased;
        () = stop.cancelled() => {
            serving.end();
            tracing::info!("shutting down: new calls are refused, running calls are finished");
            drop(socket);
            ending.await
        }
        result = &mut ending => result,
    };
    result.map_err(|error| ServiceError::caused(ErrorKind::Rendering, error))
}

/// Removes the store's content.
async fn close(store: ProcessStore) {
    let closing = tokio::task::spawn_blocking(move || store.close()).await;
    if closing.is_err() {
        tracing::warn!("cannot remove the store; the next server in its directory removes it");
    }
}

fn server_options(workdir: &Path, settings: &ServerSettings) -> ServerOptions {
    ServerOptions {
        call_timeout: settings.call_timeout,
        message_bytes_max: settings.message_bytes_max,
        archive: settings.archive,
        grace: settings.grace,
        connections_max: settings.connections_max,
        preface_max: settings.preface_max,
        idle_max: settings.idle_max,
        stall_max: settings.stall_max,
        crowded_stall_max: settings.crowded_stall_max,
        unpacking_max: settings.unpacking_max,
        work_dir: Some(workdir.to_path_buf()),
        versions: Versions {
            git_commit: build::COMMIT.unwrap_or_default().to_owned(),
            ..Versions::default()
        },
        wall_clock: Some(telemetry::time_in),
    }
}

/// Reads the one plugin of the configuration.
fn plugin(file: &Path) -> Result<LoadedPlugin, ServiceError> {
    let loaded = load_plugins(file).map_err(ServiceError::invalid_input_from)?;
    let [plugin] = <[_; 1]>::try_from(loaded).map_err(|all| {
        let (file, count) = (file.display(), all.len());
        ServiceError::invalid_input(format!("{file}: expected one plugin, found {count}"))
    })?;
    warn_about_folder(&plugin);
    // Argo CD's server starts with any list, so this one does, too.
    if let Err(error) = plugin.config.checked_announcements() {
        tracing::warn!("spec.parameters.static: {}: calls for announcements are rejected", chain(&error));
    }
    if !plugin.config.discovery_configured() {
        tracing::info!(
            "No discovery configuration is defined for plugin {}. To use this plugin, specify {:?} in the Application's \
             spec.source.plugin.name field.",
            plugin.config.name,
            plugin.config.display_name()
        );
    }
    Ok(plugin)
}

/// Returns the path with its links resolved, or the path itself if it does not exist.
fn without_links(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf())
}

/// Creates a directory with a random name beside the configured one if that belongs to another user: in a directory for temporary files any
/// user can create it first. The directory is removed when the value is dropped.
fn own_workdir(workdir: &Path) -> Result<Option<TempDir>, ServiceError> {
    let (Some(parent), Some(name)) = (workdir.parent(), workdir.file_name()) else { return Ok(None) };
    let is_usable = match fs::symlink_metadata(workdir) {
        Ok(found) => found.is_dir() && is_trusted_owner(found.uid()),
        // The store creates it.
        Err(_) => true,
    };
    if is_usable {
        return Ok(None);
    }
    let mut prefix = name.to_os_string();
    prefix.push("-");
    let private = Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir_in(parent);
    let own = made.map_err(|error| {
        ServiceError::invalid_input(format!(
            "--workdir: cannot create a directory in {}: {error}",
            parent.display()
        ))
    })?;
    tracing::warn!(
        "{} belongs to another user or is not a folder; using {}, which is not removed if this server is killed",
        workdir.display(),
        own.path().display()
    );
    Ok(Some(own))
}

fn store(
    workdir: &Path,
    settings: &ServerSettings,
    options: &ServiceOptions,
) -> Result<ProcessStore, ServiceError> {
    let store = StoreOptions {
        dir: workdir.to_path_buf(),
        runs_dir: workdir.join("runs"),
        limits: tiphys_tree::TreeLimits::from(&options.limits),
    };
    Store::of_this_process(store, settings.store)
        .map_err(|error| ServiceError::invalid_input("error initializing plugin service").because(error))
}

fn runs(
    settings: &ServerSettings,
    options: &ServiceOptions,
    host: &Process,
    store: &Arc<Store>,
    metrics: &Arc<Metrics>,
) -> RunSettings {
    let slots = Slots::new(SlotLimits {
        runs_max: settings.runs_max,
        waiting_max: settings.queue_max,
        wait_max: settings.queue_wait_max,
    });
    let observer = Arc::<Metrics>::clone(metrics);
    let native = native_program(options, host);
    let runs = run_settings(options, host, Arc::clone(store), slots, native, observer);
    let launcher = Launcher::warm(&host.executable, SPARE_LAUNCHERS_MAX);
    RunSettings { launcher, home: settings.home, strictness: settings.strictness, ..runs }
}

/// Returns the environment of the plugin. If `--install` has put an `argocd` next to this program, git finds it on the `PATH`.
fn environment(host: &Process) -> BaseEnvironment {
    let base = BaseEnvironment::new(host.variables(), &EnvironmentRule::Container);
    let folder = host.executable.parent().filter(|folder| folder.join("argocd").is_file());
    match folder.and_then(Path::to_str) {
        Some(folder) => base.with_programs(folder),
        None => base,
    }
}

/// Logs which private view runs get. The probe starts a process, so it runs while calls are already served.
async fn log_private_view(runs: &RunSettings, asked: PrivateView) {
    let found = match asked {
        PrivateView::Auto => match probe(runs).await {
            Ok(kind) => kind,
            Err(reason) => {
                tracing::warn!("cannot determine the private view of runs: {reason}");
                return;
            }
        },
        PrivateView::Overlay => ViewKind::Overlay,
        PrivateView::Copy => ViewKind::Copy { reason: "it was requested".to_owned() },
    };
    match found {
        ViewKind::Overlay => {
            tracing::info!(private_view = "overlay", "each run sees its tree through an overlay");
        }
        ViewKind::Copy { reason } => {
            tracing::warn!(
                private_view = "copy",
                reason,
                "each run gets a full copy of its tree, and runs are not isolated: one can change the trees, the copies of other runs, the \
                 sockets and the plugin, and read the environment of other runs; give tenants that do not trust each other a server each"
            );
        }
    }
}

async fn probe(runs: &RunSettings) -> Result<ViewKind, String> {
    let text = |error: &dyn std::error::Error| chain(error);
    let tree =
        runs.store.write_by_content(b"", |_| Ok::<(), StoreError>(())).map_err(|error| text(&error))?;
    let run_dir = runs.store.run_dir().map_err(|error| text(&error))?;
    runs.launcher
        .probe_view(tree.root(), run_dir.path(), runs.all_shielded())
        .await
        .map_err(|error| text(&error))
}
