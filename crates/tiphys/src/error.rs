//! Errors as the command line reports them: printed once, and mapped to exit codes.

use std::io::Write;
use std::process::ExitCode;

pub(crate) use tiphys_plugin::chain;
use tiphys_service::Remedy;
pub(crate) use tiphys_service::{ErrorKind, ServiceError};

use crate::terminal::message;

/// Returns the exit code of a kind of error.
pub(crate) const fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidInput | ErrorKind::NotFound => 2,
        ErrorKind::Rendering
        | ErrorKind::Forbidden
        | ErrorKind::LimitExceeded
        | ErrorKind::Unavailable
        | ErrorKind::DeadlineExceeded => 3,
        ErrorKind::Conflict => 4,
        ErrorKind::Bug => 70,
        ErrorKind::Interrupted => 130,
    }
}

/// Returns the exit code of the worst error, or success.
pub(crate) fn exit_code_of(worst: Option<ErrorKind>) -> ExitCode {
    worst.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(exit_code(kind)))
}

/// Prints an error and its hint on standard error.
pub(crate) fn print(error: &ServiceError) {
    let mut out = std::io::stderr().lock();
    // A closed standard error has no reader.
    drop(writeln!(out, "error: {}", message(error.message())));
    if let Some(hint) = hint(error) {
        drop(writeln!(out, "hint: {}", message(&hint)));
    }
}

/// Returns what to do about an error.
pub(crate) fn hint(error: &ServiceError) -> Option<String> {
    error.hint().map(str::to_owned).or_else(|| error.remedy().map(remedy_hint))
}

/// Returns the options that resolve an error. A limit has the name of its option.
fn remedy_hint(remedy: Remedy) -> String {
    let hint = match remedy {
        Remedy::ChangeLimit(limit) => return format!("--{} changes the limit", limit.name()),
        Remedy::AllowNetwork => "run once without --offline, or name a local folder with --repo URL=DIR",
        Remedy::UseCacheOnly => "--offline renders from the cache",
        Remedy::FetchAgain => "--refresh fetches the repository again",
        Remedy::ChangeCacheDirectory => "--cache-dir names another folder for the cache",
        Remedy::AddPlugins => {
            "--plugins names folders of plugins, --plugin-sockets the sockets of plugin servers"
        }
    };
    hint.to_owned()
}

/// Prints errors and returns the worst kind among them and `worst`.
pub(crate) fn print_all<'a>(
    errors: impl IntoIterator<Item = &'a ServiceError>,
    worst: Option<ErrorKind>,
) -> Option<ErrorKind> {
    errors.into_iter().fold(worst, |worst, error| {
        print(error);
        worst.max(Some(error.kind()))
    })
}

/// Prints an error and returns its exit code.
pub(crate) fn report(error: &ServiceError) -> ExitCode {
    print(error);
    ExitCode::from(exit_code(error.kind()))
}
