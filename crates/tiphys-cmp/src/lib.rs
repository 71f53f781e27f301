//! Argo CD's plugin protocol over gRPC on a Unix socket: server and client.
//!
//! The only crate of the workspace that uses gRPC. The wire format is that of Argo CD's
//! [`plugin.proto`](https://github.com/argoproj/argo-cd/blob/master/cmpserver/plugin/plugin.proto): each call is a client stream of
//! metadata and then chunks of a gzipped tar archive.

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
mod options;
mod panic;
mod receive;
mod server;
mod services;
mod socket;

pub use archives::Archives;
pub use askpass::{AskpassError, Credential, CredentialPart, ask};
pub use client::{ConnectError, RemotePlugin, remote_plugins};
pub use metrics::{Build, METRICS_CONTENT_TYPE, Metrics, ServerGauges, StoreGauges};
pub use options::{
    CALL_TIMEOUT, CONNECTIONS_MAX, CROWDED_STALL_MAX, ENTRIES_MAX, GRACE, IDLE_MAX, PACKED_BYTES_MAX,
    PREFACE_MAX, STALL_MAX, ServerOptions, UNPACKED_BYTES_MAX, UNPACKING_MAX,
};
pub use server::{ServeError, Server};
pub use services::version::Versions;
pub use socket::{SocketError, SocketFile, SocketGuard, SocketLost, bind};

/// Maximum bytes of one message in both directions: Argo CD's default of `ARGOCD_GRPC_MAX_SIZE_MB`.
pub const MESSAGE_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Key of the metadata of a status after a command for announcements exceeded a limit of its own. Argo CD's client ignores it.
const ABOVE_LIMIT_KEY: &str = "tiphys-above-announcement-limit";
