//! What the program says of itself while it works: logs on standard error, and traces.
//!
//! Commands tell people what matters, in sentences. The plugin server writes lines as Argo CD's servers do, since what collects and reads
//! them is made for those. Nothing in a log is a value of an environment or a manifest, at no level.

mod server_log;
mod traces;

use tiphys_plugin::COMMAND_LOG;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::settings::Process;
use crate::terminal::Lines;

pub(crate) use server_log::{LogFormat, LogLine, Severity, time_in};
pub(crate) use traces::{TraceSettings, Traces};

use server_log::ServerLog;

/// The variable that says in the language of `tracing-subscriber` what is logged; it wins over options.
const FILTER_VARIABLE: &str = "TIPHYS_LOG";

/// Logs of commands: warnings for people, more with `-v`.
pub(crate) fn for_people(verbose: u8, host: &Process) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    // People are told of results, not of each command that gave one.
    let filter = host
        .variable(FILTER_VARIABLE)
        .map_or_else(|| EnvFilter::new(format!("{level},{COMMAND_LOG}=off")), EnvFilter::new);
    tracing_subscriber::fmt()
        .with_env_filter(without_secrets(filter))
        .with_writer(std::io::stderr)
        .with_ansi(host.stderr_is_styled())
        .event_format(Lines)
        .init();
}

/// Removes the logs of the HTTP client's libraries from a filter: they may contain the bytes of requests, with credentials in them.
fn without_secrets(filter: EnvFilter) -> EnvFilter {
    ["reqwest=warn", "hyper=warn", "hyper_util=warn"]
        .iter()
        .filter_map(|directive| directive.parse().ok())
        .fold(filter, EnvFilter::add_directive)
}

/// Logs of the plugin server, and its traces if there are any.
pub(crate) fn for_server(level: LevelFilter, format: LogFormat, traces: Option<&Traces>, host: &Process) {
    // What libraries tell is about frames and sockets: of interest only where everything is.
    let others = if level == LevelFilter::TRACE { LevelFilter::DEBUG } else { level.min(LevelFilter::WARN) };
    let filter = host
        .variable(FILTER_VARIABLE)
        .map_or_else(|| EnvFilter::new(format!("{others},tiphys={level}")), EnvFilter::new);
    let lines = ServerLog::new(format, std::io::stderr).with_filter(filter);
    let subscriber = tracing_subscriber::registry().with(lines);
    match traces {
        Some(traces) => subscriber.with(traces.layer()).init(),
        None => subscriber.init(),
    }
}
