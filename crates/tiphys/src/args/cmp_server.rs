//! Arguments of `cmp-server`: those of Argo CD's plugin server, and limits that only tiphys has.
//!
//! Argo CD ignores invalid values of its variables, so `commands/cmp_server/settings.rs` reads these instead of the parser.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::commands::cmp_server::SELF_CHECK_INTERVAL;

#[derive(Debug, Args)]
#[command(
    // As in Argo CD, the last of repeated flags wins.
    args_override_self = true,
    after_help = "Example, in two terminals:
  tiphys cmp-server --config-dir-path ./plugins/kustomize --plugin-sockets /tmp/sockets
  tiphys render --plugin-sockets /tmp/sockets --repo .

Started as `argocd-cmp-server`, or with that name in ARGOCD_BINARY_NAME, the program runs this command. If the server cannot start, it logs
the error and exits with 20. At SIGTERM or SIGINT it accepts no more calls, finishes the running ones, and exits with 0.
ARGOCD_GRPC_KEEP_ALIVE_MIN and ARGOCD_ENABLE_GRPC_TIME_HISTOGRAM have no effect: clients may ping at any rate, and the metrics always
include durations. With TIPHYS_CMP_STRICT=false, input that tiphys rejects and Argo CD accepts is accepted with a warning in the log."
)]
pub(crate) struct CmpServerArgs {
    /// Folder that holds plugin.yaml
    #[arg(long, value_name = "DIR", default_value = "/home/argocd/cmp-server/config")]
    pub(crate) config_dir_path: PathBuf,

    /// Install this program into a folder as `argocd-cmp-server`, with a link `argocd` for git, and exit; for init containers
    #[arg(long, value_name = "DIR")]
    pub(crate) install: Option<PathBuf>,

    /// Folder for received trees and private working copies; default: the folder for temporary files [env: `ARGOCD_CMP_WORKDIR`]
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,

    /// Log level; default `info` [env: `ARGOCD_CMP_SERVER_LOGLEVEL`]
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub(crate) loglevel: Option<LogLevelArg>,

    /// Log format; default `json` [env: `ARGOCD_CMP_SERVER_LOGFORMAT`]
    #[arg(long, value_name = "FORMAT", ignore_case = true)]
    pub(crate) logformat: Option<LogFormatArg>,

    /// Accepted as in Argo CD; traces are not exported, which a warning reports [env: `ARGOCD_CMP_SERVER_OTLP_ADDRESS`]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) otlp_address: Option<String>,

    /// Accepted as in Argo CD; traces are not exported
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) otlp_insecure: Option<String>,

    /// Accepted as in Argo CD; traces are not exported
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub(crate) otlp_headers: Option<String>,

    /// Accepted as in Argo CD; traces are not exported
    #[arg(long, value_name = "NAME:VALUE,…")]
    pub(crate) otlp_attrs: Option<String>,

    /// Accepted as in Argo CD; traces are not exported
    #[arg(long, value_name = "RATIO")]
    pub(crate) otlp_sample_ratio: Option<String>,

    /// Address of an HTTP server for `/metrics` (Prometheus format) and `/healthz`: PORT on the loopback address, ADDR:PORT, or :PORT on all
    /// addresses; default: no HTTP server
    #[arg(long, value_name = "ADDRESS", env = "TIPHYS_METRICS_ADDRESS", value_parser = listen_address)]
    pub(crate) metrics_address: Option<SocketAddr>,

    /// Give each run an empty `HOME` that is removed afterwards. By default, runs share the server's `HOME`, so that plugins can keep caches
    /// there
    #[arg(long, env = "TIPHYS_PRIVATE_HOME")]
    pub(crate) private_home: bool,

    /// Other arguments, which are ignored as in Argo CD
    #[arg(hide = true)]
    pub(crate) ignored: Vec<String>,

    #[command(flatten)]
    pub(crate) limits: ServerLimitArgs,
}

// Limits of the plugin server only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the server")]
pub(crate) struct ServerLimitArgs {
    /// Maximum size of a gRPC message in either direction, in bytes. All manifests of a response must fit; default 100 MiB [env: `ARGOCD_GRPC_MAX_SIZE_MB`,
    /// in MiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) message_bytes_max: Option<u64>,

    /// Maximum size of a received archive, in bytes
    #[arg(long, value_name = "BYTES", env = "TIPHYS_PACKED_BYTES_MAX", default_value_t = tiphys_cmp::PACKED_BYTES_MAX, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) packed_bytes_max: u64,

    /// Maximum total size of trees, used and cached, in bytes. Uploads wait while used trees leave too little space; a single tree may be
    /// larger
    #[arg(long, value_name = "BYTES", env = "TIPHYS_STORE_BYTES_MAX", default_value_t = GIB, value_parser = clap::value_parser!(u64))]
    pub(crate) store_bytes_max: u64,

    /// Maximum number of cached trees
    #[arg(long, value_name = "N", env = "TIPHYS_STORE_TREES_MAX", default_value_t = 64)]
    pub(crate) store_trees_max: u32,

    /// Maximum number of archives that are unpacked concurrently; others wait
    #[arg(long, value_name = "N", env = "TIPHYS_UNPACKING_MAX", default_value_t = tiphys_cmp::UNPACKING_MAX as u64, value_parser = clap::value_parser!(u64).range(1..=256))]
    pub(crate) unpacking_max: u64,

    /// Maximum number of runs that wait for one of `--jobs`; further ones are rejected
    #[arg(long, value_name = "N", env = "TIPHYS_PLUGIN_QUEUE_MAX", default_value_t = 1_000)]
    pub(crate) plugin_queue_max: u32,

    /// Maximum time that a run waits for one of `--jobs` before it is rejected, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_PLUGIN_QUEUE_WAIT", default_value_t = 90, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) plugin_queue_wait: u64,

    /// Maximum number of open connections; further clients wait
    #[arg(long, value_name = "N", env = "TIPHYS_CONNECTIONS_MAX", default_value_t = tiphys_cmp::CONNECTIONS_MAX)]
    pub(crate) connections_max: NonZeroU32,

    /// Timeout for the HTTP/2 preface and the first frame of a new connection, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_CONNECTION_PREFACE_MAX", default_value_t = tiphys_cmp::PREFACE_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) connection_preface_max: u64,

    /// Maximum time that a connection stays open without a call, in seconds; pings do not count as calls
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_CONNECTION_IDLE_MAX", default_value_t = tiphys_cmp::IDLE_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) connection_idle_max: u64,

    /// Maximum pause of a client within an archive, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_UPLOAD_STALL_MAX", default_value_t = tiphys_cmp::STALL_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) upload_stall_max: u64,

    /// Maximum pause of a client while other archives wait to be unpacked, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_UPLOAD_STALL_CROWDED_MAX", default_value_t = tiphys_cmp::CROWDED_STALL_MAX.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) upload_stall_crowded_max: u64,

    /// Maximum time that running calls continue after SIGTERM, in seconds
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_SHUTDOWN_GRACE", default_value_t = tiphys_cmp::GRACE.as_secs(), value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) shutdown_grace: u64,

    /// Interval of the checks that the socket and the resource limits are unchanged, in seconds. If one has changed, the server exits with
    /// code 20
    #[arg(long, value_name = "SECONDS", env = "TIPHYS_SELF_CHECK_INTERVAL", default_value_t = SELF_CHECK_INTERVAL.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) self_check_interval: u64,
}

const GIB: u64 = 1024 * 1024 * 1024;

/// Log levels with Argo CD's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevelArg {
    Trace,
    Debug,
    // A variable from an empty Helm value.
    #[value(alias = "")]
    Info,
    #[value(alias = "warning")]
    Warn,
    // In Argo CD, `fatal` and `panic` suppress errors.
    #[value(aliases = ["fatal", "panic"])]
    Error,
}

/// Log formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormatArg {
    #[value(alias = "")]
    Json,
    Text,
}

/// Parses an address to listen on. Names other than `localhost` are not resolved.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let unread = || {
        "write PORT, ADDR:PORT or :PORT; ADDR is an IP address; write an IPv6 address in brackets".to_owned()
    };
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if let Some(port) = text.strip_prefix(':') {
        // On Linux, the IPv6 wildcard address also accepts IPv4 clients.
        return port.parse().map(|port: u16| SocketAddr::from(([0_u16; 8], port))).map_err(|_| unread());
    }
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local.as_deref().unwrap_or(text).parse().map_err(|_| unread())
}

#[cfg(test)]
mod tests;
