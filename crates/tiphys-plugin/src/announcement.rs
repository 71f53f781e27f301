//! Announcements of a plugin's file and of its dynamic command, checked as the proposal demands (Q/A 5).

use tiphys_params::{Announcement, Announcements, decode_dynamic_output};

use crate::chain;
use crate::config::PluginConfig;
use crate::plugin::{Phase, PluginError};

/// The static announcements. The file was read as leniently as Argo CD reads it; here a wrong one is an error.
pub(crate) fn fixed(config: &PluginConfig) -> Result<Vec<Announcement>, PluginError> {
    let read = config
        .checked_announcements()
        .map_err(|error| PluginError::Announcement { message: format!("spec.parameters.static: {error}") })?;
    Ok(told(read, &config.name))
}

/// The dynamic announcements, from the command's standard output.
pub(crate) fn dynamic(stdout: &[u8], plugin: &str) -> Result<Vec<Announcement>, PluginError> {
    let read = decode_dynamic_output(stdout)
        .map_err(|error| PluginError::Output { phase: Phase::Announce, message: chain(&error) })?;
    Ok(told(read, plugin))
}

fn told(read: Announcements, plugin: &str) -> Vec<Announcement> {
    for warning in &read.warnings {
        tracing::warn!(plugin, "{}", warning.message);
    }
    read.list
}
