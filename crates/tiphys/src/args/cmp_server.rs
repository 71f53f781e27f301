//! Arguments of `cmp-server`: those of Argo CD's plugin server, and limits that only tiphys has.
//!
//! Argo CD ignores invalid values of its variables, so `commands/cmp_server/settings.rs` reads these instead of the parser.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::LevelFilter;

use super::shared;
use crate::telemetry::LogFormat;

#[derive(Debug, Args)]
#[command(
    // As in Argo CD, the last of repeated flags wins.
    args_override_self = true,
    after_help = "Example, in two terminals:
  tiphys cmp-server --config-dir-path ./plugins/kustomize --plugin-sockets /tmp/sockets
  tiphys render --config pluginSockets=/tmp/sockets --repo .

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

    /// Folder for the socket; default: `/home/argocd/cmp-server/plugins` [env: `ARGOCD_PLUGINSOCKFILEPATH`]
    #[arg(long = "plugin-sockets", value_name = "DIR", id = "pluginSockets")]
    pub(crate) plugin_sockets: Option<PathBuf>,

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
    pub(crate) shared: shared::Server,
}

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

impl LogLevelArg {
    pub(crate) fn filter(self) -> LevelFilter {
        match self {
            Self::Trace => LevelFilter::TRACE,
            Self::Debug => LevelFilter::DEBUG,
            Self::Info => LevelFilter::INFO,
            Self::Warn => LevelFilter::WARN,
            Self::Error => LevelFilter::ERROR,
        }
    }
}

/// Log formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormatArg {
    #[value(alias = "")]
    Json,
    Text,
}

impl LogFormatArg {
    pub(crate) fn format(self) -> LogFormat {
        match self {
            Self::Json => LogFormat::Json,
            Self::Text => LogFormat::Text,
        }
    }
}

/// Parses an address to listen on. Names other than `localhost` are not resolved.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
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
