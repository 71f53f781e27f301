//! The plugin protocol over gRPC on a Unix socket: server and client (`spec/cmp.md` section 1).
//!
//! The only crate of the workspace that knows gRPC. The wire is Argo CD's: package `plugin`, one client stream per call that begins with
//! metadata and goes on with chunks of a tar within gzip.

mod announcement;
mod archives;
mod askpass;
mod calls;
mod client;
mod connection;
#[doc(hidden)]
pub mod exposed;
mod generated;
mod metrics;
mod receive;
mod server;
mod services;
mod socket;

pub use archives::Archives;
pub use askpass::{AskpassError, Credential, Wanted, ask};
pub use calls::Traces;
pub use client::{ConnectError, RemotePlugin, remote_plugins};
pub use metrics::{Build, Levels, METRICS_CONTENT_TYPE, Metrics, StoreLevels};
pub use server::{
    CALL_TIMEOUT, CONNECTIONS_MAX, CROWDED_STALL_MAX, ENTRIES_MAX, GRACE, IDLE_MAX, PACKED_BYTES_MAX,
    PREFACE_MAX, STALL_MAX, ServeError, Server, ServerOptions, UNPACKED_BYTES_MAX, UNPACKING_MAX,
};
pub use services::version::Versions;
pub use socket::{SocketError, SocketFile, SocketGuard, SocketLost, bind};

/// Bytes of one message, both ways: Argo CD's default of `ARGOCD_GRPC_MAX_SIZE_MB` (`spec/cmp.md` 1.1).
pub const MESSAGE_BYTES_MAX: usize = 100 * 1024 * 1024;
