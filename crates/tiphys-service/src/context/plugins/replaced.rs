//! Plugins of one name: one of the caller replaces a built-in one.

use std::collections::BTreeMap;

use tiphys_plugin::LoadedPlugin;

use super::prefix;
use crate::context::options::SettingOrigin;
use crate::error::ServiceError;

/// A plugin, and what names its path.
#[derive(Clone, Debug)]
pub(crate) struct NamedPlugin {
    pub(crate) plugin: LoadedPlugin,
    /// None for a built-in plugin.
    pub(crate) origin: Option<SettingOrigin>,
    /// The plugin's file for messages.
    pub(crate) file: String,
}

/// Leaves out built-in plugins that one of the caller replaces. Two plugins of the caller with one name are an error: their order must not
/// decide which one runs.
pub(crate) fn without_replaced(loaded: Vec<NamedPlugin>) -> Result<Vec<LoadedPlugin>, ServiceError> {
    let mut by_name: BTreeMap<String, NamedPlugin> = BTreeMap::new();
    // Built-in plugins come first.
    let (built_in, named): (Vec<_>, Vec<_>) = loaded.into_iter().partition(|plugin| plugin.origin.is_none());
    for plugin in built_in.into_iter().chain(named) {
        let name = plugin.plugin.config.display_name();
        let Some(other) = by_name.get(&name) else {
            by_name.insert(name, plugin);
            continue;
        };
        let (file, other_file) = (&plugin.file, &other.file);
        if other.origin.is_some() {
            let prefix = plugin.origin.map(prefix).unwrap_or_default();
            return Err(ServiceError::invalid_input(format!(
                "{prefix}plugin {name:?} is in {other_file} and in {file}; remove one, or give it another name"
            )));
        }
        tracing::info!("plugin {name:?}: {file} is used instead of the built-in one");
        by_name.insert(name, plugin);
    }
    Ok(by_name.into_values().map(|named| named.plugin).collect())
}

#[cfg(test)]
mod tests;
