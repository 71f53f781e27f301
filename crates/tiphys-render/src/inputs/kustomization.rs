//! What a kustomization is made from.

use std::collections::BTreeSet;

use tiphys_kustomize::{KUSTOMIZATIONS, named};
use tiphys_tree::RepoPath;

use super::paths::PathCollector;

/// Adds everything that a kustomization names, recursively.
pub(super) fn add(collector: &mut PathCollector<'_>, folder: &RepoPath) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![collector.follow(folder)?];
    while let Some(folder) = waiting.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        collector.add_folder(&folder);
        for name in KUSTOMIZATIONS {
            let file = folder.join(name).map_err(|error| error.to_string())?;
            collector.add(&file, "a kustomization, or one that would count")?;
            let Some(kustomization) = collector.document(&file)? else { continue };
            for written in named(&kustomization).map_err(|why| format!("{file}: {why}"))? {
                if written.contains('\n') {
                    // An inline patch.
                    continue;
                }
                let Ok(path) = folder.join(written) else {
                    if is_remote(written) {
                        require_commit(&file, written)?;
                        continue;
                    }
                    return Err(format!("{file}: {written} leads out of the repository"));
                };
                let real = collector.follow(&path)?;
                if collector.is_directory(&real) {
                    waiting.push(real);
                    continue;
                }
                if is_remote(written) {
                    require_commit(&file, written)?;
                }
                collector.add(&path, &format!("named in {file}"))?;
            }
        }
    }
    Ok(())
}

/// Whether kustomize may fetch what is written, if it is no file.
fn is_remote(written: &str) -> bool {
    ["://", "?", "git@", "github.com", "git::"].iter().any(|mark| written.contains(mark))
}

/// Refuses a remote base whose content may change.
fn require_commit(file: &RepoPath, written: &str) -> Result<(), String> {
    let revision = written.split(['?', '&']).find_map(|part| part.strip_prefix("ref="));
    let is_commit =
        |revision: &str| revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if revision.is_some_and(is_commit) {
        return Ok(());
    }
    Err(format!("{file} names a remote base without a commit"))
}
