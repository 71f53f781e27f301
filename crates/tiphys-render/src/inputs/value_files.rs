//! The files that a `helm` block names, and what a source names outside of all repositories.

use std::collections::BTreeMap;

use tiphys_model::access::{redact_url, url_scheme};
use tiphys_model::resources::{ApplicationSource, HelmSource};
use tiphys_tree::RepoPath;

use super::paths::PathCollector;

/// Characters of patterns in the paths of value files. Braces count only together with another one, which makes no difference here.
pub(super) const PATTERN_CHARACTERS: [char; 4] = ['*', '?', '[', '{'];

/// Returns what a source names outside of all repositories.
pub(super) fn outside_of_files(source: &ApplicationSource) -> Option<String> {
    if !source.dynamic_parameters().is_empty() || !source.annotated_parameters.is_empty() {
        return Some("it has dynamic parameters".to_owned());
    }
    let files = source.helm.as_ref().map(named_files).unwrap_or_default();
    let parameters = source.plugin.iter().flat_map(|block| block.parameters.iter().flatten());
    let values = parameters.flat_map(|parameter| {
        let array = parameter.array.iter().flatten();
        parameter.string.iter().chain(array).chain(parameter.map.iter().flat_map(BTreeMap::values))
    });
    let url = files.iter().chain(values).find(|value| url_scheme(value).is_some())?;
    Some(format!("{} is not in a repository", redact_url(url)))
}

/// Returns the files that a `helm` block names.
pub(super) fn named_files(block: &HelmSource) -> Vec<String> {
    let of_parameters = block.file_parameters.iter().map(|parameter| &parameter.path);
    block.value_files.iter().chain(of_parameters).cloned().collect()
}

/// Adds a value file, or the directory below which a pattern's files are.
pub(super) fn add_value_file(
    collector: &mut PathCollector<'_>,
    from: &RepoPath,
    file: &str,
) -> Result<(), String> {
    if file.contains(['$', '\\', '\n', '\r']) {
        return Err(format!("the value file {file:?} has a variable, an escape or a line break"));
    }
    if url_scheme(file).is_some() {
        return Ok(());
    }
    let from = if file.starts_with('/') { RepoPath::default() } else { from.clone() };
    let file = file.trim_start_matches('/');
    let literal = match file.find(PATTERN_CHARACTERS) {
        None => file,
        Some(pattern) if file[pattern..].contains("..") => {
            return Err(format!("the pattern {file:?} leads up"));
        }
        Some(pattern) => file[..pattern].rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let path = from.join(literal).map_err(|error| error.to_string())?;
    let reason = if literal == file { "a value file" } else { "files of a pattern" };
    collector.add(&path, reason).map(drop)
}
