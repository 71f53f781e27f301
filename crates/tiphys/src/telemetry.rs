//! Logs on standard error.
//!
//! Commands log sentences for users. The plugin server writes lines in the format of Argo CD's servers, for existing log collectors. No
//! log contains values of an environment or a manifest at any level.

mod server_log;

use tiphys_plugin::COMMAND_LOG;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::progress::stderr;
use crate::settings::Process;
use crate::terminal::Lines;

pub(crate) use server_log::{LogFormat, LogLine, Severity, rfc3339, time_in};

use server_log::ServerLog;

/// The variable with a filter in the syntax of `tracing-subscriber`. It overrides options.
const FILTER_VARIABLE: &str = "TIPHYS_LOG";

/// Sets up the logs of commands: warnings, more with `-v`.
pub(crate) fn for_commands(verbose: u8, host: &Process) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    // Users get the results of commands. The single commands are logged only if the variable enables them.
    let filter = host
        .variable(FILTER_VARIABLE)
        .map_or_else(|| EnvFilter::new(format!("{level},{COMMAND_LOG}=off")), EnvFilter::new);
    tracing_subscriber::fmt()
        .with_env_filter(without_secrets(filter))
        .with_writer(stderr)
        // Its report of a failed write would be another one, which panics.
        .log_internal_errors(false)
        .with_ansi(host.stderr_is_styled())
        .event_format(Lines)
        .init();
}

/// Disables the logs of the HTTP client's libraries. They may contain the bytes of requests, including credentials. The Kubernetes client's
/// contain paths of objects, and it and the verifier of certificates repeat the errors that they return.
fn without_secrets(filter: EnvFilter) -> EnvFilter {
    ["reqwest=warn", "hyper=warn", "hyper_util=warn", "kube_client=off", "rustls_platform_verifier=off"]
        .iter()
        .filter_map(|directive| directive.parse().ok())
        .fold(filter, EnvFilter::add_directive)
}

/// Sets up the logs of servers.
pub(crate) fn for_server(level: LevelFilter, format: LogFormat, host: &Process) {
    // Libraries log frames and sockets at debug level, which is included at trace level only.
    let others = if level == LevelFilter::TRACE { LevelFilter::DEBUG } else { level.min(LevelFilter::WARN) };
    let filter = host
        .variable(FILTER_VARIABLE)
        .map_or_else(|| EnvFilter::new(format!("{others},tiphys={level}")), EnvFilter::new);
    let filter = without_secrets(filter);
    let lines = ServerLog::new(format, std::io::stderr).with_filter(filter);
    tracing_subscriber::registry().with(lines).init();
}
