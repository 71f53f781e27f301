//! What a chart in a repository is made from.

use std::collections::BTreeSet;

use tiphys_tree::RepoPath;
use tiphys_yaml::{Data, Node};

use super::paths::PathCollector;

/// The files that name dependencies.
pub(super) const METADATA: [&str; 2] = ["Chart.yaml", "requirements.yaml"];

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
    Ok(())
}

fn items(node: &Node) -> &[Node] {
    match &node.data {
        Data::Sequence(items) => items,
        _ => &[],
    }
}
