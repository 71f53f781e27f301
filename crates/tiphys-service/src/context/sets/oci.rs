//! The answers of artefacts of registries.

use serde_json::Value;
use tiphys_engine::appset::Answer;
use tiphys_go::glob::FilePattern;
use tiphys_render::Renderer;
use tiphys_source::{SourceError, TreeScope, Want, redact_url};
use tiphys_tree::{Depth, Modes, ReadError, RepoPath, Tree};

use super::git::{is_hidden, of_directory, of_file};
use crate::error::chain;

/// Answers a question of an `oci` generator: the directories, or the files of a pattern. A file of more than `file_bytes_max` bytes is an
/// error. Unlike in a git repository, empty directories and links to files count.
pub(crate) async fn answer(renderer: &Renderer, request: &Value, file_bytes_max: u64) -> Answer {
    let text = |key: &str| request[key].as_str().unwrap_or_default();
    let failed = |error: SourceError| chain(&error);
    let pattern = request["files"].as_str().map(pattern).transpose()?;
    let source = renderer.artefact_source(text("project"), text("repoURL"), text("revision"));
    let revision = renderer.sources().resolve_chart(&source).await.map_err(failed)?;
    let want = Want { modes: Modes::Plain, scope: TreeScope::Whole, app_path: RepoPath::default() };
    let tree = renderer.sources().tree(&revision, &want).await.map_err(failed)?;
    let reading = tokio::task::spawn_blocking(move || match pattern {
        None => directories(&tree).map(|paths| paths.iter().map(of_directory).collect()),
        Some(pattern) => {
            let files = files(&tree, &pattern, file_bytes_max)?;
            Ok(files.iter().map(|(path, content)| of_file(path, content)).collect())
        }
    });
    let read = reading.await.map_err(|error| error.to_string())?;
    read.map_err(|error: ReadError| format!("repository {}: {}", redact_url(text("repoURL")), chain(&error)))
}

/// Parses a pattern of files. As in Argo CD, an empty one and `.` match all files.
fn pattern(pattern: &str) -> Result<FilePattern, String> {
    let pattern = if matches!(pattern, "" | ".") { "**" } else { pattern };
    FilePattern::with_double_star(pattern).map_err(|error| error.to_string())
}

/// Returns all directories without hidden ones and those below them.
fn directories(tree: &Tree) -> Result<Vec<RepoPath>, ReadError> {
    let mut directories = tree.directories(&RepoPath::default())?;
    directories.retain(|path| !is_hidden(path));
    Ok(directories)
}

fn files(tree: &Tree, pattern: &FilePattern, bytes_max: u64) -> Result<Vec<(RepoPath, Vec<u8>)>, ReadError> {
    let mut found = tree.files(&RepoPath::default(), Depth::Recursive)?;
    found.retain(|path| pattern.matches(path.as_str()));
    let read = |path: RepoPath| {
        let content = tree.read(&path, bytes_max)?;
        Ok(content.map(|content| (path, content)))
    };
    found.into_iter().filter_map(|path| read(path).transpose()).collect()
}
