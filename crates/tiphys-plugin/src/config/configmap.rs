//! Plugin files in a `ConfigMap`, as mounted into a sidecar.

use tiphys_yaml::{Data, Node, names_equal};

use super::{ConfigError, KIND, PluginConfig, PluginFile};

/// Suffixes of keys whose values may be plugin files. Other keys contain scripts and similar.
const KEY_SUFFIXES: [&str; 3] = [".yaml", ".yml", ".json"];

/// Reads a file that is a plugin's file or a `ConfigMap` of such files.
pub fn read_file(text: &[u8]) -> Result<Vec<PluginConfig>, ConfigError> {
    let Some(node) = tiphys_yaml::read_document(text)? else { return Err(ConfigError::NoName) };
    let node = node.deduplicated();
    if kind(&node) == Some("ConfigMap")
        && matches!(node.get("data").map(|data| &data.data), Some(Data::Mapping(_)))
    {
        return configs_from_configmap(&node);
    }
    Ok(vec![PluginFile::decode(&node)?.into_config()?])
}

/// Reads the plugin files among the values of a `ConfigMap`'s `data`, in the byte order of their keys. A value under a key with the suffix
/// `.yaml`, `.yml` or `.json` must be valid YAML. Documents of another kind are ignored. It is an error if there is no plugin.
pub fn configs_from_configmap(configmap: &Node) -> Result<Vec<PluginConfig>, ConfigError> {
    let name = configmap.at(["metadata", "name"]).and_then(Node::as_str).unwrap_or_default().to_owned();
    let configmap = configmap.clone().deduplicated();
    let mut configs = Vec::new();
    if let Some(Data::Mapping(entries)) = configmap.get("data").map(|data| &data.data) {
        for entry in entries {
            let key = &entry.key.text;
            let Some(text) = entry.value.as_str() else { continue };
            if !KEY_SUFFIXES.iter().any(|suffix| key.ends_with(suffix)) {
                continue;
            }
            let config = read_value(text).map_err(|source| ConfigError::ConfigMapValue {
                configmap: name.clone(),
                key: key.clone(),
                source: Box::new(source),
            })?;
            configs.extend(config);
        }
    }
    if configs.is_empty() {
        return Err(ConfigError::EmptyConfigMap { configmap: name });
    }
    Ok(configs)
}

fn read_value(text: &str) -> Result<Option<PluginConfig>, ConfigError> {
    let Some(node) = tiphys_yaml::read_document(text.as_bytes())? else { return Ok(None) };
    let node = node.deduplicated();
    if kind(&node) != Some(KIND) {
        return Ok(None);
    }
    Ok(Some(PluginFile::decode(&node)?.into_config()?))
}

/// Returns the kind of a deduplicated document: the last string among the keys that Go decodes as `kind`.
fn kind(node: &Node) -> Option<&str> {
    let Data::Mapping(entries) = &node.data else { return None };
    entries
        .iter()
        .rev()
        .filter(|entry| names_equal(&entry.key.text, "kind"))
        .find_map(|entry| entry.value.as_str())
}
