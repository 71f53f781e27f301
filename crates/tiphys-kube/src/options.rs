//! Limits of connections to API servers, and settings of writes.

use std::ffi::OsString;
use std::time::Duration;

use tiphys_model::limits::{Limit, Limits};

/// Limits of connections to API servers, settings of writes, and the environment of credential plugins.
#[derive(Clone)]
pub struct KubeOptions {
    /// Time to connect to a server, TLS included.
    pub connect_timeout: Duration,
    /// Time of one request with its response and its repetitions, without the call of a credential plugin. A list has one request per page,
    /// and a watch one per connection.
    pub request_timeout: Duration,
    /// Time of one call of a credential plugin.
    pub exec_timeout: Duration,
    /// Bytes of one response, and of one event of a watch.
    pub response_bytes_max: usize,
    /// Bytes of all pages of one list. A page with a next page counts as at least 64 KiB, so that a list without end is left.
    pub list_bytes_max: usize,
    /// Pause before a read is repeated after status 429 or 5xx, or a watch after an error. It doubles each time.
    pub pause: Duration,
    /// Settings of writes.
    pub write: WriteOptions,
    /// All environment variables of the caller, for credential plugins.
    pub environment: Vec<(OsString, OsString)>,
}

/// Settings of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// The owner of written fields in `metadata.managedFields`, 1 to 128 bytes.
    pub field_manager: String,
    /// Whether the server checks writes and stores nothing (`dryRun=All`).
    pub is_dry_run: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { field_manager: "tiphys".to_owned(), is_dry_run: false }
    }
}

impl Default for KubeOptions {
    fn default() -> Self {
        Self::new(&Limits::default(), Vec::new())
    }
}

impl KubeOptions {
    /// Returns the options with these limits and environment.
    pub fn new(limits: &Limits, environment: Vec<(OsString, OsString)>) -> Self {
        Self {
            connect_timeout: limits.duration(Limit::CONNECT_TIMEOUT),
            request_timeout: limits.duration(Limit::KUBE_REQUEST_TIMEOUT),
            exec_timeout: limits.duration(Limit::KUBE_EXEC_TIMEOUT),
            response_bytes_max: limits.size(Limit::KUBE_RESPONSE_BYTES_MAX),
            list_bytes_max: limits.size(Limit::KUBE_LIST_BYTES_MAX),
            pause: Duration::from_millis(500),
            write: WriteOptions::default(),
            environment,
        }
    }
}

impl std::fmt::Debug for KubeOptions {
    /// Leaves out the environment, which may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubeOptions")
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("exec_timeout", &self.exec_timeout)
            .field("response_bytes_max", &self.response_bytes_max)
            .field("list_bytes_max", &self.list_bytes_max)
            .field("pause", &self.pause)
            .field("write", &self.write)
            .finish_non_exhaustive()
    }
}
