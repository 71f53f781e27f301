//! The gRPC status of failures, with the codes and messages of Argo CD's plugin server.

use std::io::{self, ErrorKind};
use std::path::Path;

use tiphys_plugin::{EnvironmentError, PROGRAM_NOT_FOUND, Phase, PluginError, RunError, chain};
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};

use crate::ABOVE_LIMIT_KEY;
use crate::metrics::{Method, Refusal};

/// Replaces the server's own directory in messages.
const WORK_DIR: &str = "<workdir>";

/// Returns the status for a failed plugin.
pub(super) fn status(method: Method, error: &PluginError) -> Status {
    let code = match error {
        PluginError::DeadlineExceeded { .. } | PluginError::DeadlineInQueue { .. } => Code::DeadlineExceeded,
        PluginError::Cancelled => Code::Cancelled,
        PluginError::Busy { .. } => Code::ResourceExhausted,
        _ => Code::Unknown,
    };
    let call = match method {
        Method::GenerateManifest => "error generating manifests",
        Method::CheckPluginConfiguration => "check plugin configuration error",
        Method::MatchRepository => "match repository error",
        Method::GetParametersAnnouncement => "get parameters announcement error",
    };
    let mut status = Status::new(code, format!("{call}: {}", cause(error)));
    if error.is_above_announcement_limit() {
        status.metadata_mut().insert(ABOVE_LIMIT_KEY, MetadataValue::from_static("true"));
    }
    status
}

/// Returns the limit that a plugin's failure exceeded, for the metrics. The limits of the queue are counted by
/// [`Metrics`](crate::metrics::Metrics) itself.
pub(super) fn exceeded_limit(error: &PluginError) -> Option<Refusal> {
    match error {
        PluginError::Environment(EnvironmentError::Nul { .. }) => None,
        PluginError::Environment(_) => Some(Refusal::Environment),
        PluginError::OutputTooLarge { .. } => Some(Refusal::Output),
        _ => None,
    }
}

/// Returns the cause, in Argo CD's words if it has some.
fn cause(error: &PluginError) -> String {
    let text = chain(error);
    let (phase, is_output) = match error {
        PluginError::Command { phase, .. }
        | PluginError::DeadlineExceeded { phase, .. }
        | PluginError::OutputTooLarge { phase, .. }
        | PluginError::Run { phase, .. } => (*phase, false),
        PluginError::Output { phase, .. } => (*phase, true),
        _ => return text,
    };
    // The message begins with the name of the phase, for which Argo CD has other words.
    let rest = match error {
        PluginError::Run { source: RunError::Start { program, source }, .. } => not_started(program, source),
        _ => text.strip_prefix(&format!("{phase}: ")).unwrap_or(&text).to_owned(),
    };
    match (phase, is_output) {
        // The server does not explain parameters.
        (Phase::Init | Phase::Generate | Phase::Explain, false) => rest,
        (Phase::Init | Phase::Generate | Phase::Explain, true) => {
            format!("failed to unmarshal manifest: {rest}")
        }
        (Phase::Find, _) => format!("error running find command: {rest}"),
        (Phase::Announce, false) => format!("error executing dynamic parameter output command: {rest}"),
        (Phase::Announce, true) => {
            format!("error unmarshaling dynamic parameter output into ParametersAnnouncementResponse: {rest}")
        }
    }
}

/// Returns why a command could not be started, in Go's words, followed by more detail.
fn not_started(program: &str, error: &io::Error) -> String {
    let message = error.to_string();
    if error.kind() == ErrorKind::InvalidInput {
        return message;
    }
    if message == PROGRAM_NOT_FOUND {
        return format!("exec: {program:?}: {message}");
    }
    // Go prints the system's message in lower case and without the number.
    let message = message.split(" (os error ").next().unwrap_or_default();
    let mut letters = message.chars();
    let message: String =
        letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect();
    let words = match error.kind() {
        ErrorKind::NotFound => "no such file or directory",
        ErrorKind::PermissionDenied => "permission denied",
        _ => "",
    };
    let joined = if message.starts_with(words) { message } else { format!("{words}: {message}") };
    format!("fork/exec {program}: {joined}")
}

/// The status of an answer that is larger than a message may be, in Go's words.
pub(super) fn answer_too_large(bytes: usize, bytes_max: usize) -> Status {
    Status::resource_exhausted(format!(
        "grpc: trying to send message larger than max ({bytes} vs. {bytes_max} bytes); see ARGOCD_GRPC_MAX_SIZE_MB"
    ))
}

/// The status of a call that the server cancels.
pub(super) fn shutting_down() -> Status {
    Status::unavailable("the plugin server is shutting down")
}

/// Removes the path of the server's directory, which differs between servers and means nothing to callers.
pub(super) fn without_work_dir(status: Status, work_dir: Option<&Path>) -> Status {
    match work_dir.and_then(Path::to_str) {
        Some(dir) if status.message().contains(dir) => {
            let message = status.message().replace(dir, WORK_DIR);
            Status::with_metadata(status.code(), message, status.metadata().clone())
        }
        _ => status,
    }
}

#[cfg(test)]
mod tests;
