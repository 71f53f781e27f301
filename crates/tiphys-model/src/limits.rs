//! The limits: the size, number or duration of what others control. One table has the name, the unit, the default and the description of
//! each, and options, variables, the project file, the help and the reference are made from it.
//!
//! An error that a limit causes has the [`Limit`] as its last source.

mod unit;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::iter::successors;
use std::ops::RangeInclusive;
use std::time::Duration;

pub use unit::{LimitError, Unit};

/// A limit, identified by its name.
#[derive(Clone, Copy)]
pub struct Limit(&'static Row);

/// A row of the table.
struct Row {
    name: &'static str,
    unit: Unit,
    default: Option<u64>,
    range: RangeInclusive<u64>,
    help: &'static str,
}

/// Declares the limits. A limit whose default depends on the program that enforces it has `None`.
macro_rules! limits {
    ($($(#[doc = $help:literal])+ $constant:ident = $name:literal, $unit:ident, $default:expr, $range:expr;)*) => {
        impl Limit {
            /// All limits, by name.
            pub const ALL: &[Self] = &[$(Self::$constant),*];
            $(
                $(#[doc = $help])+
                pub const $constant: Self = Self(&Row {
                    name: $name,
                    unit: Unit::$unit,
                    default: $default,
                    range: $range,
                    help: concat!($($help),+),
                });
            )*
        }
    };
}

/// The longest duration that can be set, in seconds: a day.
const DAY: u64 = 86_400;

limits! {
    /// Maximum size of a file that a `git` or `oci` generator reads
    APPSET_FILE_BYTES_MAX = "appset-file-bytes-max", Bytes, Some(16 << 20), 1..=u64::MAX;
    /// Maximum number of parameter sets of one generator of an application set
    APPSET_PARAMETERS_MAX = "appset-parameters-max", Count, Some(100_000), 1..=u64::MAX;
    /// Maximum size of the cache on disk. Once a day, and with `cache prune`, the least recently used clones, charts and trees are removed
    CACHE_SIZE_MAX = "cache-size-max", Bytes, Some(20 << 30), 0..=u64::MAX;
    /// Maximum size of a packed chart, or of an OCI artifact; the default is Argo CD's
    CHART_BYTES_MAX = "chart-bytes-max", Bytes, Some(1 << 30), 1..=u64::MAX;
    /// Maximum size of the index of a Helm repository; the default is Argo CD's
    CHART_INDEX_BYTES_MAX = "chart-index-bytes-max", Bytes, Some(1 << 30), 1..=u64::MAX;
    /// Timeout for connecting to a chart server or a forge, TLS handshake included
    CONNECT_TIMEOUT = "connect-timeout", Seconds, Some(30), 1..=DAY;
    /// `cmp-server`: maximum time that a connection stays open without a call; pings do not count as calls
    CONNECTION_IDLE_MAX = "connection-idle-max", Seconds, Some(60), 1..=DAY;
    /// `cmp-server`: timeout for the HTTP/2 preface and the first frame of a new connection. Clients send both at once
    CONNECTION_PREFACE_MAX = "connection-preface-max", Seconds, Some(10), 1..=DAY;
    /// `cmp-server`: maximum number of open connections; further clients wait
    CONNECTIONS_MAX = "connections-max", Count, Some(512), 1..=u32::MAX as u64;
    /// Maximum total size of the files of a `directory` source
    DIRECTORY_BYTES_MAX = "directory-bytes-max", Bytes, Some(10 << 20), 1..=u64::MAX;
    /// Timeout for fetching a repository, or a chart with all its look-ups
    FETCH_TIMEOUT = "fetch-timeout", Seconds, Some(900), 1..=DAY;
    /// Maximum depth of the Applications that `--follow` finds: those that an Application of the store renders are at depth 1
    FOLLOW_DEPTH_MAX = "follow-depth-max", Count, Some(3), 1..=100;
    /// Maximum total size of all pages of one list of a forge
    FORGE_LIST_BYTES_MAX = "forge-list-bytes-max", Bytes, Some(64 << 20), 1..=u64::MAX;
    /// Maximum number of pages of one list of a forge
    FORGE_PAGES_MAX = "forge-pages-max", Count, Some(100), 1..=u64::MAX;
    /// Timeout for one request to a forge (GitHub, GitLab, Gitea)
    FORGE_REQUEST_TIMEOUT = "forge-request-timeout", Seconds, Some(30), 1..=DAY;
    /// Maximum number of concurrent plugin runs; default: the number of processors, for `cmp-server` and `serve`, whose plugins may wait for
    /// servers, eight times as many, at least 16
    JOBS = "jobs", Count, None, 1..=u16::MAX as u64;
    /// Timeout for one call of a credential plugin of a kubeconfig
    KUBE_EXEC_TIMEOUT = "kube-exec-timeout", Seconds, Some(60), 1..=DAY;
    /// Maximum total size of all pages of one list of a Kubernetes API server
    KUBE_LIST_BYTES_MAX = "kube-list-bytes-max", Bytes, Some(1 << 30), 1..=u64::MAX;
    /// Timeout for one request to a Kubernetes API server with its repetitions
    KUBE_REQUEST_TIMEOUT = "kube-request-timeout", Seconds, Some(60), 1..=DAY;
    /// Maximum size of one response of a Kubernetes API server
    KUBE_RESPONSE_BYTES_MAX = "kube-response-bytes-max", Bytes, Some(256 << 20), 1..=u64::MAX;
    /// Maximum number of concurrent watches of Kubernetes API servers (`render --watch`). Each has a connection
    KUBE_WATCHES_MAX = "kube-watches-max", Count, Some(200), 1..=u64::MAX;
    /// Timeout for listing the branches and tags of a repository, or for one request to a chart server
    LOOKUP_TIMEOUT = "lookup-timeout", Seconds, Some(60), 1..=DAY;
    /// Maximum number of objects of a source
    MANIFESTS_MAX = "manifests-max", Count, Some(100_000), 1..=u64::MAX;
    /// `cmp-server`: maximum size of a gRPC message in either direction. All manifests of a response must fit. Without it, the MiB of
    /// `ARGOCD_GRPC_MAX_SIZE_MB`, else 100 MiB
    MESSAGE_BYTES_MAX = "message-bytes-max", Bytes, None, 1..=u64::MAX;
    /// Maximum memory of one process of `tiphys-native`, which builds kustomizations and evaluates Jsonnet files
    NATIVE_BYTES_MAX = "native-bytes-max", Bytes, Some(2 << 30), 1..=u64::MAX;
    /// `cmp-server`: maximum size of a received archive
    PACKED_BYTES_MAX = "packed-bytes-max", Bytes, Some(1 << 30), 1..=u64::MAX;
    /// Maximum size of one answer of a plugin service of application sets, decompressed
    PLUGIN_ANSWER_BYTES_MAX = "plugin-answer-bytes-max", Bytes, Some(64 << 20), 1..=u64::MAX;
    /// Time between SIGTERM and SIGKILL when a plugin's processes are stopped
    PLUGIN_GRACE = "plugin-grace", Seconds, Some(5), 0..=3_600;
    /// Maximum number of concurrent questions of application sets to one plugin service, and to forges
    PLUGIN_JOBS = "plugin-jobs", Count, Some(16), 1..=u64::MAX;
    /// Maximum standard output of one plugin command
    PLUGIN_OUTPUT_MAX = "plugin-output-max", Bytes, Some(100 << 20), 1..=u64::MAX;
    /// `cmp-server`: maximum number of runs that wait for one of `jobs`; further ones are rejected
    PLUGIN_QUEUE_MAX = "plugin-queue-max", Count, Some(1_000), 0..=u32::MAX as u64;
    /// `cmp-server`: maximum time that a run waits for one of `jobs` before it is rejected
    PLUGIN_QUEUE_WAIT = "plugin-queue-wait", Seconds, Some(90), 0..=DAY;
    /// Maximum size of the body of a request to `appset plugin serve`
    PLUGIN_REQUEST_BYTES_MAX = "plugin-request-bytes-max", Bytes, Some(1 << 20), 1..=u64::MAX;
    /// Timeout for one question to a plugin service of application sets with its repetitions, unless its ConfigMap has another
    PLUGIN_REQUEST_TIMEOUT = "plugin-request-timeout", Seconds, Some(30), 1..=DAY;
    /// Maximum standard error that is kept of one plugin command: its beginning and its end
    PLUGIN_STDERR_MAX = "plugin-stderr-max", Bytes, Some(64 << 10), 1..=u64::MAX;
    /// Maximum duration of one plugin's commands; for `cmp-server`, the default is the value of `ARGOCD_EXEC_TIMEOUT`, else Argo CD's
    PLUGIN_TIMEOUT = "plugin-timeout", Seconds, Some(90), 1..=DAY;
    /// Maximum size of any other response of a registry (manifest, token, page of tags)
    REGISTRY_ANSWER_BYTES_MAX = "registry-answer-bytes-max", Bytes, Some(4 << 20), 1..=u64::MAX;
    /// Maximum number of pages of a tag list
    REGISTRY_TAG_PAGES_MAX = "registry-tag-pages-max", Count, Some(1_000), 1..=u64::MAX;
    /// Maximum number of tags of a chart or OCI artifact
    REGISTRY_TAGS_MAX = "registry-tags-max", Count, Some(100_000), 1..=u64::MAX;
    /// `cmp-server`: interval of the checks that the socket and the resource limits are unchanged. If one has changed, the server exits with
    /// code 20
    SELF_CHECK_INTERVAL = "self-check-interval", Seconds, Some(1), 1..=3_600;
    /// `cmp-server`: maximum time that running calls continue after SIGTERM
    SHUTDOWN_GRACE = "shutdown-grace", Seconds, Some(20), 0..=DAY;
    /// `cmp-server`: maximum total size of trees, used and cached. Uploads wait while used trees leave too little space; a single tree may be
    /// larger
    STORE_BYTES_MAX = "store-bytes-max", Bytes, Some(1 << 30), 0..=u64::MAX;
    /// `cmp-server`: maximum number of cached trees
    STORE_TREES_MAX = "store-trees-max", Count, Some(64), 0..=u32::MAX as u64;
    /// Maximum depth of nested blocks, parentheses, templates and values of one template
    TEMPLATE_DEPTH_MAX = "template-depth-max", Count, Some(100), 1..=u64::MAX;
    /// Maximum size of the result of one template, and of each string in it
    TEMPLATE_OUTPUT_MAX = "template-output-max", Bytes, Some(4 << 20), 1..=u64::MAX;
    /// Maximum number of steps of one template of an application set: evaluated nodes, iterations, and items that functions create
    TEMPLATE_STEPS_MAX = "template-steps-max", Count, Some(1_000_000), 1..=u64::MAX;
    /// Maximum total size of the files in a repository's tree
    TREE_BYTES_MAX = "tree-bytes-max", Bytes, Some(4 << 30), 1..=u64::MAX;
    /// Maximum number of files, folders and links in a repository's tree; for archives that `cmp-server` receives, the default is 500,000
    TREE_ENTRIES_MAX = "tree-entries-max", Count, Some(1_000_000), 1..=u64::MAX;
    /// `cmp-server`: maximum number of archives that are unpacked concurrently; others wait
    UNPACKING_MAX = "unpacking-max", Count, Some(32), 1..=256;
    /// `cmp-server`: maximum pause of a client while other archives wait to be unpacked
    UPLOAD_STALL_CROWDED_MAX = "upload-stall-crowded-max", Seconds, Some(5), 1..=DAY;
    /// `cmp-server`: maximum pause of a client within an archive
    UPLOAD_STALL_MAX = "upload-stall-max", Seconds, Some(30), 1..=DAY;
}

impl Limit {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the name of its variable.
    pub fn variable(self) -> String {
        format!("TIPHYS_{}", self.name().replace('-', "_").to_ascii_uppercase())
    }

    /// Returns the unit.
    pub const fn unit(self) -> Unit {
        self.0.unit
    }

    /// Returns the default in the limit's unit. `None` if it depends on the program, which the description says.
    pub const fn default(self) -> Option<u64> {
        self.0.default
    }

    /// Returns the default in the limit's unit, and 0 if it depends on the program.
    pub const fn default_value(self) -> u64 {
        match self.0.default {
            Some(default) => default,
            None => 0,
        }
    }

    /// Returns the default of a duration.
    pub const fn default_duration(self) -> Duration {
        Duration::from_secs(self.default_value())
    }

    /// Returns the description in one line.
    pub fn help(self) -> &'static str {
        self.0.help.trim_start()
    }

    /// Returns the limit of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|limit| limit.name() == name).copied()
    }

    /// Reads a value: a whole number in the limit's unit, or one with a unit such as `90s`, `2m`, `64KiB` and `1GiB`.
    pub fn read(self, value: &str) -> Result<u64, LimitError> {
        let Row { unit, range, .. } = self.0;
        let value = unit.read(value)?;
        if range.contains(&value) { Ok(value) } else { Err(LimitError::out_of(range, *unit)) }
    }

    /// Returns the limit that caused an error.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref().copied())
    }
}

impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Limit {}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name().cmp(other.name())
    }
}

impl std::hash::Hash for Limit {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Limit({:?})", self.name())
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "limit {}", self.name())
    }
}

impl Error for Limit {}

/// The values of the limits: those that were set, and the defaults of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(BTreeMap<Limit, u64>);

impl Limits {
    /// Sets a limit to a value in its unit.
    pub fn set(&mut self, limit: Limit, value: u64) {
        self.0.insert(limit, value);
    }

    /// Returns a limit that was set.
    pub fn given(&self, limit: Limit) -> Option<u64> {
        self.0.get(&limit).copied()
    }

    /// Returns a limit in its unit.
    pub fn get(&self, limit: Limit) -> u64 {
        self.given(limit).unwrap_or(limit.default_value())
    }

    /// Returns a limit on data in memory. A value above the address space means no limit.
    pub fn size(&self, limit: Limit) -> usize {
        usize::try_from(self.get(limit)).unwrap_or(usize::MAX)
    }

    /// Returns a limit of time.
    pub fn duration(&self, limit: Limit) -> Duration {
        Duration::from_secs(self.get(limit))
    }
}

#[cfg(test)]
mod tests;
