//! The program's inputs, read once: arguments, environment, working directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_process::find_program;

/// Variables that child processes inherit: no user's state, and nothing of the request.
const PASSED: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
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

/// Prefixes of variables that belong to the request.
const OF_REQUEST: &[&str] = &["ARGOCD_", "KUBE_", "PARAM_", "TIPHYS"];

/// Inputs of this process.
#[derive(Clone)]
pub(crate) struct Host {
    arguments: Vec<OsString>,
    variables: BTreeMap<String, String>,
    current_dir: PathBuf,
}

/// Values of variables may be secret.
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        f.debug_struct("Host")
            .field("arguments", &self.arguments)
            .field("variables", &names)
            .field("current_dir", &self.current_dir)
            .finish()
    }
}

/// Returns this process's arguments, with the program's name first.
pub(crate) fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Returns the time of day.
#[expect(clippy::disallowed_methods, reason = "the one place of the program that reads the clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

impl Host {
    /// Reads this process's environment. Variables that are not UTF-8 are skipped.
    #[expect(clippy::disallowed_methods, reason = "the one place of the program that reads it")]
    pub(crate) fn of_process(arguments: Vec<OsString>) -> Self {
        Self {
            arguments,
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            current_dir: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// Returns the inputs of a command with these variables in a directory.
    pub(crate) fn of_command(variables: &[(String, String)], current_dir: PathBuf) -> Self {
        Self { arguments: Vec::new(), variables: variables.iter().cloned().collect(), current_dir }
    }

    /// A host for tests.
    #[cfg(test)]
    pub(crate) fn for_test(current_dir: &Path, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { arguments: Vec::new(), variables: variables.collect(), current_dir: current_dir.to_path_buf() }
    }

    /// Returns the inputs with more variables, which win.
    pub(crate) fn with_variables(&self, more: BTreeMap<String, String>) -> Self {
        let mut host = self.clone();
        host.variables.extend(more);
        host
    }

    /// The arguments, with the program's name first.
    pub(crate) fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// Returns a variable, which may be empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// All variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns a program's path: the path itself if it contains a `/`, otherwise looked up in `PATH`.
    pub(crate) fn find(&self, program: &Path) -> Option<PathBuf> {
        find_program(program, OsStr::new(self.variable("PATH").unwrap_or_default()))
    }

    /// The working directory: absolute, links resolved.
    pub(crate) fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// The environment of child processes, without a home.
    pub(crate) fn child_environment(&self) -> Vec<(OsString, OsString)> {
        let passed = PASSED.iter().filter_map(|name| Some((*name, self.variable(name)?)));
        passed.map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// Returns the caller's own credentials, from the environment without the request's variables. `timeout` limits each credential helper.
    pub(crate) fn own_logins(&self, timeout: Duration) -> OwnLogins {
        let is_own = |name: &str| !OF_REQUEST.iter().any(|prefix| name.starts_with(prefix));
        let own = self.variables().filter(|(name, _)| is_own(name));
        let bound = HelperBound { timeout, option: Some("TIPHYS_HELM_LOGIN_TIMEOUT") };
        OwnLogins::new(own.map(|(name, value)| (name.to_owned(), value.to_owned())), bound)
    }

    /// Returns a variable that is not empty.
    pub(crate) fn set(&self, name: &str) -> Option<&str> {
        self.variable(name).filter(|value| !value.is_empty())
    }
}
