//! Helm as kustomize calls it (`--enable-helm`): `version`, `pull` and `template` with options that kustomize itself writes.
//!
//! A kustomization, that of a remote base included, has strings that become words of helm's command line: a release name such as
//! `--post-renderer=sh` would be an option that runs a program, another one reads any file. So all other options are refused, and so are
//! paths outside of the repository and the directory for temporary files.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use tiphys_process::find_program;

use crate::call::{Call, CallError};
use crate::kustomize::{FOLDER_VARIABLE, FailedProgram};

/// The variable with the application's path in the repository.
const APP_PATH_VARIABLE: &str = "ARGOCD_APP_SOURCE_PATH";

/// Options of kustomize that have a value.
const WITH_VALUE: [&str; 8] = [
    "-f",
    "--namespace",
    "--name-template",
    "--api-versions",
    "--kube-version",
    "--repo",
    "--version",
    "--untardir",
];

/// Options of kustomize without a value.
const SWITCHES: [&str; 8] = [
    "--generate-name",
    "--include-crds",
    "--skip-tests",
    "--no-hooks",
    "--debug",
    "--devel",
    "--untar",
    "--short",
];

#[derive(Debug, thiserror::Error)]
pub(crate) enum HelmError {
    #[error("helm: {0} is refused: a string of the kustomization must not be an option")]
    Option(String),
    #[error("helm: {0} is refused: it leads out of the repository")]
    Outside(String),
    #[error("helm: {0:?} is not UTF-8")]
    NotUtf8(OsString),
    #[error("{program} was not found in PATH; install helm, or set TIPHYS_HELM", program = .0.display())]
    NotFound(PathBuf),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("failed")]
    Failed(FailedProgram),
}

/// Checks the arguments, runs helm and returns its standard output.
pub(crate) async fn run(call: &Call) -> Result<Vec<u8>, HelmError> {
    let folder = PathBuf::from(call.variable(FOLDER_VARIABLE).unwrap_or_default());
    let top = top_above(&folder, call.variable(APP_PATH_VARIABLE).unwrap_or_default());
    let temporary = PathBuf::from(call.variable("TMPDIR").unwrap_or("/tmp"));
    check(&call.arguments, &[top, temporary])?;
    let search_path = OsStr::new(call.variable("PATH").unwrap_or_default());
    let program = Path::new(call.variable("TIPHYS_HELM").unwrap_or("helm"));
    let program =
        find_program(program, search_path).ok_or_else(|| HelmError::NotFound(program.to_path_buf()))?;
    let output = call.run(&program, &call.variables, &call.arguments).await?;
    FailedProgram::check(output).map_err(HelmError::Failed)
}

/// Returns the top directory of the repository that the application of a call is in.
pub(crate) fn top_of_repository(call: &Call) -> PathBuf {
    top_above(&call.folder, call.variable(APP_PATH_VARIABLE).unwrap_or_default())
}

/// Returns the top directory of the repository: the nearest directory below which the application's path leads to its directory. Argo CD
/// cleans the path: empty components and `.` have no effect, and `..` removes the component before it. Links are followed.
fn top_above(folder: &Path, app_path: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in Path::new(app_path).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => drop(path.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    let leads_to_folder = |top: &&Path| top.join(&path).canonicalize().is_ok_and(|found| found == folder);
    let above = folder.ancestors().filter(|top| top.parent().is_some());
    above.into_iter().find(leads_to_folder).unwrap_or(folder).to_path_buf()
}

fn check(arguments: &[OsString], permitted: &[PathBuf]) -> Result<(), HelmError> {
    let permitted: Vec<PathBuf> = permitted.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut is_value = false;
    for word in arguments {
        let word = word.to_str().ok_or_else(|| HelmError::NotUtf8(word.clone()))?;
        if word.starts_with('/') && !permitted.iter().any(|top| real(Path::new(word)).starts_with(top)) {
            return Err(HelmError::Outside(word.to_owned()));
        }
        if is_value {
            is_value = false;
        } else if WITH_VALUE.contains(&word) {
            is_value = true;
        } else if word.starts_with('-') && !SWITCHES.contains(&word) {
            return Err(HelmError::Option(word.to_owned()));
        }
    }
    Ok(())
}

/// Returns a path without links. Its last component may not exist. A path of which more is missing leads nowhere.
fn real(path: &Path) -> PathBuf {
    let above = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    // A link to a missing file leads to where that would be.
    let missing = || (!path.is_symlink()).then(above)?;
    path.canonicalize().ok().or_else(missing).unwrap_or_default()
}

#[cfg(test)]
mod tests;
