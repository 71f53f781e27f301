//! Settings of a service that outlive a request.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tiphys_model::limits::{Limit, Limits};

use crate::{ChartLimits, UserSettings};

/// Number of packs of a clone after which the next fetch starts a fresh clone, so that its size stays limited.
const CLONE_PACKS_MAX: usize = 64;

/// Default timeout of a local git command.
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
    /// Through that proxy, too.
    AlsoViaProxy,
}

/// Progress of look-ups and fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The files of a checkout are used although the caller did not name it. Reported once for each
    /// service.
    UsingCheckout {
        /// The redacted URL.
        repository: &'a str,
    },
    /// Branches and tags are looked up.
    LookingUp {
        /// The redacted URL.
        repository: &'a str,
    },
    /// A fetch begins.
    Fetching {
        /// The redacted URL.
        repository: &'a str,
        /// The commit, or `its history`.
        revision: &'a str,
    },
    /// A fetch succeeded.
    Fetched {
        /// The redacted URL.
        repository: &'a str,
        /// Its duration.
        duration: Duration,
    },
}

/// Receives progress.
pub type ProgressSink = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// The settings of a [`SourceService`](crate::SourceService). [`SourceOptions::new`] returns the defaults of a command on a laptop.
#[derive(Clone)]
pub struct SourceOptions {
    /// The cache directory: clones in `git/`, charts in `charts/`. Created with mode 0700.
    pub cache_dir: PathBuf,
    /// Where the user's own credentials are sent.
    pub own_credentials: OwnCredentials,
    /// Whether the user's own git settings and keys are used for repositories without a Secret.
    pub user_settings: UserSettings,
    /// The git program: absolute, or a name that is looked up in the environment's `PATH`.
    pub git_program: PathBuf,
    /// This process's environment; git gets only the part of it that it needs.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory of temporary files with secrets for git; preferably in a memory file system.
    pub secrets_dir: PathBuf,
    /// A `known_hosts` file with the only trusted host keys. None: those of the user.
    pub ssh_known_hosts: Option<PathBuf>,
    /// Timeout of connecting to a chart server, TLS included.
    pub connect_timeout: Duration,
    /// Timeout of looking up branches and tags, and of one request to a chart server other than for an archive.
    pub lookup_timeout: Duration,
    /// Timeout of one fetch, look-ups of a chart included, and of waiting for the fetch of another process.
    pub fetch_timeout: Duration,
    /// Timeout of a local git command.
    pub local_timeout: Duration,
    /// Limits on responses of Helm repositories and registries.
    pub chart_limits: ChartLimits,
    /// Number of packs of a clone after which the next fetch starts a fresh clone.
    pub clone_packs_max: usize,
    /// Receives progress.
    pub progress: Option<ProgressSink>,
}

impl SourceOptions {
    /// Returns the defaults: no credentials but the user's.
    pub fn new(cache_dir: PathBuf, environment: Vec<(OsString, OsString)>, limits: &Limits) -> Self {
        let temporary =
            environment.iter().rfind(|(name, _)| name == "TMPDIR").map(|(_, dir)| PathBuf::from(dir));
        let memory = PathBuf::from("/dev/shm");
        let secrets_dir =
            if memory.is_dir() { memory } else { temporary.unwrap_or_else(|| PathBuf::from("/tmp")) };
        Self {
            cache_dir,
            own_credentials: OwnCredentials::default(),
            user_settings: UserSettings::default(),
            git_program: PathBuf::from("git"),
            environment,
            secrets_dir,
            ssh_known_hosts: None,
            connect_timeout: limits.duration(Limit::CONNECT_TIMEOUT),
            // A look-up is a part of fetching, so the shorter timeout applies.
            lookup_timeout: limits.duration(Limit::LOOKUP_TIMEOUT).min(limits.duration(Limit::FETCH_TIMEOUT)),
            fetch_timeout: limits.duration(Limit::FETCH_TIMEOUT),
            local_timeout: LOCAL_TIMEOUT,
            chart_limits: ChartLimits::from(limits),
            clone_packs_max: CLONE_PACKS_MAX,
            progress: None,
        }
    }

    /// Returns a variable of the environment, if it is valid UTF-8.
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
    /// Omits the environment, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceOptions").field("cache_dir", &self.cache_dir).finish_non_exhaustive()
    }
}
