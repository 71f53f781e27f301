//! Git as kustomize calls it for bases in other repositories: `git fetch --depth=1 REPOSITORY REVISION`.
//!
//! The revision is a string of a kustomization, that of a remote base included (`?ref=…`), and kustomize does not separate it from options:
//! `--upload-pack=…` would be one that names a program. No revision begins with a dash, so such a call is refused.
//!
//! A repository gets the credentials that the Application's project has for it, and no others.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_model::project_rules::{GIT_ACCESS_VARIABLE, ProjectGitAccess};

use crate::call::{Call, CallError};
use crate::kustomize::FailedProgram;

/// The variable with the path of git.
pub(crate) const PROGRAM_VARIABLE: &str = "TIPHYS_KUSTOMIZE_GIT";

/// The option that kustomize itself passes to `git fetch`.
const DEPTH: &str = "--depth=1";

#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("git fetch: {} is refused: the revision of a base must not be an option", .0.display())]
    Option(OsString),
    #[error("{GIT_ACCESS_VARIABLE}: cannot read {}", path.display())]
    Access { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("failed")]
    Failed(FailedProgram),
}

/// Checks the arguments, runs git and returns its standard output.
pub(crate) async fn run(call: &Call) -> Result<Vec<u8>, GitError> {
    check(&call.arguments)?;
    let program = Path::new(call.variable(PROGRAM_VARIABLE).unwrap_or_default());
    let mut variables = call.variables.clone();
    variables.extend(access(call)?.into_iter().map(|(name, value)| (name.into(), value.into())));
    let output = call.run(program, &variables, &call.arguments).await?;
    FailedProgram::check(output).map_err(GitError::Failed)
}

/// Returns the variables with access to the repository of `git fetch`.
fn access(call: &Call) -> Result<Vec<(String, String)>, GitError> {
    let repository = match call.arguments.as_slice() {
        [command, words @ .., _revision] if command == "fetch" => words.last(),
        _ => None,
    };
    let (Some(repository), Some(path)) =
        (repository.and_then(|one| one.to_str()), call.variable(GIT_ACCESS_VARIABLE))
    else {
        return Ok(Vec::new());
    };
    let read = fs::read(path).and_then(|text| Ok(serde_json::from_slice::<ProjectGitAccess>(&text)?));
    let access = read.map_err(|source| GitError::Access { path: path.into(), source })?;
    Ok(access.variables(repository).to_vec())
}

fn check(arguments: &[OsString]) -> Result<(), GitError> {
    let words = match arguments.split_first() {
        Some((command, words)) if command == "fetch" => words,
        _ => return Ok(()),
    };
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-") && *word != DEPTH;
    words.iter().find(is_option).map_or(Ok(()), |word| Err(GitError::Option(word.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_kustomization_are_refused() {
        for (arguments, refused) in [
            (&["init"][..], None),
            (&["fetch", "--depth=1", "https://git.example.org/r.git", "HEAD"], None),
            (
                &["fetch", "--depth=1", "https://git.example.org/r.git", "--upload-pack=x"],
                Some("--upload-pack=x"),
            ),
            (&["fetch", "--depth=1", "https://git.example.org/r.git", "-u"], Some("-u")),
            (&["submodule", "update", "--init", "--recursive"], None),
        ] {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            let found = check(&arguments).err().map(|error| match error {
                GitError::Option(word) => word,
                error => panic!("{error}"),
            });
            assert_eq!(found, refused.map(Into::into), "{arguments:?}");
        }
    }
}
