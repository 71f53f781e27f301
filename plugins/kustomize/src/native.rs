//! The request to the program `tiphys-native` that has the same result as `generate`. Its messages are described in `native`.

use std::path::Path;

use serde_json::{Value, json};
use tiphys_model::params::APP_PARAMETERS;
use tiphys_tree::RepoPath;

use crate::edits::{self, Change};
use crate::kustomization::{self, KustomizationError};
use crate::kustomize::{BUILD_OPTIONS_VARIABLE, PROGRAM_VARIABLE, USER_PROGRAM_VARIABLE};

/// Options of `kustomize build` that run no program. The other ones need a process of their own.
const OPTIONS: [&str; 4] =
    ["--enable-helm", "--load-restrictor", "LoadRestrictionsNone", "LoadRestrictionsRootOnly"];

/// Returns the request for a call with these variables in the application's directory of a repository. `None` if it needs a process of its
/// own: the caller chose another kustomize than that of this version, `v1.2.3`, or something is invalid, which `generate` reports.
pub fn native_request(
    env: &[(String, String)],
    root: &Path,
    app_path: &RepoPath,
    version: &str,
) -> Option<Value> {
    let variable = |name: &str| {
        let found = env.iter().rfind(|(other, value)| other == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    };
    let edits = edits::of_parameters(variable(APP_PARAMETERS)).ok()?;
    let number = |version: &str| version.strip_prefix('v').unwrap_or(version).to_owned();
    let is_version = |wanted: &String| number(wanted) == number(version);
    let options: Vec<&str> =
        variable(BUILD_OPTIONS_VARIABLE).unwrap_or_default().split_ascii_whitespace().collect();
    let is_in_process =
        |option: &&str| OPTIONS.contains(&option.split_once('=').map_or(*option, |(name, _)| name));
    if [PROGRAM_VARIABLE, USER_PROGRAM_VARIABLE].into_iter().any(|name| variable(name).is_some())
        || !edits.version.as_ref().is_none_or(is_version)
        || !options.iter().all(is_in_process)
    {
        return None;
    }
    let root = root.canonicalize().ok()?;
    let folder = root.join(app_path.as_str()).canonicalize().ok()?;
    let changes =
        edits.changes.iter().filter_map(|change| self::change(change, &folder, app_path).transpose());
    let changes = changes.collect::<Result<Vec<Value>, _>>().ok()?;
    Some(json!({"kustomize": {"root": root, "folder": folder, "changes": changes, "options": options}}))
}

/// Returns a change as the program reads it; `None` if there is nothing to do.
fn change(change: &Change, folder: &Path, app_path: &RepoPath) -> Result<Option<Value>, KustomizationError> {
    Ok(match change {
        Change::Edit(arguments) => Some(json!({"edit": arguments})),
        Change::Patches(patches) => Some(json!({"patches": patches})),
        Change::Components { paths, ignore_missing } => {
            let paths = kustomization::components(folder, app_path, paths, *ignore_missing)?;
            kustomization::add_components(&paths).map(|arguments| json!({"edit": arguments}))
        }
    })
}
