//! Plugins of one name: one of the caller replaces an installed one.

use std::collections::BTreeMap;

use tiphys_plugin::LoadedPlugin;

use crate::context::options::PluginOrigin;
use crate::error::ServiceError;

/// A plugin, and what names its path.
#[derive(Clone, Debug)]
pub(crate) struct NamedPlugin {
    pub(crate) plugin: LoadedPlugin,
    pub(crate) origin: PluginOrigin,
    /// The plugin's file for messages.
    pub(crate) file: String,
}

/// Leaves out installed plugins that one of the caller replaces. Two of one name are an error otherwise: their order must not decide which one
/// runs.
pub(crate) fn without_replaced(loaded: Vec<NamedPlugin>) -> Result<Vec<LoadedPlugin>, ServiceError> {
    let mut by_name: BTreeMap<String, NamedPlugin> = BTreeMap::new();
    let is_installed = |plugin: &NamedPlugin| plugin.origin == PluginOrigin::Installation;
    // Installed plugins come first.
    let (installed, named): (Vec<_>, Vec<_>) = loaded.into_iter().partition(is_installed);
    for plugin in installed.into_iter().chain(named) {
        let name = plugin.plugin.config.display_name();
        let Some(other) = by_name.get(&name) else {
            by_name.insert(name, plugin);
            continue;
        };
        let (file, other_file) = (&plugin.file, &other.file);
        if is_installed(&plugin) || !is_installed(other) {
            let prefix = plugin.origin.prefix();
            return Err(ServiceError::invalid_input(format!(
                "{prefix}plugin {name:?} is in {other_file} and in {file}; remove one, or give it another name"
            )));
        }
        tracing::info!("plugin {name:?}: {file} is used instead of the installed {other_file}");
        by_name.insert(name, plugin);
    }
    Ok(by_name.into_values().map(|named| named.plugin).collect())
}

#[cfg(test)]
mod tests;
