//! The answers of git repositories.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use tiphys_engine::appset::Answer;
use tiphys_go::glob::FilePattern;
use tiphys_model::access::FileRepositories;
use tiphys_render::Renderer;
use tiphys_source::{GitSource, ResolvedRevision, SourceError};
use tiphys_tree::RepoPath;

use crate::context::options::FileGlobbing;
use crate::error::chain;

/// Returns the repository and revision of a question.
pub(crate) fn source(renderer: &Renderer, request: &Value, file_repositories: FileRepositories) -> GitSource {
    let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
    GitSource {
        project: renderer.context_project(&text("project")),
        repo_url: text("repoURL"),
        target_revision: text("revision"),
        file_repositories,
    }
}

/// Answers a question of a `git` generator: the directories, or the files of a pattern. A file of more than `file_bytes_max` bytes is an
/// error.
pub(crate) async fn answer(
    renderer: &Renderer,
    request: &Value,
    file_repositories: FileRepositories,
    globbing: FileGlobbing,
    file_bytes_max: u64,
) -> Answer {
    let source = source(renderer, request, file_repositories);
    let said = |error: &SourceError| chain(error);
    let revision = renderer.sources().resolve(&source).await.map_err(|error| said(&error))?;
    match request["files"].as_str() {
        None => directories(renderer, &revision).await.map_err(|error| said(&error)),
        Some(pattern) => {
            let parsed = match globbing {
                FileGlobbing::Git => FilePattern::of_git(pattern),
                FileGlobbing::DoubleStar => FilePattern::with_double_star(pattern),
            };
            let pattern = parsed.map_err(|error| error.to_string())?;
            files(renderer, &revision, pattern, file_bytes_max).await.map_err(|error| said(&error))
        }
    }
}

/// Returns a directory as an object of an answer.
pub(super) fn of_directory(path: &RepoPath) -> Map<String, Value> {
    Map::from_iter([("path".to_owned(), Value::from(path.as_str()))])
}

/// Returns a file as an object of an answer.
pub(super) fn of_file(path: &RepoPath, content: &[u8]) -> Map<String, Value> {
    let mut file = of_directory(path);
    file.insert("content".to_owned(), Value::from(String::from_utf8_lossy(content)));
    file
}

/// Whether a part of a path starts with a dot. Argo CD's default leaves such directories out.
pub(super) fn is_hidden(path: &RepoPath) -> bool {
    path.as_str().split('/').any(|part| part.starts_with('.'))
}

/// Returns all directories without hidden ones and those below them.
async fn directories(
    renderer: &Renderer,
    revision: &ResolvedRevision,
) -> Result<Vec<Map<String, Value>>, SourceError> {
    let mut found = BTreeSet::new();
    for file in renderer.sources().files(revision, None).await? {
        let mut directory = file.path.parent();
        while let Some(path) = directory.filter(|path| !path.is_root()) {
            directory = path.parent();
            if !is_hidden(&path) && !found.insert(path) {
                break;
            }
        }
    }
    Ok(found.iter().map(of_directory).collect())
}

async fn files(
    renderer: &Renderer,
    revision: &ResolvedRevision,
    pattern: FilePattern,
    bytes_max: u64,
) -> Result<Vec<Map<String, Value>>, SourceError> {
    let matches = move |path: &RepoPath| pattern.matches(path.as_str());
    let read = renderer.sources().read_files(revision, None, matches, bytes_max).await?;
    Ok(read.iter().map(|(path, content)| of_file(path, content)).collect())
}
