//! What a kustomization is made from.

use std::collections::BTreeSet;

use tiphys_kustomize::{KUSTOMIZATIONS, env_files, named};
use tiphys_tree::RepoPath;

use super::paths::PathCollector;

/// Suffixes of the names of env files whose content is looked at.
const ENV_FILES: [&str; 2] = [".env", ".properties"];

/// The byte order mark, which kustomize removes from the first line of an env file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether files of this name may be env files, whose content is looked at.
pub(super) fn is_env_file(name: &str) -> bool {
    ENV_FILES.iter().any(|suffix| name.ends_with(suffix))
}

/// Adds everything that a kustomization names, recursively.
pub(super) fn add(collector: &mut PathCollector<'_>, folder: &RepoPath) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![collector.follow(folder)?];
    while let Some(folder) = waiting.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        collector.add_folder(&folder);
        let mut is_kustomization = false;
        for name in KUSTOMIZATIONS {
            let file = folder.join(name).map_err(|error| error.to_string())?;
            collector.add(&file, "a kustomization, or one that would count")?;
            is_kustomization |= collector.has_file(&file)?;
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
            for written in env_files(&kustomization) {
                check_env_file(collector, &folder, &file, written)?;
            }
        }
        if !is_kustomization && collector.is_directory(&folder) {
            // Kustomize's message depends on what else is there.
            return Err(format!("the directory {:?} has no kustomization", folder.as_str()));
        }
    }
    Ok(())
}

/// Refuses an env file with a line without `=`: kustomize before version 5 reads the variable of that name from its own environment. The lines
/// are those of kustomize's `api/kv/kv.go`.
fn check_env_file(
    collector: &mut PathCollector<'_>,
    folder: &RepoPath,
    kustomization: &RepoPath,
    written: &str,
) -> Result<(), String> {
    let remote = || format!("{kustomization} names a remote env file");
    let path = folder.join(written).map_err(|_| remote())?;
    if !collector.has_file(&path)? {
        return if is_remote(written) { Err(remote()) } else { Ok(()) };
    }
    let real = collector.follow(&path)?;
    if !real.file_name().is_some_and(is_env_file) {
        return Err(format!(
            "{kustomization}: the env file {real} is not read; its name must end in {}",
            ENV_FILES.join(" or ")
        ));
    }
    match collector.content(&path)?.and_then(bare_line) {
        None => Ok(()),
        Some(line) => {
            Err(format!("{real}:{line}: a line without =, whose value may be that of the environment"))
        }
    }
}

/// Returns the number of the first line, from 1, that has neither `=` nor a comment.
fn bare_line(content: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(content);
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let is_bare = |line: &str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#') && !line.contains('=')
    };
    text.split('\n').position(is_bare).map(|index| index + 1)
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

#[cfg(test)]
mod tests;
