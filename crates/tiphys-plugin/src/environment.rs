//! The environment that a plugin's commands get: what the host passes on, then the request's variables.

use std::collections::BTreeMap;
use std::path::Path;

use tiphys_params::EnvVar;

pub(crate) mod files;
pub(crate) mod passing;

pub use files::HomeFolder;
pub use passing::EnvironmentError;

/// Which of the host's variables pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentRule {
    /// A plugin in process (`design.md` section 5): only what programs need to work at all, and the named ones.
    /// An entry that ends in `*` is a prefix.
    Listed(Vec<String>),
    /// Under the plugin server: everything but what belongs to the server itself.
    Container,
}

/// Variables that pass to a plugin in process without being asked for.
const PASSED: &[&str] = &[
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

/// Settings of the plugins of this project, which are for them wherever they run.
const PLUGINS_OWN: &[&str] = &["TIPHYS_HELM", "TIPHYS_HELM_*", "TIPHYS_KUSTOMIZE"];

/// Variables of the plugin server itself, which plugins do not get (`design.md` section 5).
const SERVER_OWN: &[&str] =
    &["TIPHYS_*", "ARGOCD_CMP_SERVER_*", "ARGOCD_LOG_LEVEL", "ARGOCD_LOG_FORMAT", "ARGOCD_BINARY_NAME"];

/// The part of the environment that does not depend on the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseEnvironment {
    variables: BTreeMap<String, String>,
}

impl BaseEnvironment {
    /// Chooses from the host's variables. Those that are not UTF-8 are left out by the caller.
    pub fn new(host: impl IntoIterator<Item = (String, String)>, rule: &EnvironmentRule) -> Self {
        let is_in = |patterns: &[&str], name: &str| patterns.iter().any(|pattern| covers(pattern, name));
        let passes = |name: &str| match rule {
            _ if is_in(PLUGINS_OWN, name) => true,
            EnvironmentRule::Listed(more) => {
                is_in(PASSED, name) || more.iter().any(|pattern| covers(pattern, name))
            }
            EnvironmentRule::Container => !is_in(SERVER_OWN, name),
        };
        Self { variables: host.into_iter().filter(|(name, _)| passes(name)).collect() }
    }

    /// The same with one more folder at the end of `PATH`, for a program that plugins call.
    #[must_use]
    pub fn with_programs(mut self, folder: &str) -> Self {
        let path = search_path(self.get("PATH").unwrap_or_default(), Some(Path::new(folder)));
        self.variables.insert("PATH".to_owned(), path);
        self
    }

    /// One variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The whole environment of a command: the base with the plugin's own folder at the end of `PATH`, then the request's
    /// variables, the last of one name winning.
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

/// `PATH` without its relative and empty entries, which would look commands up in the application's folder.
fn search_path(host: &str, plugin_dir: Option<&Path>) -> String {
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
