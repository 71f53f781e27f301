//! Arguments of `cmp-server`: those of Argo CD's plugin server, and bounds of our own (`spec/cmp.md` 1.9).
//!
//! Argo CD's variables are read in `commands/cmp_server/settings.rs` instead of by the parser, since a bad one there is not an error.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::commands::cmp_server::SELF_CHECK_INTERVAL;

/// Arguments of `cmp-server`.
#[derive(Debug, Args)]
#[command(
    // Of a flag that comes twice, Argo CD takes the last.
    args_override_self = true,
    after_help = "Example, in two terminals:
  tiphys cmp-server --config-dir-path ./plugins/kustomize --plugin-sockets /tmp/sockets
  tiphys render --plugin-sockets /tmp/sockets --repo .

Called as `argocd-cmp-server`, or with that name in ARGOCD_BINARY_NAME, the program is this command. Whatever keeps the server from
starting is logged, and its exit code is 20. At SIGTERM or SIGINT it takes no more calls, finishes those that are running, and ends with 0.
ARGOCD_GRPC_KEEP_ALIVE_MIN and ARGOCD_ENABLE_GRPC_TIME_HISTOGRAM may be set and change nothing: a caller may ping as often as it likes, and
the metrics always have times. With TIPHYS_CMP_STRICT=false what tiphys refuses and Argo CD lets pass is logged and not refused."
)]
pub(crate) struct CmpServerArgs {
    /// Folder that holds plugin.yaml
    #[arg(long, value_name = "DIR", default_value = "/home/argocd/cmp-server/config")]
    pub(crate) config_dir_path: PathBuf,

    /// Put this program into a folder as `argocd-cmp-server`, with a link `argocd` to it for git, and serve nothing: for an init
    /// container
    #[arg(long, value_name = "DIR")]
    pub(crate) install: Option<PathBuf>,

    /// Where received trees and private views are kept; default: the folder for temporary files [env: `ARGOCD_CMP_WORKDIR`]
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,

    /// How much is logged; default `info` [env: `ARGOCD_CMP_SERVER_LOGLEVEL`]
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub(crate) loglevel: Option<LogLevelArg>,

    /// How it is logged; default `json` [env: `ARGOCD_CMP_SERVER_LOGFORMAT`]
    #[arg(long, value_name = "FORMAT", ignore_case = true)]
    pub(crate) logformat: Option<LogFormatArg>,

    /// Address of an OpenTelemetry collector that traces are sent to by OTLP over gRPC, as HOST:PORT; without one there are none
    /// [env: `ARGOCD_CMP_SERVER_OTLP_ADDRESS`]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) otlp_address: Option<String>,

    /// Whether the collector is spoken to without TLS; default `true`. This program has no TLS: with `false` it does not start [env: `ARGOCD_CMP_SERVER_OTLP_INSECURE`]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = boolean)]
    pub(crate) otlp_insecure: Option<bool>,

    /// What is sent to the collector as metadata [env: `ARGOCD_CMP_SERVER_OTLP_HEADERS`]
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',')]
    pub(crate) otlp_headers: Vec<String>,

    /// Attributes of this server in traces [env: `ARGOCD_CMP_SERVER_OTLP_ATTRS`]
    #[arg(long, value_name = "NAME:VALUE,…", value_delimiter = ',')]
    pub(crate) otlp_attrs: Vec<String>,

    /// Which part of the traces that begin here is sent, from 0 to 1; what a caller has begun follows the caller; default `1`
    /// [env: `ARGOCD_CMP_SERVER_OTLP_SAMPLE_RATIO`]
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    pub(crate) otlp_sample_ratio: Option<f64>,

    /// Address of an HTTP server of our own for `/metrics`, in the form of Prometheus, and `/healthz`: PORT of this machine only,
    /// ADDR:PORT, or :PORT of all addresses; without one there is none
    #[arg(long, value_name = "ADDRESS", env = "TIPHYS_METRICS_ADDRESS", value_parser = listen_address)]
    pub(crate) metrics_address: Option<SocketAddr>,

    /// Give each run an empty `HOME` that is removed with it. Without this flag, runs share the server's, so that plugins can keep caches
    /// there
    #[arg(long, env = "TIPHYS_PRIVATE_HOME")]
    pub(crate) private_home: bool,

    /// What belongs to no flag: Argo CD does not look at it, so a container that starts there starts here
    #[arg(hide = true)]
    pub(crate) ignored: Vec<String>,

    #[command(flatten)]
    pub(crate) bounds: ServerBoundArgs,
}

/// Bounds of the plugin server only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds of the server")]
pub(crate) struct ServerBoundArgs {
    /// Bytes of one message, both ways: all manifests of an answer must fit into it; default 100 MiB [env: `ARGOCD_GRPC_MAX_SIZE_MB`,
    /// in MiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) message_bytes_max: Option<u64>,

    /// Bytes of one archive as it is sent
    #[arg(long, value_name = "BYTES", env = "TIPHYS_PACKED_BYTES_MAX", default_value_t = tiphys_cmp::PACKED_BYTES_MAX, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) packed_bytes_max: u64,

    /// Bytes of all trees, in use or kept for the next call. Uploads wait while trees in use leave too little; a single tree may have more
    #[arg(long, value_name = "BYTES", env = "TIPHYS_STORE_BYTES_MAX", default_value_t = GIB, value_parser = clap::value_parser!(u64))]
    pub(crate) store_bytes_max: u64,

    /// Trees that are kept for the next call
    #[arg(long, value_name = "N", env = "TIPHYS_STORE_TREES_MAX", default_value_t = 64)]
    pub(crate) store_trees_max: u32,

    /// Archives that are unpacked at once; others wait for their turn
    #[arg(long, value_name = "N", env = "TIPHYS_UNPACKING_MAX", default_value_t = tiphys_cmp::UNPACKING_MAX as u64, value_parser = clap::value_parser!(u64).range(1..=256))]
    pub(crate) unpacking_max: u64,

    /// Runs that may wait for one of `--jobs`; one more is refused
    #[arg(long, value_name = "N", env = "TIPHYS_PLUGIN_QUEUE_MAX", default_value_t = 1_000)]
    pub(crate) plugin_queue_max: u32,

    /// How long a run may wait for its turn before it is refused, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_PLUGIN_QUEUE_WAIT", default_value_t = 90, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) plugin_queue_wait: u64,

    /// Connections that are open at once; further callers wait until one ends
    #[arg(long, value_name = "N", env = "TIPHYS_CONNECTIONS_MAX", default_value_t = tiphys_cmp::CONNECTIONS_MAX)]
    pub(crate) connections_max: NonZeroU32,

    /// How long a new connection may take to send its HTTP/2 preface and its first frame, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_CONNECTION_PREFACE_MAX", default_value_t = tiphys_cmp::PREFACE_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) connection_preface_max: u64,

    /// How long a connection may be without a call, in seconds; pings are no calls
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_CONNECTION_IDLE_MAX", default_value_t = tiphys_cmp::IDLE_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) connection_idle_max: u64,

    /// How long a sender may send nothing in the middle of an archive, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_UPLOAD_STALL_MAX", default_value_t = tiphys_cmp::STALL_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) upload_stall_max: u64,

    /// The same while other archives wait to be unpacked, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_UPLOAD_STALL_CROWDED_MAX", default_value_t = tiphys_cmp::CROWDED_STALL_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) upload_stall_crowded_max: u64,

    /// How long calls that are running may go on after SIGTERM, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_SHUTDOWN_GRACE", default_value_t = tiphys_cmp::GRACE.as_secs(), value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) shutdown_grace: u64,

    /// Time between two checks that the socket and the resource limits are still the server's own, in seconds; where one is not, the
    /// server ends with exit code 20
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_SELF_CHECK_INTERVAL", default_value_t = SELF_CHECK_INTERVAL.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) self_check_interval: u64,
}

const GIB: u64 = 1024 * 1024 * 1024;

/// Levels of logs, with the words that Argo CD takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevelArg {
    Trace,
    Debug,
    // A value of Helm that is not set.
    #[value(alias = "")]
    Info,
    #[value(alias = "warning")]
    Warn,
    // There, the last two leave out errors, which nobody can want of a server.
    #[value(aliases = ["fatal", "panic"])]
    Error,
}

/// Forms of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormatArg {
    #[value(alias = "")]
    Json,
    Text,
}

fn boolean(text: &str) -> Result<bool, String> {
    tiphys_api::parse_bool(text).ok_or_else(|| "write true or false".to_owned())
}

/// A number from 0 to 1.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "write a number from 0 to 1".to_owned())
}

/// An address to listen on; no name is looked up.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let unread =
        || "write PORT, ADDR:PORT or :PORT; ADDR is an IP address, one of version 6 in brackets".to_owned();
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if let Some(port) = text.strip_prefix(':') {
        // Linux takes callers of version 4 there, too.
        return port.parse().map(|port: u16| SocketAddr::from(([0_u16; 8], port))).map_err(|_| unread());
    }
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local.as_deref().unwrap_or(text).parse().map_err(|_| unread())
}

#[cfg(test)]
mod tests;
