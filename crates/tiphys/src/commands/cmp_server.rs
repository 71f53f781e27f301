//! `tiphys cmp-server`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tiphys_cmp::{Metrics, Server, ServerOptions, bind};
use tiphys_plugin::{BaseEnvironment, EnvironmentRule, LocalPlugin, load_plugins};
use tokio_util::sync::CancellationToken;

use crate::args::{CmpServerArgs, CommonArgs};
use crate::context;
use crate::failure::{Failure, chain};
use crate::lifecycle;
use crate::settings::Host;

/// Where Argo CD's repo-server looks for sockets (`spec/cmp.md` 1.1).
const SOCKET_DIR: &str = "/home/argocd/cmp-server/plugins";

/// Serves one plugin until a signal comes.
pub(crate) async fn run(common: &CommonArgs, args: &CmpServerArgs, host: Host) -> Result<ExitCode, Failure> {
    let config_dir = host.absolute(&args.config_dir_path);
    let file = if config_dir.is_dir() { config_dir.join("plugin.yaml") } else { config_dir };
    let loaded = load_plugins(&file).map_err(|error| Failure::bad_input_from(&error))?;
    let [plugin] = <[_; 1]>::try_from(loaded).map_err(|all| {
        Failure::bad_input(format!(
            "{}: a plugin server serves one plugin; the file has {}",
            file.display(),
            all.len()
        ))
    })?;
    let socket_dir =
        common.plugin_sockets.as_ref().map_or_else(|| PathBuf::from(SOCKET_DIR), |dir| host.absolute(dir));
    let socket = socket_dir.join(plugin.config.socket_name());
    let workdir = args
        .workdir
        .as_ref()
        .map_or_else(|| host.temporary_dir(), |dir| host.absolute(dir))
        .join("tiphys-cmp-server");
    let store = context::open_trees(common, workdir.clone(), workdir.join("runs"))?;
    let settings = context::run_settings(common, &host, Arc::clone(&store), None);
    let base = BaseEnvironment::new(host.variables(), &EnvironmentRule::Container);
    if !plugin.config.discovery_configured() {
        tracing::info!(
            "No discovery configuration is defined for plugin {}. To use this plugin, specify {:?} in the Application's \
             spec.source.plugin.name field.",
            plugin.config.name,
            plugin.config.display_name()
        );
    }
    let plugin = LocalPlugin::new(plugin.config, Some(plugin.folder), base, Arc::clone(&settings));
    let (listener, socket) = bind(&socket).await.map_err(|error| Failure::bad_input_from(&error))?;
    tracing::info!(socket = %socket.path().display(), "argocd-cmp-server {} serving on {}", env!("CARGO_PKG_VERSION"), socket.path().display());
    let options = ServerOptions { call_timeout: common.bounds.plugin_timeout(), ..ServerOptions::default() };
    let shutdown = CancellationToken::new();
    let serving =
        Server::new(Arc::new(plugin), store, Metrics::new(), options).serve(listener, shutdown.clone());
    tokio::pin!(serving);
    let result = tokio::select! {
        result = &mut serving => result,
        () = lifecycle::shutdown_signal() => {
            shutdown.cancel();
            serving.await
        }
    };
    // What calls left behind is ended before the server is.
    settings.endings.drained().await;
    result.map(|()| ExitCode::SUCCESS).map_err(|error| Failure::rendering(chain(&error)))
}
