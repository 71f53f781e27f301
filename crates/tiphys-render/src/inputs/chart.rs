//! Inputs of a chart in a repository.

use std::collections::BTreeSet;

use tiphys_go::versions::Version;
use tiphys_tree::RepoPath;
use tiphys_yaml::{Data, Node};

use super::paths::PathCollector;

/// The files that name dependencies.
const METADATA: [&str; 2] = ["Chart.yaml", "requirements.yaml"];

/// The file that hides files of a chart from helm.
const IGNORE: &str = ".helmignore";

/// The directory of a chart with its dependencies.
const CHARTS: &str = "charts";

/// Whether files of this name tell what a chart depends on.
pub(super) fn is_read(name: &str) -> bool {
    METADATA.contains(&name) || name == IGNORE
}

/// Adds a chart's directory, and the directories of dependencies with a `file://` address, recursively. Dependencies that helm fetches are
/// noted.
pub(super) fn add(collector: &mut PathCollector<'_>, folder: &RepoPath) -> Result<(), String> {
    let noted = note_fetched(collector, folder);
    let mut seen = BTreeSet::new();
    let mut waiting = vec![(folder.clone(), "the chart".to_owned())];
    while let Some((folder, reason)) = waiting.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        collector.add(&folder, &reason)?;
        for name in METADATA {
            let file = folder.join(name).map_err(|error| error.to_string())?;
            let Some(document) = collector.document(&file)? else { continue };
            let dependencies = document.all("dependencies").flat_map(items);
            for repository in dependencies.flat_map(|one| one.all("repository")) {
                if repository.as_str().is_some_and(|address| address.contains(char::is_control)) {
                    return Err(format!("{file}: a repository has a control character, which helm removes"));
                }
                let Some(path) = repository.as_str().and_then(|address| address.strip_prefix("file://"))
                else {
                    continue;
                };
                if path.starts_with('/') {
                    return Err(format!("{file} names a directory outside of the repository"));
                }
                let dependency = folder.join(path).map_err(|error| format!("{file}: {error}"))?;
                waiting.push((dependency, format!("a dependency in {file}")));
            }
        }
    }
    noted
}

/// Notes the dependencies of a chart that helm fetches. Dependencies of other charts are never built: they are in their directories, or the
/// chart is refused. The error is the reason why the whole revision counts.
pub(super) fn note_fetched(collector: &mut PathCollector<'_>, folder: &RepoPath) -> Result<(), String> {
    let mut dependencies = Vec::new();
    for name in METADATA {
        let file = folder.join(name).map_err(|error| error.to_string())?;
        let Some(document) = collector.document(&file)? else { continue };
        let listed = document.all("dependencies").flat_map(items);
        dependencies.extend(listed.map(|one| (file.clone(), one.clone())));
    }
    let Some((file, _)) = dependencies.iter().find(|(_, one)| is_remote(one)) else { return Ok(()) };
    // Helm fetches all of them unless each is in `charts`.
    if !dependencies.iter().all(|(_, one)| is_vendored(collector, folder, one)) {
        collector.depends_on_outside(|| format!("{file} has dependencies that helm fetches"));
    }
    Ok(())
}

/// Whether helm fetches a dependency that is not in `charts`.
fn is_remote(dependency: &Node) -> bool {
    let mut repositories = dependency.all("repository").filter(|repository| !repository.is_null());
    repositories.any(|repository| {
        repository.as_str().is_none_or(|address| !address.is_empty() && !address.starts_with("file://"))
    })
}

/// Whether a dependency is in `charts`: an archive or a directory with its name, which no pattern of `.helmignore` may hide.
fn is_vendored(collector: &mut PathCollector<'_>, chart: &RepoPath, dependency: &Node) -> bool {
    let names: Vec<Option<&str>> = dependency.all("name").map(Node::as_str).collect();
    let [Some(name)] = names[..] else { return false };
    // Helm skips entries of `charts` with other beginnings.
    if !name.starts_with(char::is_alphanumeric) || name.contains('/') {
        return false;
    }
    let is_archive = |entry: &&str| {
        let version = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".tgz"));
        let is_version = |text: &str| Version::parse(text).is_ok();
        // `db-1-2.0.0.tgz` may be version 2.0.0 of `db-1`.
        version.is_some_and(|version| is_version(version) && !version.split('-').skip(1).any(is_version))
    };
    let entries = chart.join(CHARTS).map(|charts| collector.names_in(&charts).unwrap_or_default());
    let archive = entries.unwrap_or_default().into_iter().find(is_archive);
    let file =
        archive.map_or(format!("{CHARTS}/{name}/{}", METADATA[0]), |entry| format!("{CHARTS}/{entry}"));
    let mut has_name = || {
        let metadata = collector.document(&chart.join(&file).ok()?).ok()??;
        Some(metadata.get("name")?.as_str() == Some(name))
    };
    (archive.is_some() || has_name() == Some(true)) && !may_hide(collector, chart, &file)
}

/// Whether a pattern of `.helmignore` may match a file or a directory around it: it may if the file has all literal parts of the pattern.
fn may_hide(collector: &mut PathCollector<'_>, chart: &RepoPath, file: &str) -> bool {
    let Ok(Ok(content)) = chart.join(IGNORE).map(|ignore| collector.content(&ignore)) else { return true };
    let content = String::from_utf8_lossy(content.unwrap_or_default());
    let mut patterns = content
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    patterns.any(|pattern| {
        pattern.contains(['!', '[', '\\'])
            || pattern.trim_matches('/').split(['*', '?']).all(|part| file.contains(part))
    })
}

fn items(node: &Node) -> &[Node] {
    match &node.data {
        Data::Sequence(items) => items,
        _ => &[],
    }
}

#[cfg(test)]
mod tests;
