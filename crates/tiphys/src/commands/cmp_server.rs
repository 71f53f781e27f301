//! `tiphys cmp-server`: the plugin server under Argo CD's repo-server.

mod descriptors;
mod observed;
mod self_check;
mod settings;
mod start;

use std::process::ExitCode;

use tiphys_process::descriptors_max;

use crate::args::{CmpServerArgs, SharedOptions};
use crate::build;
use crate::error::{self, ErrorKind, ServiceError};
use crate::options::service_options;
use crate::settings::Process;
use crate::telemetry::{self, LogFormat, LogLine, Severity};

use settings::ServerSettings;
pub(crate) use settings::runs_max;

/// Exit code of a server that failed to start or to continue, as in Argo CD.
const FATAL_CODE: u8 = 20;

/// Serves one plugin until a signal arrives.
pub(crate) async fn run(shared: &SharedOptions, args: &CmpServerArgs, host: &Process) -> ExitCode {
    let options = match service_options(shared, host) {
        Ok(options) => options,
        // The settings of the log may be what is invalid.
        Err(failure) => return fatal(LogFormat::Json, &failure),
    };
    let settings =
        ServerSettings::new(&options, shared.verbose, args, host).with_descriptors(descriptors_max());
    telemetry::for_server(settings.log_level, settings.log_format, host);
    tracing::info!(
        version = build::VERSION,
        commit = build::COMMIT.unwrap_or_default(),
        "ArgoCD ConfigManagementPlugin Server is starting"
    );
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    match Box::pin(start::serve(&settings, &options, host)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.kind() == ErrorKind::Interrupted => {
            tracing::warn!("ended by a second signal before running calls were finished");
            ExitCode::from(error::exit_code(failure.kind()))
        }
        Err(failure) => fatal(settings.log_format, &failure),
    }
}

/// Reports an error in the arguments or variables to callers that started this program as `argocd-cmp-server`.
pub(crate) fn refused(text: &str) -> ExitCode {
    let message = text.lines().next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // --logformat may be what could not be parsed.
    fatal(LogFormat::Json, &ServiceError::invalid_input(message))
}

fn fatal(format: LogFormat, failure: &ServiceError) -> ExitCode {
    let message = failure.message();
    LogLine { severity: Severity::Fatal, message, fields: Vec::new() }.print(format);
    ExitCode::from(FATAL_CODE)
}
