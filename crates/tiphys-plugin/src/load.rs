//! Finding plugin files: a folder with `plugin.yaml` or with subfolders that have one, a file of any name, a ConfigMap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::{self, ConfigError, PluginConfig};

/// Name of a plugin's file in its folder.
const PLUGIN_FILE: &str = "plugin.yaml";

/// A plugin's configuration and where it was found.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// What the file says.
    pub config: PluginConfig,
    /// The file.
    pub file: PathBuf,
    /// The folder of the file, which ends its commands' `PATH`.
    pub folder: PathBuf,
}

/// Why plugins could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder could not be read.
    #[error("cannot read {path}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// A folder without any plugin.
    #[error("{path}: no {PLUGIN_FILE} in it or in its subfolders")]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
    /// A plugin's file is wrong.
    #[error("{file}")]
    Config {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: ConfigError,
    },
}

/// Loads the plugins at a path, in the order of folder names or of the ConfigMap's keys.
pub fn load_plugins(path: &Path) -> Result<Vec<LoadedPlugin>, LoadError> {
    let metadata = fs::metadata(path).map_err(|source| LoadError::Io { path: path.to_path_buf(), source })?;
    if !metadata.is_dir() {
        return load_file(path);
    }
    let own = path.join(PLUGIN_FILE);
    if own.is_file() {
        return load_file(&own);
    }
    let mut files = Vec::new();
    let entries = fs::read_dir(path).map_err(|source| LoadError::Io { path: path.to_path_buf(), source })?;
    for entry in entries {
        let entry = entry.map_err(|source| LoadError::Io { path: path.to_path_buf(), source })?;
        let file = entry.path().join(PLUGIN_FILE);
        if file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(LoadError::Nothing { path: path.to_path_buf() });
    }
    files.sort();
    let mut loaded = Vec::new();
    for file in files {
        loaded.extend(load_file(&file)?);
    }
    Ok(loaded)
}

/// Reads a plugin's file. A pipe or a device is refused: it would be waited for without end.
pub fn read_plugin_file(file: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(file)?.is_file() { fs::read(file) } else { Err(io::Error::other("not a regular file")) }
}

fn load_file(file: &Path) -> Result<Vec<LoadedPlugin>, LoadError> {
    let bytes =
        read_plugin_file(file).map_err(|source| LoadError::Io { path: file.to_path_buf(), source })?;
    let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let configs =
        config::read_file(&bytes).map_err(|source| LoadError::Config { file: file.to_path_buf(), source })?;
    Ok(configs
        .into_iter()
        .map(|config| LoadedPlugin { config, file: file.to_path_buf(), folder: folder.clone() })
        .collect())
}
