//! Settings of the plugin server: flags, then Argo CD's variables, then defaults.
//!
//! The parser rejects invalid flags. An invalid variable is logged and ignored, so that a setup that starts under Argo CD starts here.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use tiphys_cmp::Server;
use tiphys_model::limits::{Limit, Limits};
use tiphys_plugin::config::check::SOCKET_DIR;
use tiphys_plugin::{HomeFolder, Strictness};
use tiphys_service::ServiceOptions;
use tiphys_tree::StoreBounds;
use tiphys_tree::archive::ArchiveLimits;
use tracing_subscriber::filter::LevelFilter;

use super::descriptors::connections_that_fit;
use crate::args::{CmpServerArgs, LogFormatArg, LogLevelArg};
use crate::go_values;
use crate::settings::Process;
use crate::telemetry::LogFormat;

/// Name of the directory below the work directory. Each server has a directory of its own in it.
const WORKDIR_NAME: &str = "tiphys-cmp-server";

/// Settings of the server.
#[derive(Clone, Debug)]
pub(super) struct ServerSettings {
    /// The plugin's file.
    pub(super) config: PathBuf,
    pub(super) socket_dir: PathBuf,
    pub(super) workdir: PathBuf,
    pub(super) log_level: LevelFilter,
    pub(super) log_format: LogFormat,
    pub(super) metrics_address: Option<SocketAddr>,
    /// Limit of a call without a deadline.
    pub(super) call_timeout: Duration,
    pub(super) message_bytes_max: usize,
    pub(super) archive: ArchiveLimits,
    pub(super) store: StoreBounds,
    /// Limit of archives that are unpacked concurrently.
    pub(super) unpacking_max: usize,
    /// Limit of concurrent runs.
    pub(super) runs_max: usize,
    /// Limit of runs that wait for a slot.
    pub(super) queue_max: usize,
    pub(super) queue_wait_max: Duration,
    pub(super) connections_max: NonZeroU32,
    pub(super) preface_max: Duration,
    pub(super) idle_max: Duration,
    pub(super) stall_max: Duration,
    pub(super) crowded_stall_max: Duration,
    pub(super) grace: Duration,
    /// Time between two checks of the server by itself.
    pub(super) self_check_interval: Duration,
    /// Which `HOME` runs get.
    pub(super) home: HomeFolder,
    /// Whether to reject or log what the proposal forbids and Argo CD accepts.
    pub(super) strictness: Strictness,
    /// Messages about invalid variables.
    pub(super) warnings: Vec<String>,
}

impl ServerSettings {
    /// Reads the settings from the command line and the environment.
    pub(super) fn new(options: &ServiceOptions, verbose: u8, args: &CmpServerArgs, host: &Process) -> Self {
        let limits = &options.limits;
        let mut variables = Variables { host, warnings: Vec::new() };
        if !args.ignored.is_empty() {
            // The arguments are not printed: a space may have separated a credential from its flag.
            variables.warnings.push(format!(
                "{} of the arguments belong to no flag and are ignored; write boolean flags with \"=\": --otlp-insecure=false",
                args.ignored.len()
            ));
        }
        let otlp = [
            &args.otlp_address,
            &args.otlp_insecure,
            &args.otlp_headers,
            &args.otlp_attrs,
            &args.otlp_sample_ratio,
        ];
        let is_flag = otlp.into_iter().flatten().any(|value| !value.is_empty());
        if is_flag || host.variable("ARGOCD_CMP_SERVER_OTLP_ADDRESS").is_some() {
            let warning =
                "traces are not exported: --otlp-* and ARGOCD_CMP_SERVER_OTLP_ADDRESS have no effect";
            variables.warnings.push(warning.to_owned());
        }
        let log_level =
            variables.choose(args.loglevel, "ARGOCD_CMP_SERVER_LOGLEVEL", "a log level", "info", value);
        let log_format =
            variables.choose(args.logformat, "ARGOCD_CMP_SERVER_LOGFORMAT", "a log format", "json", value);
        let call_timeout = variables.choose(
            limits.given(Limit::PLUGIN_TIMEOUT).map(Duration::from_secs),
            "ARGOCD_EXEC_TIMEOUT",
            "a duration above 0",
            "90s",
            |text| go_values::duration(text).filter(|timeout| !timeout.is_zero()),
        );
        let message_bytes_max = variables.choose(
            limits.given(Limit::MESSAGE_BYTES_MAX),
            "ARGOCD_GRPC_MAX_SIZE_MB",
            "a number of MiB from 0 to 2147483647",
            "100",
            |text| {
                Some(u64::from(text.parse::<u32>().ok().filter(|&mib| mib <= i32::MAX.unsigned_abs())?) * MIB)
            },
        );
        let strict = variables.choose(
            None,
            "TIPHYS_CMP_STRICT",
            "true or false",
            "true",
            tiphys_model::resources::parse_bool,
        );
        let workdir = args.workdir.as_ref().map(|dir| host.absolute(dir));
        let workdir = workdir
            .or_else(|| host.variable("ARGOCD_CMP_WORKDIR").map(|dir| host.absolute(dir)))
            .unwrap_or_else(|| host.temporary_dir());
        let config = host.absolute(&args.config_dir_path);
        Self {
            config: if config.is_dir() { config.join("plugin.yaml") } else { config },
            socket_dir: options.plugin_socket_dir(host).unwrap_or_else(|| PathBuf::from(SOCKET_DIR)),
            workdir: workdir.join(WORKDIR_NAME),
            log_level: level(log_level.unwrap_or(LogLevelArg::Info), verbose),
            log_format: log_format.unwrap_or(LogFormatArg::Json).format(),
            metrics_address: args.metrics_address,
            call_timeout: call_timeout.unwrap_or_else(|| limits.duration(Limit::PLUGIN_TIMEOUT)),
            message_bytes_max: message_bytes_max
                .map_or(tiphys_cmp::MESSAGE_BYTES_MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            archive: ArchiveLimits {
                packed_bytes_max: limits.get(Limit::PACKED_BYTES_MAX),
                entries_max: limits.given(Limit::TREE_ENTRIES_MAX).unwrap_or(tiphys_cmp::ENTRIES_MAX),
                bytes_max: limits.get(Limit::TREE_BYTES_MAX),
            },
            store: StoreBounds {
                bytes_max: limits.get(Limit::STORE_BYTES_MAX),
                trees_max: limits.size(Limit::STORE_TREES_MAX),
            },
            unpacking_max: limits.size(Limit::UNPACKING_MAX),
            runs_max: limits
                .given(Limit::JOBS)
                .map_or_else(|| runs_max(host.processors), |_| limits.size(Limit::JOBS)),
            queue_max: limits.size(Limit::PLUGIN_QUEUE_MAX),
            queue_wait_max: limits.duration(Limit::PLUGIN_QUEUE_WAIT),
            connections_max: connections_max(limits),
            preface_max: limits.duration(Limit::CONNECTION_PREFACE_MAX),
            idle_max: limits.duration(Limit::CONNECTION_IDLE_MAX),
            stall_max: limits.duration(Limit::UPLOAD_STALL_MAX),
            crowded_stall_max: limits.duration(Limit::UPLOAD_STALL_CROWDED_MAX),
            grace: limits.duration(Limit::SHUTDOWN_GRACE),
            self_check_interval: limits.duration(Limit::SELF_CHECK_INTERVAL),
            home: if args.private_home { HomeFolder::Private } else { HomeFolder::Shared },
            strictness: if strict.unwrap_or(true) { Strictness::Refuse } else { Strictness::Log },
            warnings: variables.warnings,
        }
    }

    /// Lowers the number of connections to what this limit of open files permits.
    pub(super) fn with_descriptors(mut self, descriptors_max: Option<u64>) -> Self {
        let asked = self.connections_max;
        self.connections_max = connections_that_fit(asked, self.runs_max, descriptors_max);
        if let Some(descriptors_max) = descriptors_max.filter(|_| self.connections_max < asked) {
            self.warnings.push(format!(
                "limit connections-max: {} of {asked} connections are accepted at once, because this process may open {descriptors_max} files and {} \
                      runs need some; raise the limit (ulimit -n)",
                self.connections_max, self.runs_max
            ));
        }
        self
    }

    /// How long the server may take to shut down: its calls, then the processes that they left behind.
    pub(super) fn shutdown_max(&self, options: &ServiceOptions) -> Duration {
        /// For steps without a limit, such as removing directories.
        const RESERVE: Duration = Duration::from_secs(1);
        Server::shutdown_max(self.grace) + options.run_limits().grace + RESERVE
    }
}

const MIB: u64 = 1024 * 1024;

/// Returns the maximum number of connections. The limit's range leaves out 0.
fn connections_max(limits: &Limits) -> NonZeroU32 {
    let connections = u32::try_from(limits.get(Limit::CONNECTIONS_MAX)).ok().and_then(NonZeroU32::new);
    connections.unwrap_or(NonZeroU32::MAX)
}

/// Plugin runs of a server at once. Runs that wait for a vault or a registry need no processor, and Argo CD's server has no limit. Runs that compute share the processors,
/// and each needs memory.
pub(crate) fn runs_max(processors: usize) -> usize {
    /// Runs for each processor.
    const RUNS: usize = 8;
    /// Minimum, for small containers.
    const RUNS_MIN: usize = 16;
    processors.saturating_mul(RUNS).max(RUNS_MIN)
}

/// Reads variables and collects messages about invalid ones.
struct Variables<'a> {
    host: &'a Process,
    warnings: Vec<String>,
}

impl Variables<'_> {
    /// The flag's value, else the variable's if it is valid.
    fn choose<T>(
        &mut self,
        flag: Option<T>,
        name: &str,
        wanted: &str,
        default: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if flag.is_some() {
            return flag;
        }
        let text = self.host.variable(name)?;
        let value = read(text);
        if value.is_none() {
            self.warnings.push(format!("{name}: {text:?} is not {wanted}; using the default {default}"));
        }
        value
    }
}

/// Parses a value of an enumerated flag.
fn value<T: clap::ValueEnum>(text: &str) -> Option<T> {
    T::from_str(text, true).ok()
}

/// Returns the more verbose of `--loglevel` and `-v`, which the other commands have.
fn level(asked: LogLevelArg, verbose: u8) -> LevelFilter {
    let verbose = match verbose {
        0 => LevelFilter::ERROR,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    asked.filter().max(verbose)
}

#[cfg(test)]
mod tests;
