//! Failures as callers see them: codes by `spec/cmp.md` 1.7, words by 3.1, 5 and 6.

use std::io::{self, ErrorKind};
use std::path::Path;

use tiphys_plugin::{EnvironmentError, Phase, PluginError, RunError, chain};
use tonic::{Code, Status};

use crate::metrics::{Method, Refusal};

/// What stands for the server's own folder in texts.
const WORK_DIR: &str = "<workdir>";

/// The answer to a call whose plugin failed.
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
    Status::new(code, format!("{call}: {}", cause(error)))
}

/// The bound that a plugin's failure is about, if it is about one. That of the queue is counted where it is kept.
pub(super) fn bound(error: &PluginError) -> Option<Refusal> {
    match error {
        PluginError::Environment(EnvironmentError::Nul { .. }) => None,
        PluginError::Environment(_) => Some(Refusal::Environment),
        PluginError::OutputTooLarge { .. } => Some(Refusal::Output),
        _ => None,
    }
}

/// What went wrong, in Argo CD's words where it has some.
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
    // Our own word for the phase begins the text; Argo CD has others.
    let rest = match error {
        PluginError::Run { source: RunError::Start { program, source }, .. } => not_started(program, source),
        _ => text.strip_prefix(&format!("{phase}: ")).unwrap_or(&text).to_owned(),
    };
    match (phase, is_output) {
        (Phase::Init | Phase::Generate, false) => rest,
        (Phase::Init | Phase::Generate, true) => format!("failed to unmarshal manifest: {rest}"),
        (Phase::Find, _) => format!("error running find command: {rest}"),
        (Phase::Announce, false) => format!("error executing dynamic parameter output command: {rest}"),
        (Phase::Announce, true) => {
            format!("error unmarshaling dynamic parameter output into ParametersAnnouncementResponse: {rest}")
        }
    }
}

/// A command that could not be started, in Go's words (`spec/cmp.md` 6.5); what we know beyond them follows.
fn not_started(program: &str, error: &io::Error) -> String {
    let said = error.to_string();
    if error.kind() == ErrorKind::InvalidInput {
        return said;
    }
    if said.starts_with("executable file not found") {
        return format!("exec: {program:?}: {said}");
    }
    // Go has the system's words without a capital and without the number.
    let said = said.split(" (os error ").next().unwrap_or_default();
    let mut letters = said.chars();
    let said: String =
        letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect();
    let words = match error.kind() {
        ErrorKind::NotFound => "no such file or directory",
        ErrorKind::PermissionDenied => "permission denied",
        _ => "",
    };
    let joined = if said.starts_with(words) { said } else { format!("{words}: {said}") };
    format!("fork/exec {program}: {joined}")
}

/// An answer that is larger than a message may be; Go's words.
pub(super) fn answer_too_large(bytes: usize, bytes_max: usize) -> Status {
    Status::resource_exhausted(format!(
        "grpc: trying to send message larger than max ({bytes} vs. {bytes_max} bytes); see ARGOCD_GRPC_MAX_SIZE_MB"
    ))
}

/// A failure without the path of the server's folder, which differs between servers and means nothing to who reads it.
pub(super) fn without_work_dir(status: Status, work_dir: Option<&Path>) -> Status {
    match work_dir.and_then(Path::to_str) {
        Some(dir) if status.message().contains(dir) => {
            Status::new(status.code(), status.message().replace(dir, WORK_DIR))
        }
        _ => status,
    }
}

#[cfg(test)]
mod tests;
