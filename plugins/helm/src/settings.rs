//! Settings, read once from the environment. Any invalid setting is an error, whether the command needs it or not, so that its author
//! notices at once.

use std::ffi::OsStr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_chart::LIMITS;

use crate::builtin::Engine;
use crate::chart::ChartBounds;
use crate::host::Host;
use crate::value_files::GlobBounds;

/// Default directory of temporary files.
const TEMPORARY_FOLDER: &str = "/tmp";

/// Timeout of one call of helm: the default of Argo CD's `ARGOCD_EXEC_TIMEOUT`.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Time after which a running call is reported: before Argo CD's own deadlines, and after nearly all calls have ended.
const SLOW_AFTER: Duration = Duration::from_secs(10);

/// Maximum output of one call of helm in bytes: Argo CD's maximum message size. The output stays in memory until helm succeeds, so that the
/// partial output of a failed chart is never applied.
const OUTPUT_BYTES_MAX: usize = 100 << 20;

/// Maximum bytes of cached dependencies.
const CACHE_BYTES_MAX: u64 = 1 << 30;

/// Maximum age of dependencies selected from a range without a lock file: a newer version may exist afterwards.
const RANGE_AGE: Duration = Duration::from_mins(5);

/// Maximum number of announced values: more than any real chart has, and few enough for a page.
const ANNOUNCED_MAX: usize = 20_000;

/// Limits of one pattern of value files.
const GLOB_BOUNDS: GlobBounds = GlobBounds { looks_max: 1_000_000, matches_max: 10_000 };

/// Maximum number of charts of an announcement, subcharts included: more than any umbrella chart has.
const CHARTS_MAX: usize = 1_000;

/// Maximum entries of one chart's list of dependencies: many times that of any real chart. Each is compared with each subchart.
const DEPENDENCIES_MAX: usize = 10_000;

/// Timeout of a credential helper: it calls a keyring or a cloud, and answers in a second or two.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum bytes of values and schemas of all charts of an announcement, which are in memory at once.
const CHARTS_BYTES_MAX: usize = 64 << 20;

/// Maximum keys and values of one file whose comments and order are announced: parsing them takes time, and no handwritten file has more.
const COMMENTED_NODES_MAX: usize = 200_000;

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The engine that renders charts.
    pub(crate) engine: Engine,
    /// The helm to run.
    pub(crate) helm: Program,
    /// The kustomize to run.
    pub(crate) kustomize: Program,
    /// The directory with helm plugins for charts and value files; no plugins without it.
    pub(crate) helm_plugins: Option<AbsolutePath>,
    /// Directory of temporary files.
    pub(crate) temporary_folder: AbsolutePath,
    /// Timeout of one call of helm.
    pub(crate) timeout: Duration,
    /// Timeout of a credential helper, per registry.
    pub(crate) login_timeout: Duration,
    /// Time after which a running call of helm or kustomize is reported; `None` for never.
    pub(crate) slow_after: Option<Duration>,
    /// Maximum output of one call of helm in bytes.
    pub(crate) output_bytes_max: usize,
    /// Maximum steps of the templates of one chart and its subcharts.
    pub(crate) steps_max: u64,
    /// Directory of cached dependencies; `None` without one.
    pub(crate) cache_folder: Option<AbsolutePath>,
    /// Maximum bytes of cached dependencies.
    pub(crate) cache_bytes_max: u64,
    /// Maximum age of dependencies selected from a range without a lock file.
    pub(crate) range_age: Duration,
    /// Maximum number of announced values.
    pub(crate) announced_max: usize,
    /// Limits of what is read from charts.
    pub(crate) chart_bounds: ChartBounds,
    /// Maximum keys and values of one file whose comments and order are announced; larger files have neither.
    pub(crate) commented_nodes_max: usize,
    /// Limits of one pattern of value files.
    pub(crate) glob_bounds: GlobBounds,
    /// Permitted URL schemes of value files, without a run context.
    pub(crate) values_file_schemes: Option<Vec<String>>,
    /// Permitted repositories of dependencies, without a run context.
    pub(crate) source_repos: Option<Vec<String>>,
}

/// An absolute path: independent of the working directory, which is the application's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AbsolutePath(PathBuf);

/// A program: an absolute path, or a name in `PATH`. So no file of the application's directory can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program(PathBuf);

/// An invalid setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}; expected {expected}")]
pub(crate) struct SettingError {
    variable: &'static str,
    value: String,
    expected: String,
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
        // Variables of helm and other programs, which this program reads as well.
        variables.folder("SSL_CERT_FILE")?;
        variables.folders("SSL_CERT_DIR")?;
        Ok(Self {
            engine: variables.engine("TIPHYS_HELM_ENGINE")?,
            helm: variables.program("TIPHYS_HELM", "helm")?,
            kustomize: variables.program("TIPHYS_KUSTOMIZE", "kustomize")?,
            helm_plugins: variables.folder("TIPHYS_HELM_PLUGINS")?,
            temporary_folder: variables.folder("TMPDIR")?.unwrap_or(AbsolutePath(TEMPORARY_FOLDER.into())),
            timeout: variables.seconds("TIPHYS_HELM_TIMEOUT", TIMEOUT)?,
            login_timeout: variables.seconds("TIPHYS_HELM_LOGIN_TIMEOUT", LOGIN_TIMEOUT)?,
            slow_after: variables.seconds_or_never("TIPHYS_HELM_SLOW_AFTER", SLOW_AFTER)?,
            output_bytes_max: variables.size("TIPHYS_HELM_OUTPUT_MAX", "bytes", OUTPUT_BYTES_MAX)?,
            steps_max: variables.number("TIPHYS_HELM_STEPS_MAX", "steps")?.unwrap_or(LIMITS.steps),
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

/// Returns the default cache directory. By the XDG specification, relative paths are ignored.
fn cache_folder(host: &Host) -> Option<AbsolutePath> {
    let absolute = |name| host.set(name).and_then(AbsolutePath::new);
    let caches = absolute("XDG_CACHE_HOME").map(|folder| folder.to_path_buf());
    let caches = caches.or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    AbsolutePath::new(caches.join("tiphys-helm"))
}

/// Reads variables as settings.
struct Variables<'a>(&'a Host);

impl Variables<'_> {
    fn program(&self, variable: &'static str, default: &str) -> Result<Program, SettingError> {
        let text = self.0.set(variable).unwrap_or(default);
        Program::new(text).ok_or_else(|| refused(variable, text, "an absolute path, or a program in PATH"))
    }

    fn engine(&self, variable: &'static str) -> Result<Engine, SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(Engine::default()) };
        let found = Engine::NAMES.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, engine)| *engine)
            .ok_or_else(|| refused(variable, text, "auto, builtin, builtin-helm3, program or compare"))
    }

    fn folder(&self, variable: &'static str) -> Result<Option<AbsolutePath>, SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(None) };
        AbsolutePath::new(text).map(Some).ok_or_else(|| refused(variable, text, "an absolute path"))
    }

    /// A colon-separated list of directories; empty ones are ignored.
    fn folders(&self, variable: &'static str) -> Result<(), SettingError> {
        let Some(text) = self.0.set(variable) else { return Ok(()) };
        let is_usable = |folder: &str| folder.is_empty() || Path::new(folder).is_absolute();
        if text.split(':').all(is_usable) {
            Ok(())
        } else {
            Err(refused(variable, text, "a list of absolute paths separated by `:`"))
        }
    }

    /// A positive number. `of` is the unit.
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

    /// Seconds; zero is never.
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

    /// A comma-separated list; an empty string is an empty list.
    fn list(&self, variable: &str) -> Option<Vec<String>> {
        let items = self.0.variable(variable)?.split(',').map(str::trim).filter(|item| !item.is_empty());
        Some(items.map(str::to_owned).collect())
    }
}

fn refused(variable: &'static str, value: &str, expected: impl Into<String>) -> SettingError {
    SettingError { variable, value: value.to_owned(), expected: expected.into() }
}

#[cfg(test)]
mod tests;
