//! Loads plugin files: a directory with `plugin.yaml` or with subdirectories that have one, a file of any name, or a ConfigMap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::{self, ConfigError, PluginConfig};

/// Name of a plugin's file in its directory.
const PLUGIN_FILE: &str = "plugin.yaml";

/// A plugin's configuration and its location.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// The content of the file.
    pub config: PluginConfig,
    /// Where it was read. None if it is part of the program.
    pub files: Option<PluginFiles>,
}

/// The location of a plugin's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFiles {
    /// The file.
    pub file: PathBuf,
    /// The directory of the file, which is appended to the `PATH` of its commands.
    pub folder: PathBuf,
}

impl LoadedPlugin {
    /// Reads the file of a plugin that is part of the program.
    pub fn built_in(text: &str) -> Result<Self, ConfigError> {
        Ok(Self { config: config::read(text.as_bytes())?, files: None })
    }

    /// Returns the directory of its files.
    pub fn folder(&self) -> Option<&Path> {
        self.files.as_ref().map(|files| files.folder.as_path())
    }

    /// Returns the path of its file for messages, or `built in`.
    pub fn shown_file(&self) -> String {
        self.files.as_ref().map_or_else(|| "built in".to_owned(), |files| files.file.display().to_string())
    }
}

/// An error while plugins are loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or directory could not be read.
    #[error("cannot read {path}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A directory without a plugin.
    #[error("{path}: no {PLUGIN_FILE} in it or in its subdirectories")]
    Nothing {
        /// The directory.
        path: PathBuf,
    },
    /// A plugin's file is invalid.
    #[error("{file}")]
    Config {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: ConfigError,
    },
}

/// Loads the plugins at a path, in the order of directory names or of the ConfigMap's keys.
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

/// Reads a plugin's file. A pipe or device is refused, because reading it could block forever.
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
        .map(|config| LoadedPlugin {
            config,
            files: Some(PluginFiles { file: file.to_path_buf(), folder: folder.clone() }),
        })
        .collect())
}
