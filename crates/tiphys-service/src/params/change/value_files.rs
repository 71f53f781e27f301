//! New value files of a chart, which must exist in the source.

use tiphys_engine::HELM_PLUGIN;
use tiphys_model::params::{Parameter, suggest};
use tiphys_render::SourceFiles;
use tiphys_tree::RepoPath;

use super::ParameterSource;
use crate::error::ServiceError;

/// The parameter with the list of value files.
const VALUE_FILES: &str = "value-files";

/// The parameter that permits missing files.
const IGNORE_MISSING: &str = "ignore-missing-value-files";

impl ParameterSource {
    /// Refuses a value file that is new in the list and does not exist in the source. Without its files, nothing is checked.
    pub(super) fn require_value_files(
        &self,
        before: &[Parameter],
        after: &[Parameter],
    ) -> Result<(), ServiceError> {
        let Some(announced) = &self.announced else { return Ok(()) };
        let Some(source_files) = announced.files.as_ref().filter(|_| self.plugin() == Some(HELM_PLUGIN))
        else {
            return Ok(());
        };
        let ignores = last(after, IGNORE_MISSING).and_then(|one| one.string.as_deref());
        if ignores == Some("true") {
            return Ok(());
        }
        let old = files(before);
        for file in files(after).iter().filter(|file| !old.contains(file) && is_plain_path(file)) {
            let from_root = file.starts_with('/').then(RepoPath::default);
            let folder = from_root.as_ref().unwrap_or(&announced.app_path);
            let trimmed = file.trim_start_matches('/');
            // A path out of the repository is reported by the plugin.
            let Ok(path) = folder.join(trimmed) else { continue };
            if !source_files.lack(&path) {
                continue;
            }
            let failure = ServiceError::invalid_input(format!(
                "{}: value-files: {file} does not exist in {}; {IGNORE_MISSING}=true accepts missing files",
                self.stored.full_name(),
                self.source().shown_repository()
            ));
            return Err(match similar(source_files, folder, trimmed).as_slice() {
                [] => failure,
                names => failure.with_hint(format!("did you mean {}?", names.join(" or "))),
            });
        }
        Ok(())
    }
}

fn last<'a>(parameters: &'a [Parameter], name: &str) -> Option<&'a Parameter> {
    parameters.iter().rfind(|parameter| parameter.name == name)
}

fn files(parameters: &[Parameter]) -> &[String] {
    last(parameters, VALUE_FILES).and_then(|one| one.array.as_deref()).unwrap_or_default()
}

/// Whether an entry is one path in the source: no URL, no file of another source, and without variables and patterns.
fn is_plain_path(file: &str) -> bool {
    !file.is_empty() && !file.contains("://") && !file.contains(['$', '*', '?', '[', '{'])
}

/// Returns the similar names in the directory, for a file that is directly in it.
fn similar(files: &SourceFiles, folder: &RepoPath, file: &str) -> Vec<String> {
    let names = files.names_in(folder);
    suggest(file, names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::is_plain_path;

    #[test]
    fn only_paths_in_the_source_are_checked() {
        for (file, expected) in [
            ("values.yaml", true),
            ("/env/prod.yaml", true),
            ("../shared.yaml", true),
            ("https://example.org/values.yaml", false),
            ("$values/prod.yaml", false),
            ("env/$ARGOCD_APP_NAME.yaml", false),
            ("env/*.yaml", false),
            ("env/{a,b}.yaml", false),
            ("", false),
        ] {
            assert_eq!(is_plain_path(file), expected, "{file}");
        }
    }
}
