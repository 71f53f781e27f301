//! Settings of a service that outlive a request.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{ChartLimits, UserSettings};

/// How long looking up branches and tags may take, or one question to a server of charts.
pub const LOOKUP_TIMEOUT: Duration = Duration::from_mins(1);

/// How long one fetch may take; of a chart everything that is asked for it, together.
pub const FETCH_TIMEOUT: Duration = Duration::from_mins(15);

/// How long connecting to a server of charts may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The option of [`SourceOptions::connect_timeout`].
pub(crate) const CONNECT_TIMEOUT_OPTION: &str = "--connect-timeout";

/// The option of [`SourceOptions::lookup_timeout`].
pub(crate) const LOOKUP_TIMEOUT_OPTION: &str = "--lookup-timeout";

/// The option of [`SourceOptions::fetch_timeout`].
pub(crate) const FETCH_TIMEOUT_OPTION: &str = "--fetch-timeout";

/// Number of packs of a clone after which the next fetch starts a fresh clone, so that its size stays bounded.
const CLONE_PACKS_MAX: usize = 64;

/// How long a call of git that stays on this machine may take.
const LOCAL_TIMEOUT: Duration = Duration::from_mins(2);

/// Whether a request may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Missing commits and charts are fetched; branches and tags are looked up once.
    #[default]
    Online,
    /// Nothing is fetched. Names refer to the commits of the last look-up.
    Offline,
}

/// Whether a request uses cached commits and charts as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// A cached commit is not fetched again.
    #[default]
    Cached,
    /// A cached commit is fetched again once.
    Refresh,
}

/// Where the user's own git credentials are sent if a repository Secret without credentials sets a proxy. They are never sent to a server
/// whose certificate a Secret says not to verify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnCredentials {
    /// Only to the server itself.
    #[default]
    Direct,
    /// Through that proxy, too (`--own-credentials-via-proxy`).
    AlsoViaProxy,
}

/// What is going on, for people who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Branches and tags are looked up.
    LookingUp {
        /// The URL, masked.
        repository: &'a str,
    },
    /// A fetch begins.
    Fetching {
        /// The URL, masked.
        repository: &'a str,
        /// The commit, or `its history`.
        revision: &'a str,
    },
    /// A fetch ended well.
    Fetched {
        /// The URL, masked.
        repository: &'a str,
        /// How long it took.
        duration: Duration,
    },
}

/// Gets to know what is going on.
pub type ProgressSink = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// The settings of a [`SourceService`](crate::SourceService). [`SourceOptions::new`] returns the defaults of a command on a laptop.
#[derive(Clone)]
pub struct SourceOptions {
    /// Where fetched repositories are kept, below `git/`, and charts, below `charts/`; made if it is missing, 0700.
    pub cache_dir: PathBuf,
    /// Absolute directories below which `file://` repositories may be, of those that an application of a repository names, and of submodules.
    pub file_repositories: Vec<PathBuf>,
    /// Where the user's own credentials are sent.
    pub own_credentials: OwnCredentials,
    /// Whether the user's own git settings and keys are used where no Secret says otherwise.
    pub user_settings: UserSettings,
    /// The git program: absolute, or a name that is looked up in the environment's `PATH`.
    pub git_program: PathBuf,
    /// This process's environment; git gets only the part of it that it needs.
    pub environment: Vec<(OsString, OsString)>,
    /// Where files with secrets are put for the time that git needs them; a memory file system is best.
    pub secrets_dir: PathBuf,
    /// The only host keys that are trusted, in the form of `known_hosts`; none: those of the user.
    pub ssh_known_hosts: Option<PathBuf>,
    /// How long connecting to a server of charts may take, TLS included.
    pub connect_timeout: Duration,
    /// How long looking up branches and tags may take, or one question to a server of charts that is not for a chart itself.
    pub lookup_timeout: Duration,
    /// How long one fetch may take, a chart's with all that is looked up for it, and how long the fetch of another process is waited for.
    pub fetch_timeout: Duration,
    /// How long a call of git that stays on this machine may take.
    pub local_timeout: Duration,
    /// How large what is fetched of Helm repositories and registries may be.
    pub chart_limits: ChartLimits,
    /// Number of packs of a clone after which the next fetch starts a fresh clone.
    pub clone_packs_max: usize,
    /// Gets to know what is going on.
    pub progress: Option<ProgressSink>,
}

impl SourceOptions {
    /// Returns the defaults: no credentials but the user's.
    pub fn new(cache_dir: PathBuf, environment: Vec<(OsString, OsString)>) -> Self {
        let temporary =
            environment.iter().rfind(|(name, _)| name == "TMPDIR").map(|(_, dir)| PathBuf::from(dir));
        let memory = PathBuf::from("/dev/shm");
        let secrets_dir =
            if memory.is_dir() { memory } else { temporary.unwrap_or_else(|| PathBuf::from("/tmp")) };
        Self {
            cache_dir,
            file_repositories: Vec::new(),
            own_credentials: OwnCredentials::default(),
            user_settings: UserSettings::default(),
            git_program: PathBuf::from("git"),
            environment,
            secrets_dir,
            ssh_known_hosts: None,
            connect_timeout: CONNECT_TIMEOUT,
            lookup_timeout: LOOKUP_TIMEOUT,
            fetch_timeout: FETCH_TIMEOUT,
            local_timeout: LOCAL_TIMEOUT,
            chart_limits: ChartLimits::DEFAULT,
            clone_packs_max: CLONE_PACKS_MAX,
            progress: None,
        }
    }

    /// A variable of the environment, if it is a text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let found = self.environment.iter().rfind(|(found, _)| found == name);
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    }

    pub(crate) fn report(&self, progress: &Progress<'_>) {
        tracing::debug!(?progress, "source");
        if let Some(sink) = &self.progress {
            sink(progress);
        }
    }
}

impl fmt::Debug for SourceOptions {
    /// Leaves out the environment, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceOptions").field("cache_dir", &self.cache_dir).finish_non_exhaustive()
    }
}
