//! The program's entry point: runs one command and prints its result.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use tiphys_process::{NOT_FOUND_CODE, chain, escape_text};
use tokio::runtime::Builder;

use crate::announce::AnnounceError;
use crate::call::{Call, Role};
use crate::edits::{Change, ParameterError};
use crate::git::GitError;
use crate::helm::HelmError;
use crate::kustomization::KustomizationError;
use crate::kustomize::KustomizeError;
#[cfg(doc)]
use crate::{GIT_PROGRAM, HELM_PROGRAM};
use crate::{announce, edits, git, helm, kustomization, kustomize};

/// Exit code of invalid usage.
const USAGE_CODE: u8 = 2;

/// Exit code of failures of the plugin itself.
const FAILED_CODE: u8 = 1;

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("expected `generate` or `announce`")]
    Usage,
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[error(transparent)]
    Kustomize(#[from] KustomizeError),
    #[error(transparent)]
    Announce(#[from] AnnounceError),
    #[error(transparent)]
    Kustomization(#[from] KustomizationError),
    #[error(transparent)]
    Helm(#[from] HelmError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
}

/// Runs the program with this process's arguments and environment, and returns its exit code.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Must be first: a child process starts as this program.
    if let Some(code) = tiphys_process::pdeathsig_main(&arguments) {
        return ExitCode::from(code);
    }
    run(arguments)
}

/// Runs the program with these arguments, the program's name first, and this process's environment. `generate` prints manifests,
/// `announce` the parameters that depend on the kustomization as JSON. Under the names [`HELM_PROGRAM`] and [`GIT_PROGRAM`] the program checks
/// the arguments and runs helm or git.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let call = Call::of_process(arguments);
    match output(&call) {
        Ok(output) => match io::stdout().lock().write_all(&output) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => report(&Failure::Output(error)),
            _ => ExitCode::SUCCESS,
        },
        Err(failure) => report(&failure),
    }
}

fn output(call: &Call) -> Result<Vec<u8>, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Failure::Runtime)?;
    match call.role {
        Role::Plugin => {}
        Role::Helm => return Ok(runtime.block_on(helm::run(call))?),
        Role::Git => return Ok(runtime.block_on(git::run(call))?),
    }
    match call.arguments.as_slice() {
        [command] if command == "generate" => runtime.block_on(generate(call)),
        [command] if command == "announce" => Ok(runtime.block_on(announce::announce(call))?),
        _ => Err(Failure::Usage),
    }
}

async fn generate(call: &Call) -> Result<Vec<u8>, Failure> {
    let edits = edits::of_parameters(call.variable(tiphys_model::params::APP_PARAMETERS))?;
    let kustomize = kustomize::Kustomize::new(call, edits.version.as_deref()).await?;
    for change in &edits.changes {
        match change {
            Change::Edit(arguments) => kustomize.edit(arguments).await?,
            Change::Patches(patches) => kustomization::append_patches(&call.folder, patches)?,
            Change::Components { paths, ignore_missing } => {
                let (_, app_path) = kustomization::application(call)?;
                let paths = kustomization::components(&call.folder, &app_path, paths, *ignore_missing)?;
                if let Some(arguments) = kustomization::add_components(&paths) {
                    kustomize.edit(&arguments).await?;
                }
            }
        }
    }
    // A component or patch must not lead out of the repository either.
    if edits.changes.iter().any(|change| !matches!(change, Change::Edit(_))) {
        kustomization::check(call)?;
    }
    Ok(kustomize.build(&edits.helm).await?)
}

/// Prints a failure, with what kustomize, helm or git printed about it first.
fn report(failure: &Failure) -> ExitCode {
    let failed = match failure {
        Failure::Kustomize(KustomizeError::Failed(failed))
        | Failure::Announce(AnnounceError::Kustomize(KustomizeError::Failed(failed)))
        | Failure::Helm(HelmError::Failed(failed))
        | Failure::Git(GitError::Failed(failed)) => Some(failed),
        _ => None,
    };
    let (text, code) = match (failed, failure) {
        (Some(failed), _) => (failed.message(), failed.code),
        (None, failure) => (format!("kustomize plugin: {}\n", escape_text(&chain(failure))), code(failure)),
    };
    // stderr may be closed.
    drop(io::stderr().lock().write_all(text.as_bytes()));
    ExitCode::from(code)
}

fn code(failure: &Failure) -> u8 {
    match failure {
        Failure::Usage => USAGE_CODE,
        Failure::Helm(HelmError::NotFound(_))
        | Failure::Kustomize(KustomizeError::NotFound(_))
        | Failure::Announce(AnnounceError::Kustomize(KustomizeError::NotFound(_))) => NOT_FOUND_CODE,
        _ => FAILED_CODE,
    }
}
