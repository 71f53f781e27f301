//! Options of a plugin server with their defaults.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use tiphys_model::limits::Limit;
use tiphys_tree::archive::ArchiveLimits;

use crate::MESSAGE_BYTES_MAX;
use crate::services::version::Versions;

/// Maximum duration of a call whose caller sets no deadline: Argo CD's default of `ARGOCD_EXEC_TIMEOUT`.
pub const CALL_TIMEOUT: Duration = Limit::PLUGIN_TIMEOUT.default_duration();
/// How long running calls may continue after the shutdown begins.
pub const GRACE: Duration = Limit::SHUTDOWN_GRACE.default_duration();
/// Maximum number of open connections. Further callers wait until one ends.
pub const CONNECTIONS_MAX: NonZeroU32 = NonZeroU32::new(512).unwrap();
/// How long a new connection may take to send its preface and its first frame. Clients send both at once.
pub const PREFACE_MAX: Duration = Limit::CONNECTION_PREFACE_MAX.default_duration();
/// How long a connection may have no call. Pings do not count.
pub const IDLE_MAX: Duration = Limit::CONNECTION_IDLE_MAX.default_duration();
/// How long the sender of an upload may send nothing before the call is ended.
pub const STALL_MAX: Duration = Limit::UPLOAD_STALL_MAX.default_duration();
/// The same while other uploads wait for its unpack slot. A repo-server whose CPU is throttled pauses, too.
pub const CROWDED_STALL_MAX: Duration = Limit::UPLOAD_STALL_CROWDED_MAX.default_duration();
/// Archives that are unpacked at once while they are received. Further uploads wait in the order of arrival.
pub const UNPACKING_MAX: usize = 32;
/// Compressed bytes of an archive.
pub const PACKED_BYTES_MAX: u64 = Limit::PACKED_BYTES_MAX.default_value();
/// Entries of an archive.
pub const ENTRIES_MAX: u64 = 500_000;
/// Uncompressed bytes of an archive.
pub const UNPACKED_BYTES_MAX: u64 = Limit::TREE_BYTES_MAX.default_value();

/// Limits of a server, and how it reports its calls.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Maximum duration of a call whose caller sets no deadline.
    pub call_timeout: Duration,
    /// Bytes of one message in both directions.
    pub message_bytes_max: usize,
    /// Limits of each archive.
    pub archive: ArchiveLimits,
    /// Maximum number of open connections.
    pub connections_max: NonZeroU32,
    /// How long a new connection may take to send its preface and its first frame.
    pub preface_max: Duration,
    /// How long a connection may have no call.
    pub idle_max: Duration,
    /// How long running calls may continue after the shutdown begins.
    pub grace: Duration,
    /// How long the sender of an upload may send nothing before the call is ended.
    pub stall_max: Duration,
    /// The same while other uploads wait for its unpack slot.
    pub crowded_stall_max: Duration,
    /// Archives that are unpacked at once while they are received. Each takes a thread for blocking work.
    pub unpacking_max: usize,
    /// Directory whose path is replaced in messages: it differs between servers and means nothing to callers.
    pub work_dir: Option<PathBuf>,
    /// Answer to a request for the server's version.
    pub versions: Versions,
    /// Formats the wall-clock time after a duration from now for logs. Without it the log has no times of calls.
    pub wall_clock: Option<fn(Duration) -> String>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            call_timeout: CALL_TIMEOUT,
            message_bytes_max: MESSAGE_BYTES_MAX,
            archive: ArchiveLimits {
                packed_bytes_max: PACKED_BYTES_MAX,
                entries_max: ENTRIES_MAX,
                bytes_max: UNPACKED_BYTES_MAX,
            },
            connections_max: CONNECTIONS_MAX,
            preface_max: PREFACE_MAX,
            idle_max: IDLE_MAX,
            grace: GRACE,
            stall_max: STALL_MAX,
            crowded_stall_max: CROWDED_STALL_MAX,
            unpacking_max: UNPACKING_MAX,
            work_dir: None,
            versions: Versions::default(),
            wall_clock: None,
        }
    }
}
