//! What a chart in a repository is made from.

mod remote;

use std::collections::BTreeSet;

use tiphys_tree::RepoPath;
use tiphys_yaml::{Data, Node};

use super::paths::PathCollector;

/// The files that name dependencies.
const METADATA: [&str; 2] = ["Chart.yaml", "requirements.yaml"];

/// Whether files of this name tell what a chart depends on.
pub(super) fn is_read(name: &str) -> bool {
    METADATA.contains(&name) || name == remote::IGNORE
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
    if let Some(file) = remote::fetching_list(collector, folder)? {
        collector.depends_on_outside(|| format!("{file} has dependencies that helm fetches"));
    }
    Ok(())
}

fn items(node: &Node) -> &[Node] {
    match &node.data {
        Data::Sequence(items) => items,
        _ => &[],
    }
}
