use std::io::{Error, ErrorKind};
use std::path::Path;

use tiphys_model::limits::Limit;
use tiphys_plugin::{CommandFailure, Phase, PluginError, RunError};
use tonic::{Code, Status};

use super::{status, without_work_dir};
use crate::metrics::Method;

fn command(phase: Phase) -> PluginError {
    PluginError::Command {
        phase,
        command: "sh -c x".to_owned(),
        how: CommandFailure::Exited(9),
        stderr: "why".to_owned(),
    }
}

fn output(phase: Phase) -> PluginError {
    PluginError::Output { phase, message: "line 1: bad".to_owned() }
}

fn late(phase: Phase) -> PluginError {
    PluginError::DeadlineExceeded { phase, command: "x".to_owned(), stderr: "so far".to_owned() }
}

#[test]
fn plugin_failures_have_the_codes_and_words_of_argo_cd() {
    use Method::{GenerateManifest, GetParametersAnnouncement, MatchRepository};
    let cases = [
        (
            GenerateManifest,
            command(Phase::Init),
            Code::Unknown,
            "error generating manifests: `sh -c x` failed exit status 9: why",
        ),
        (
            GenerateManifest,
            command(Phase::Generate),
            Code::Unknown,
            "error generating manifests: `sh -c x` failed exit status 9: why",
        ),
        (
            GenerateManifest,
            output(Phase::Generate),
            Code::Unknown,
            "error generating manifests: failed to unmarshal manifest: line 1: bad",
        ),
        (
            GenerateManifest,
            late(Phase::Generate),
            Code::DeadlineExceeded,
            "error generating manifests: `x` did not end within its deadline: so far",
        ),
        (
            MatchRepository,
            command(Phase::Find),
            Code::Unknown,
            "match repository error: error running find command: `sh -c x` failed exit status 9: why",
        ),
        (
            GetParametersAnnouncement,
            command(Phase::Announce),
            Code::Unknown,
            "get parameters announcement error: error executing dynamic parameter output command: `sh -c x` failed exit status 9: why",
        ),
        (
            GetParametersAnnouncement,
            output(Phase::Announce),
            Code::Unknown,
            "get parameters announcement error: error unmarshaling dynamic parameter output into ParametersAnnouncementResponse: line 1: bad",
        ),
        (
            GenerateManifest,
            PluginError::Busy {
                runs_max: 2,
                bound: "9 wait already".to_owned(),
                limit: Limit::PLUGIN_QUEUE_MAX,
            },
            Code::ResourceExhausted,
            "error generating manifests: busy: all slots for plugin runs (2, limit jobs) are taken and 9 wait already (limit plugin-queue-max): try again later",
        ),
        (GenerateManifest, PluginError::Cancelled, Code::Cancelled, "error generating manifests: cancelled"),
    ];
    for (method, error, code, text) in cases {
        let status = status(method, &error);
        assert_eq!((status.code(), status.message()), (code, text), "{error:?}");
    }
}

#[test]
fn start_errors_have_the_words_of_go() {
    let cases = [
        (
            "bad-command",
            Error::new(ErrorKind::NotFound, "executable file not found in $PATH"),
            r#"exec: "bad-command": executable file not found in $PATH"#,
        ),
        ("./gone", Error::from_raw_os_error(2), "fork/exec ./gone: no such file or directory"),
        ("/a/b", Error::from_raw_os_error(13), "fork/exec /a/b: permission denied"),
        (
            "./plain",
            Error::new(ErrorKind::PermissionDenied, "permission denied: the file is not executable"),
            "fork/exec ./plain: permission denied: the file is not executable",
        ),
        (
            "./script",
            Error::new(ErrorKind::NotFound, "the interpreter in its first line (#!) does not exist"),
            "fork/exec ./script: no such file or directory: the interpreter in its first line (#!) does not exist",
        ),
        ("sh", Error::from_raw_os_error(11), "fork/exec sh: resource temporarily unavailable"),
        (
            "sh",
            Error::new(ErrorKind::InvalidInput, "argument 1 contains a NUL byte"),
            "argument 1 contains a NUL byte",
        ),
    ];
    for (program, source, expected) in cases {
        let source = RunError::Start { program: program.to_owned(), source };
        let error = PluginError::Run { phase: Phase::Generate, source };
        let status = status(Method::GenerateManifest, &error);
        assert_eq!(status.message(), format!("error generating manifests: {expected}"));
    }
}

#[test]
fn work_directory_is_removed_from_messages() {
    let status = Status::unknown("cannot make /work dir/x/session-1: full");
    let shown = without_work_dir(status, Some(Path::new("/work dir/x")));
    assert_eq!(shown.message(), "cannot make <workdir>/session-1: full");
    assert_eq!(shown.code(), Code::Unknown);
}
