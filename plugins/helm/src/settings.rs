//! The world outside of the program, read once: arguments, environment, working directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::announce::ChartBounds;

use tiphys_logins::{HelperBound, OwnLogins};
use tiphys_process::find_program;

use crate::value_files::GlobBounds;

/// How long one call of helm may take, as Argo CD's `ARGOCD_EXEC_TIMEOUT` where nothing is set.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Bytes that one call of helm may print: as many as Argo CD's own parts send one another in one message. They are kept in memory until helm
/// has ended well, so that nobody applies the beginning of a chart that failed.
const OUTPUT_BYTES_MAX: usize = 100 << 20;

/// Bytes of built dependencies that are kept for later runs.
const CACHE_BYTES_MAX: u64 = 1 << 30;

/// How long dependencies are used that were chosen by a range of versions, without a lock file: a newer version may be there after it.
const RANGE_AGE: Duration = Duration::from_mins(5);

/// Values of a chart that are announced: more than any chart for people has, and few enough for a page.
const ANNOUNCED_MAX: usize = 20_000;

/// What one pattern of value files may cost.
const GLOB_BOUNDS: GlobBounds = GlobBounds { looks_max: 1_000_000, matches_max: 10_000 };

/// Charts that are looked at for an announcement, subcharts included: more than any umbrella has.
const CHARTS_MAX: usize = 1_000;

/// Bytes of values and schemas of all charts of an announcement, which are in memory at once.
const CHARTS_BYTES_MAX: usize = 64 << 20;

/// Keys and values of one file whose comments and order are announced: reading them again takes time, and no person writes more.
const COMMENTED_NODES_MAX: usize = 200_000;

/// What helm, and whatever else this program starts, gets of this process's environment: no user's state, and nothing of the request.
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

/// Beginnings of the names of variables that are about the request.
const OF_REQUEST: &[&str] = &["ARGOCD_", "KUBE_", "PARAM_", "TIPHYS"];

/// What this process was given.
#[derive(Clone)]
pub(crate) struct Host {
    arguments: Vec<OsString>,
    variables: BTreeMap<String, String>,
    current_dir: PathBuf,
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}; {due} is expected")]
pub(crate) struct SettingError {
    variable: &'static str,
    value: String,
    due: &'static str,
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

impl Host {
    /// Reads this process's arguments and environment. Variables that are not UTF-8 are left out.
    #[expect(clippy::disallowed_methods, reason = "the one place of the program that reads them")]
    pub(crate) fn of_this_process() -> Self {
        Self {
            arguments: std::env::args_os().collect(),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            current_dir: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// One that is made up.
    #[cfg(test)]
    pub(crate) fn made_up(current_dir: &Path, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { arguments: Vec::new(), variables: variables.collect(), current_dir: current_dir.to_path_buf() }
    }

    /// The arguments, the program's name first.
    pub(crate) fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// A variable; one that is empty is there.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// All variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A program's path: with a `/` in it its own, else where `PATH` has it.
    pub(crate) fn find(&self, program: &Path) -> Option<PathBuf> {
        find_program(program, OsStr::new(self.variable("PATH").unwrap_or_default()))
    }

    /// The working directory: absolute, links followed.
    pub(crate) fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Where temporary files go.
    pub(crate) fn temporary_folder(&self) -> &Path {
        Path::new(self.set("TMPDIR").unwrap_or("/tmp"))
    }

    /// The helm to run: a path, or a name of `PATH`.
    pub(crate) fn helm(&self) -> &Path {
        Path::new(self.set("TIPHYS_HELM").unwrap_or("helm"))
    }

    /// The folder with plugins of helm that charts and value files may use; without it there are none.
    pub(crate) fn helm_plugins(&self) -> Option<&Path> {
        self.set("TIPHYS_HELM_PLUGINS").map(Path::new)
    }

    /// The kustomize to run: a path, or a name of `PATH`.
    pub(crate) fn kustomize(&self) -> &Path {
        Path::new(self.set("TIPHYS_KUSTOMIZE").unwrap_or("kustomize"))
    }

    /// How long one call of helm may take.
    pub(crate) fn timeout(&self) -> Result<Duration, SettingError> {
        let seconds = self.number("TIPHYS_HELM_TIMEOUT", "a number of seconds above zero")?;
        Ok(seconds.map_or(TIMEOUT, Duration::from_secs))
    }

    /// Bytes that one call of helm may print.
    pub(crate) fn output_bytes_max(&self) -> Result<usize, SettingError> {
        let bytes = self.number("TIPHYS_HELM_OUTPUT_MAX", "a number of bytes above zero")?;
        Ok(bytes.map_or(OUTPUT_BYTES_MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)))
    }

    /// Where built dependencies are kept for later runs; `None` if nothing names a place.
    pub(crate) fn cache_folder(&self) -> Option<PathBuf> {
        if let Some(folder) = self.set("TIPHYS_HELM_CACHE_DIR") {
            return Some(self.current_dir.join(folder));
        }
        let absolute = |name| self.set(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        Some(caches?.join("tiphys-helm"))
    }

    /// Bytes of built dependencies that are kept for later runs.
    pub(crate) fn cache_bytes_max(&self) -> Result<u64, SettingError> {
        let bytes = self.number("TIPHYS_HELM_CACHE_MAX", "a number of bytes above zero")?;
        Ok(bytes.unwrap_or(CACHE_BYTES_MAX))
    }

    /// How long dependencies are used that were chosen by a range of versions, without a lock file.
    pub(crate) fn range_age(&self) -> Result<Duration, SettingError> {
        let seconds = self.number("TIPHYS_HELM_RANGE_AGE", "a number of seconds above zero")?;
        Ok(seconds.map_or(RANGE_AGE, Duration::from_secs))
    }

    /// Values of a chart that are announced.
    pub(crate) fn announced_max(&self) -> Result<usize, SettingError> {
        let values = self.number("TIPHYS_HELM_ANNOUNCED_MAX", "a number of values above zero")?;
        Ok(values.map_or(ANNOUNCED_MAX, |values| usize::try_from(values).unwrap_or(usize::MAX)))
    }

    /// How much of charts is looked at for an announcement.
    pub(crate) fn chart_bounds(&self) -> Result<ChartBounds, SettingError> {
        let charts = self.number("TIPHYS_HELM_CHARTS_MAX", "a number of charts above zero")?;
        let bytes = self.number("TIPHYS_HELM_CHARTS_BYTES_MAX", "a number of bytes above zero")?;
        let size = |number| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(ChartBounds {
            charts_max: charts.map_or(CHARTS_MAX, size),
            bytes_max: bytes.map_or(CHARTS_BYTES_MAX, size),
        })
    }

    /// Keys and values of one file whose comments and order are announced; of a file with more neither is.
    pub(crate) fn commented_nodes_max(&self) -> Result<usize, SettingError> {
        let nodes = self.number("TIPHYS_HELM_COMMENTS_MAX", "a number of keys and values above zero")?;
        Ok(nodes.map_or(COMMENTED_NODES_MAX, |nodes| usize::try_from(nodes).unwrap_or(usize::MAX)))
    }

    /// What one pattern of value files may cost.
    pub(crate) fn glob_bounds(&self) -> Result<GlobBounds, SettingError> {
        let count = |variable, due| {
            let number = self.number(variable, due)?;
            Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        Ok(GlobBounds {
            looks_max: count("TIPHYS_HELM_GLOB_LOOKS_MAX", "a number of names above zero")?
                .unwrap_or(GLOB_BOUNDS.looks_max),
            matches_max: count("TIPHYS_HELM_GLOB_FILES_MAX", "a number of files above zero")?
                .unwrap_or(GLOB_BOUNDS.matches_max),
        })
    }

    /// Refuses a setting that cannot be used, whether or not this run needs it: who sets one learns of the mistake at once.
    pub(crate) fn check_settings(&self) -> Result<(), SettingError> {
        self.timeout()?;
        self.output_bytes_max()?;
        self.cache_bytes_max()?;
        self.range_age()?;
        self.announced_max()?;
        self.chart_bounds()?;
        self.commented_nodes_max()?;
        self.glob_bounds()?;
        Ok(())
    }

    /// The environment of the programs that are started, without a home.
    pub(crate) fn passed_on(&self) -> Vec<(OsString, OsString)> {
        let passed = PASSED.iter().filter_map(|name| Some((*name, self.variable(name)?)));
        passed.map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// The logins of the person who runs this program, by everything of its environment but what is about the request.
    pub(crate) fn own_logins(&self) -> Result<OwnLogins, SettingError> {
        let is_own = |name: &str| !OF_REQUEST.iter().any(|prefix| name.starts_with(prefix));
        let own = self.variables().filter(|(name, _)| is_own(name));
        let bound = HelperBound { timeout: self.timeout()?, option: Some("TIPHYS_HELM_TIMEOUT") };
        Ok(OwnLogins::new(own.map(|(name, value)| (name.to_owned(), value.to_owned())), bound))
    }

    /// A variable that is there and not empty.
    pub(crate) fn set(&self, name: &str) -> Option<&str> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    fn number(&self, variable: &'static str, due: &'static str) -> Result<Option<u64>, SettingError> {
        let Some(text) = self.set(variable) else { return Ok(None) };
        match text.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(SettingError { variable, value: text.to_owned(), due }),
        }
    }
}

#[cfg(test)]
mod tests;
