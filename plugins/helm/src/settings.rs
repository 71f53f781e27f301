//! What people can set, read once from the environment: each setting has a value that can be used, or the run is refused at once, whether
//! or not it needs that one. Who sets one learns of the mistake at once.

use std::ffi::OsStr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::chart::ChartBounds;
use crate::host::Host;
use crate::value_files::GlobBounds;

/// Where temporary files go if nothing names a place.
const TEMPORARY_FOLDER: &str = "/tmp";

/// How long one call of helm may take, as Argo CD's `ARGOCD_EXEC_TIMEOUT` where nothing is set.
const TIMEOUT: Duration = Duration::from_secs(90);

/// When a call that has not ended is told of: sooner than Argo CD's own deadlines, and later than nearly all calls take.
const SLOW_AFTER: Duration = Duration::from_secs(10);

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

/// Lines of one chart's list of dependencies: many times what any chart for people has. Each is held against each subchart.
const DEPENDENCIES_MAX: usize = 10_000;

/// How long a credential helper may take: it asks a keyring or a cloud, and answers in a second or two.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of values and schemas of all charts of an announcement, which are in memory at once.
const CHARTS_BYTES_MAX: usize = 64 << 20;

/// Keys and values of one file whose comments and order are announced: reading them again takes time, and no person writes more.
const COMMENTED_NODES_MAX: usize = 200_000;

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The helm to run.
    pub(crate) helm: Program,
    /// The kustomize to run.
    pub(crate) kustomize: Program,
    /// The folder with plugins of helm that charts and value files may use; without it there are none.
    pub(crate) helm_plugins: Option<AbsolutePath>,
    /// Where temporary files go.
    pub(crate) temporary_folder: AbsolutePath,
    /// How long one call of helm may take.
    pub(crate) timeout: Duration,
    /// How long a credential helper may take for one registry.
    pub(crate) login_timeout: Duration,
    /// After how long a call of helm or kustomize that has not ended is told of; `None` for never.
    pub(crate) slow_after: Option<Duration>,
    /// Bytes that one call of helm may print.
    pub(crate) output_bytes_max: usize,
    /// Where built dependencies are kept for later runs; `None` if nothing names a place.
    pub(crate) cache_folder: Option<AbsolutePath>,
    /// Bytes of built dependencies that are kept for later runs.
    pub(crate) cache_bytes_max: u64,
    /// How long dependencies are used that were chosen by a range of versions, without a lock file.
    pub(crate) range_age: Duration,
    /// Values of a chart that are announced.
    pub(crate) announced_max: usize,
    /// How much of charts is looked at, at most.
    pub(crate) chart_bounds: ChartBounds,
    /// Keys and values of one file whose comments and order are announced; of a file with more neither is.
    pub(crate) commented_nodes_max: usize,
    /// What one pattern of value files may cost.
    pub(crate) glob_bounds: GlobBounds,
    /// Schemes that value files with a URL may have, where no run context says it.
    pub(crate) values_file_schemes: Option<Vec<String>>,
    /// Repositories that dependencies may come from, where no run context says it.
    pub(crate) source_repos: Option<Vec<String>>,
}

/// A path that names the same file whatever the working directory is, which is the application's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AbsolutePath(PathBuf);

/// A program: an absolute path, or a name of `PATH`. So the application's folder has none that could be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program(PathBuf);

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}; {due} is expected")]
pub(crate) struct SettingError {
    variable: &'static str,
    value: String,
    due: String,
}

impl AbsolutePath {
    fn new(path: impl Into<PathBuf>) -> Option<Self> {
        Some(path.into()).filter(|path| path.is_absolute()).map(Self)
    }
}

impl Deref for AbsolutePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<OsStr> for AbsolutePath {
    fn as_ref(&self) -> &OsStr {
        self.0.as_os_str()
    }
}

impl Program {
    fn new(program: &str) -> Option<Self> {
        let path = Path::new(program);
        (path.is_absolute() || !program.contains('/')).then(|| Self(path.to_path_buf()))
    }
}

impl Deref for Program {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Settings {
    /// Reads the settings of this process.
    pub(crate) fn read(host: &Host) -> Result<Self, SettingError> {
        let variables = Variables(host);
        // Helm's and other programs' own, and read for them.
        variables.folder("SSL_CERT_FILE")?;
        variables.folders("SSL_CERT_DIR")?;
        Ok(Self {
            helm: variables.program("TIPHYS_HELM", "helm")?,
            kustomize: variables.program("TIPHYS_KUSTOMIZE", "kustomize")?,
            helm_plugins: variables.folder("TIPHYS_HELM_PLUGINS")?,
            temporary_folder: variables.folder("TMPDIR")?.unwrap_or(AbsolutePath(TEMPORARY_FOLDER.into())),
            timeout: variables.seconds("TIPHYS_HELM_TIMEOUT", TIMEOUT)?,
            login_timeout: variables.seconds("TIPHYS_HELM_LOGIN_TIMEOUT", LOGIN_TIMEOUT)?,
            slow_after: variables.seconds_or_never("TIPHYS_HELM_SLOW_AFTER", SLOW_AFTER)?,
            output_bytes_max: variables.size("TIPHYS_HELM_OUTPUT_MAX", "bytes", OUTPUT_BYTES_MAX)?,
            cache_folder: variables.folder("TIPHYS_HELM_CACHE_DIR")?.or_else(|| cache_folder(host)),
            cache_bytes_max: variables.number("TIPHYS_HELM_CACHE_MAX", "bytes")?.unwrap_or(CACHE_BYTES_MAX),
            range_age: variables.seconds("TIPHYS_HELM_RANGE_AGE", RANGE_AGE)?,
            announced_max: variables.size("TIPHYS_HELM_ANNOUNCED_MAX", "values", ANNOUNCED_MAX)?,
            chart_bounds: ChartBounds {
                charts: variables.size("TIPHYS_HELM_CHARTS_MAX", "charts", CHARTS_MAX)?,
                bytes: variables.size("TIPHYS_HELM_CHARTS_BYTES_MAX", "bytes", CHARTS_BYTES_MAX)?,
                dependencies: variables.size(
                    "TIPHYS_HELM_DEPENDENCIES_MAX",
                    "dependencies",
                    DEPENDENCIES_MAX,
                )?,
            },
            commented_nodes_max: variables.size(
                "TIPHYS_HELM_COMMENTS_MAX",
                "keys and values",
                COMMENTED_NODES_MAX,
            )?,
            glob_bounds: GlobBounds {
                looks_max: variables.size("TIPHYS_HELM_GLOB_LOOKS_MAX", "names", GLOB_BOUNDS.looks_max)?,
                matches_max: variables.size(
                    "TIPHYS_HELM_GLOB_FILES_MAX",
                    "files",
                    GLOB_BOUNDS.matches_max,
                )?,
            },
            values_file_schemes: variables.list("TIPHYS_HELM_VALUES_FILE_SCHEMES"),
            source_repos: variables.list("TIPHYS_HELM_SOURCE_REPOS"),
        })
    }
}

/// Where a person's programs keep what they can make again. The rules for these variables say that a path that is not absolute is none.
fn cache_folder(host: &Host) -> Option<AbsolutePath> {
    let absolute = |name| host.set(name).and_then(AbsolutePath::new);
    let caches = absolute("XDG_CACHE_HOME").map(|folder| folder.to_path_buf());
    let caches = caches.or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    AbsolutePath::new(caches.join("tiphys-helm"))
}

/// Variables as settings.
struct Variables<'a>(&'a Host);

impl Variables<'_> {
    fn program(&self, variable: &'static str, default: &str) -> Result<Program, SettingError> {
        let text = self.0.set(variable).unwrap_or(default);
        Program::new(text).ok_or_else(|| refused(variable, text, "an absolute path, or a name of PATH"))
    }

    fn folder(&self, variable: &'static str) -> Result<Option<AbsolutePath>, SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(None) };
        AbsolutePath::new(text).map(Some).ok_or_else(|| refused(variable, text, "an absolute path"))
    }

    /// Folders between colons, of which an empty one is none.
    fn folders(&self, variable: &'static str) -> Result<(), SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(()) };
        let is_usable = |folder: &str| folder.is_empty() || Path::new(folder).is_absolute();
        if text.split(':').all(is_usable) {
            Ok(())
        } else {
            Err(refused(variable, text, "a list of absolute paths with `:` between them"))
        }
    }

    /// A number above zero. `of` is what it counts.
    fn number(&self, variable: &'static str, of: &str) -> Result<Option<u64>, SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(None) };
        match text.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(refused(variable, text, format!("a number of {of} above zero"))),
        }
    }

    fn size(&self, variable: &'static str, of: &str, default: usize) -> Result<usize, SettingError> {
        let number = self.number(variable, of)?;
        Ok(number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    fn seconds(&self, variable: &'static str, default: Duration) -> Result<Duration, SettingError> {
        Ok(self.number(variable, "seconds")?.map_or(default, Duration::from_secs))
    }

    /// Seconds, of which zero is never.
    fn seconds_or_never(
        &self,
        variable: &'static str,
        default: Duration,
    ) -> Result<Option<Duration>, SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(Some(default)) };
        let seconds =
            text.parse().map_err(|_| refused(variable, text, "a number of seconds, or 0 for never"))?;
        Ok(Some(Duration::from_secs(seconds)).filter(|duration| !duration.is_zero()))
    }

    /// What stands between commas; of an empty text nothing.
    fn list(&self, variable: &str) -> Option<Vec<String>> {
        let items = self.0.variable(variable)?.split(',').map(str::trim).filter(|item| !item.is_empty());
        Some(items.map(str::to_owned).collect())
    }
}

fn refused(variable: &'static str, value: &str, due: impl Into<String>) -> SettingError {
    SettingError { variable, value: value.to_owned(), due: due.into() }
}

#[cfg(test)]
mod tests;
