//! Inputs of a kustomization.

use std::collections::BTreeSet;

use tiphys_model::access::redact_url;
use tiphys_model::resources::KustomizeSource;
use tiphys_tree::RepoPath;
use tiphys_tree::kustomization::{KUSTOMIZATIONS, NamedPath, named};

use super::paths::PathCollector;

/// Parts of the usual names of env files, whose content is indexed.
const ENV_FILES: [&str; 2] = [".env", ".properties"];

/// The host of repositories that may be written without a scheme.
const GITHUB: &str = "github.com";

/// The block of the source, in messages.
const BLOCK: &str = "the kustomize block";

/// The byte order mark, which kustomize removes from the first line of an env file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether files of this name may be env files.
pub(super) fn is_env_file(name: &str) -> bool {
    ENV_FILES.iter().any(|part| name.contains(part))
}

/// Adds everything that a kustomization and the source's block name, recursively. What kustomize fetches is noted. The error is the reason why
/// the whole revision counts.
pub(super) fn add(
    collector: &mut PathCollector<'_>,
    folder: &RepoPath,
    block: Option<&KustomizeSource>,
) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![collector.follow(folder)?];
    // A later file may name what kustomize fetches.
    let mut whole = None;
    for path in block.map(named_paths).unwrap_or_default() {
        match add_named(collector, (folder, BLOCK), &NamedPath { field: "resources", inner: None, path }) {
            Ok(directory) => waiting.extend(directory),
            Err(reason) => whole = whole.or(Some(reason)),
        }
    }
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
            let kustomization = match collector.document(&file) {
                Ok(Some(kustomization)) => kustomization,
                Ok(None) => continue,
                Err(reason) => {
                    whole.get_or_insert(reason);
                    continue;
                }
            };
            let all = named(&kustomization)
                .map_err(|why| format!("{file}: {why}"))
                // A field that is not followed may name anything.
                .inspect_err(|reason| collector.depends_on_outside(|| reason.clone()));
            let paths = all.as_ref().map_or(&[][..], Vec::as_slice);
            whole = whole.or(all.as_ref().err().cloned());
            for named in paths {
                match add_named(collector, (&folder, file.as_str()), named) {
                    Ok(directory) => waiting.extend(directory),
                    Err(reason) => whole = whole.or(Some(reason)),
                }
            }
        }
        if !is_kustomization && collector.is_directory(&folder) {
            // Kustomize's message depends on what else is there.
            whole.get_or_insert_with(|| format!("the directory {:?} has no kustomization", folder.as_str()));
        }
    }
    whole.map_or(Ok(()), Err)
}

/// Returns the paths that a block names.
fn named_paths(block: &KustomizeSource) -> Vec<&str> {
    let patches = block.patches.iter().map(|patch| patch.path.as_str()).filter(|path| !path.is_empty());
    block.components.iter().map(String::as_str).chain(patches).collect()
}

/// Adds what a kustomization names. Returns the path if it is a directory, links followed.
fn add_named(
    collector: &mut PathCollector<'_>,
    (folder, file): (&RepoPath, &str),
    named: &NamedPath<'_>,
) -> Result<Option<RepoPath>, String> {
    let written = named.path;
    if named.is_env_file() {
        check_env_file(collector, folder, written)?;
    }
    let Ok(path) = folder.join(written) else {
        if named.may_be_inline() {
            return Ok(None);
        }
        if may_be_remote(written) {
            note_fetched(collector, file, written);
            return Ok(None);
        }
        return Err(format!("{file}: {written} leads out of the repository"));
    };
    let real = collector.follow(&path)?;
    if collector.is_directory(&real) {
        return Ok(Some(real));
    }
    if !collector.has_file(&path)? {
        if named.may_be_inline() {
            return Ok(None);
        }
        if may_be_remote(written) {
            note_fetched(collector, file, written);
        }
    }
    collector.add(&path, &format!("named in {file}"))?;
    Ok(None)
}

/// Notes what a kustomization names and kustomize fetches.
fn note_fetched(collector: &mut PathCollector<'_>, file: &str, written: &str) {
    collector.depends_on_outside(|| format!("{file} names {}, which kustomize fetches", redact_url(written)));
}

/// Refuses an env file with a line without `=`: kustomize before version 5 reads the variable of that name from its own environment. The lines
/// are those of kustomize's `api/kv/kv.go`.
fn check_env_file(collector: &mut PathCollector<'_>, folder: &RepoPath, written: &str) -> Result<(), String> {
    // One that does not exist may be remote, which the caller notes.
    let Ok(path) = folder.join(written) else { return Ok(()) };
    if !collector.has_file(&path)? {
        return Ok(());
    }
    if !path.file_name().is_some_and(is_env_file) {
        return Err(format!("{path} is an env file without .env or .properties in its name"));
    }
    match collector.content(&path)?.and_then(bare_line) {
        None => Ok(()),
        Some(line) => {
            Err(format!("{path}:{line}: a line without =, whose value may be that of the environment"))
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

/// Whether kustomize may fetch a path that does not exist: a URL, a repository by ssh, or one of GitHub's by name. More counts than
/// kustomize fetches.
fn may_be_remote(written: &str) -> bool {
    let lower = written.to_ascii_lowercase();
    [":", "@", "?", "//", ".git", GITHUB].iter().any(|mark| lower.contains(mark))
}

#[cfg(test)]
mod tests;
