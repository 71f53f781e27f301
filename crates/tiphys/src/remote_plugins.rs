//! Plugin servers behind sockets.

use std::path::Path;
use std::sync::Arc;

use tiphys_cmp::{Archives, RemotePlugin};
use tiphys_plugin::Plugin;
use tiphys_service::Host;

use crate::error::ServiceError;

/// Returns the plugin servers that listen on the sockets in a directory.
pub(crate) fn listed(dir: &Path, host: &Host) -> Result<Vec<RemotePlugin>, ServiceError> {
    let archives = Arc::new(Archives::new(host.temporary_dir()));
    tiphys_cmp::remote_plugins(dir, &archives)
        .map_err(|error| ServiceError::invalid_input("--config pluginSockets").because(error))
}

/// Connects a workspace to the plugin servers in a directory.
pub(crate) fn connect(dir: &Path, host: &Host) -> Result<Vec<Arc<dyn Plugin>>, ServiceError> {
    Ok(listed(dir, host)?.into_iter().map(|plugin| Arc::new(plugin) as Arc<dyn Plugin>).collect())
}
