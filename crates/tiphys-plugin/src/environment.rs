//! The environment of a plugin's commands: variables of the host, then those of the request.

use std::collections::BTreeMap;
use std::path::Path;

use tiphys_model::params::EnvVar;

pub(crate) mod files;
pub(crate) mod passing;

pub use files::HomeFolder;
pub use passing::EnvironmentError;

/// Which variables of the host are passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentRule {
    /// For a plugin in process: the variables that programs usually need, and the listed ones. An entry with a final `*` is a prefix.
    Listed(Vec<String>),
    /// For the plugin server: all variables except the server's own.
    Container,
}

/// Variables that are always passed to a plugin in process.
const ALWAYS_PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Settings of the plugins of this project, which are always passed.
const PLUGIN_SETTINGS: &[&str] =
    &["TIPHYS_HELM", "TIPHYS_HELM_*", "TIPHYS_KUSTOMIZE", "TIPHYS_KUSTOMIZE_OUTPUT_MAX"];

/// Variables of the plugin server, which plugins do not get.
const SERVER_SETTINGS: &[&str] =
    &["TIPHYS_*", "ARGOCD_CMP_SERVER_*", "ARGOCD_LOG_LEVEL", "ARGOCD_LOG_FORMAT", "ARGOCD_BINARY_NAME"];

/// The variables that do not depend on the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseEnvironment {
    variables: BTreeMap<String, String>,
}

impl BaseEnvironment {
    /// Selects from the host's variables. The caller omits those that are not UTF-8.
    pub fn new(host: impl IntoIterator<Item = (String, String)>, rule: &EnvironmentRule) -> Self {
        let is_in = |patterns: &[&str], name: &str| patterns.iter().any(|pattern| covers(pattern, name));
        let passes = |name: &str| match rule {
            _ if is_in(PLUGIN_SETTINGS, name) => true,
            EnvironmentRule::Listed(more) => {
                is_in(ALWAYS_PASSED, name) || more.iter().any(|pattern| covers(pattern, name))
            }
            EnvironmentRule::Container => !is_in(SERVER_SETTINGS, name),
        };
        Self { variables: host.into_iter().filter(|(name, _)| passes(name)).collect() }
    }

    /// Appends a directory to `PATH`, for a program that plugins call.
    #[must_use]
    pub fn with_programs(mut self, directory: &str) -> Self {
        let path = search_path(self.get("PATH").unwrap_or_default(), Some(Path::new(directory)));
        self.variables.insert("PATH".to_owned(), path);
        self
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Returns the whole environment of a command: the base with the plugin's directory at the end of `PATH`, then the request's variables.
    /// Of several with one name, the last takes effect.
    pub fn with_request(&self, plugin_dir: Option<&Path>, request: &[EnvVar]) -> Vec<(String, String)> {
        let mut all = self.variables.clone();
        let path = search_path(self.get("PATH").unwrap_or_default(), plugin_dir);
        all.insert("PATH".to_owned(), path);
        for variable in request {
            all.insert(variable.name.clone(), variable.value.clone());
        }
        all.into_iter().collect()
    }
}

/// Returns `PATH` without relative and empty entries, by which commands would be found in the application's directory.
pub(crate) fn search_path(host: &str, plugin_dir: Option<&Path>) -> String {
    let own = plugin_dir.and_then(Path::to_str);
    host.split(':').filter(|entry| entry.starts_with('/')).chain(own).collect::<Vec<_>>().join(":")
}

fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests;
