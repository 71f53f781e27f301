//! What a chart in a repository is made from.

mod remote;

use std::collections::BTreeSet;

use tiphys_tree::RepoPath;
use tiphys_yaml::{Data, Node};

use super::paths::PathCollector;

pub(super) use remote::is_exact_version;

/// The files that name dependencies.
const METADATA: [&str; 2] = ["Chart.yaml", "requirements.yaml"];

/// Whether files of this name tell what a chart depends on.
pub(super) fn is_read(name: &str) -> bool {
    METADATA.contains(&name) || remote::LOCKS.contains(&name) || name == remote::IGNORE
}

/// Adds a chart's directory, and the directories of dependencies with a `file://` address, recursively.
pub(super) fn add(collector: &mut PathCollector<'_>, folder: &RepoPath) -> Result<(), String> {
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
    // Dependencies of the others are never built: they are in their directories, or the chart is refused.
    remote::check(collector, folder)
}

fn items(node: &Node) -> &[Node] {
    match &node.data {
        Data::Sequence(items) => items,
        _ => &[],
    }
}
