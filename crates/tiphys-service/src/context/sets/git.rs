//! The answers of git repositories.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tiphys_engine::appset::Answer;
use tiphys_go::glob::FilePattern;
use tiphys_model::access::FileRepositories;
use tiphys_render::Renderer;
use tiphys_source::{GitSource, ResolvedRevision, SourceError};

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
            if !path.as_str().split('/').any(|part| part.starts_with('.'))
                && !found.insert(path.as_str().to_owned())
            {
                break;
            }
        }
    }
    Ok(found.into_iter().map(|path| Map::from_iter([("path".to_owned(), Value::from(path))])).collect())
}

async fn files(
    renderer: &Renderer,
    revision: &ResolvedRevision,
    pattern: FilePattern,
    bytes_max: u64,
) -> Result<Vec<Map<String, Value>>, SourceError> {
    let matches = move |path: &tiphys_tree::RepoPath| pattern.matches(path.as_str());
    let read = renderer.sources().read_files(revision, matches, bytes_max).await?;
    let object = |(path, content): (tiphys_tree::RepoPath, Vec<u8>)| {
        let content = String::from_utf8_lossy(&content).into_owned();
        let fields = json!({"path": path.as_str(), "content": content});
        fields.as_object().cloned().unwrap_or_default()
    };
    Ok(read.into_iter().map(object).collect())
}
