//! What a plugin server allows: bounds with their defaults.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tiphys_tree::archive::ArchiveLimits;

use crate::MESSAGE_BYTES_MAX;
use crate::calls::Traces;
use crate::services::version::Versions;

/// How long a call may take whose caller sets no deadline: Argo CD's default of `ARGOCD_EXEC_TIMEOUT`.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(90);
/// How long running calls may go on after the server was asked to end.
pub const GRACE: Duration = Duration::from_secs(20);
/// Connections that are open at once; further callers wait until one ends.
pub const CONNECTIONS_MAX: NonZeroU32 = NonZeroU32::new(512).unwrap();
/// How long a new connection may take to send its preface and its first frame. Clients send both as soon as they are connected.
pub const PREFACE_MAX: Duration = Duration::from_secs(10);
/// How long a connection may be without a call; pings are none.
pub const IDLE_MAX: Duration = Duration::from_mins(1);
/// How long the sender of an upload may send nothing before the call is ended.
pub const STALL_MAX: Duration = Duration::from_secs(30);
/// The same while other uploads wait for the place that its archive takes. A repo-server whose processors are throttled pauses, too.
pub const CROWDED_STALL_MAX: Duration = Duration::from_secs(5);
/// Archives that are unpacked at once while they come; further uploads wait in the order in which they came.
pub const UNPACKING_MAX: usize = 32;
/// Bytes of an archive as it is sent.
pub const PACKED_BYTES_MAX: u64 = 1 << 30;
/// Entries of an archive.
pub const ENTRIES_MAX: u64 = 500_000;
/// Bytes of the content of an archive.
pub const UNPACKED_BYTES_MAX: u64 = 4 << 30;

/// Bounds of a server, and what it tells of its calls.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// How long a call may take when the caller sets no deadline.
    pub call_timeout: Duration,
    /// Bytes of one message, both ways.
    pub message_bytes_max: usize,
    /// Bounds of each archive.
    pub archive: ArchiveLimits,
    /// Connections that are open at once.
    pub connections_max: NonZeroU32,
    /// How long a new connection may take to send its preface and its first frame.
    pub preface_max: Duration,
    /// How long a connection may be without a call.
    pub idle_max: Duration,
    /// How long running calls may go on when the server is to end.
    pub grace: Duration,
    /// How long the sender of an upload may send nothing before the call is ended.
    pub stall_max: Duration,
    /// The same while other uploads wait for the place that its archive takes.
    pub crowded_stall_max: Duration,
    /// Archives that are unpacked at once while they come. Each takes a thread for blocking work.
    pub unpacking_max: usize,
    /// Folder that texts do not name: its path differs between servers and means nothing to callers.
    pub work_dir: Option<PathBuf>,
    /// What the server says when it is asked for its version.
    pub versions: Versions,
    /// The time of day so long from now, as logs have it; without it the log says no times of calls.
    pub wall_clock: Option<fn(Duration) -> String>,
    /// Joins the spans of calls to the traces of their callers.
    pub traces: Option<Arc<dyn Traces>>,
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
            traces: None,
        }
    }
}
