//! Plain manifests: the YAML and JSON files of a directory, sorted by path component.

mod jsonnet;
mod last_folder;

use std::sync::Arc;

use tiphys_engine::{DirectoryPlan, is_override_file_name};
use tiphys_go::glob::{Glob, GlobError, Slash};
use tiphys_model::limits::Limit;
use tiphys_tree::{Depth, ReadError, RepoPath, Tree};
use tiphys_yaml::{Data, Node, file_text, read_json, split_documents_into};

pub use jsonnet::JsonnetError;
pub(crate) use jsonnet::JsonnetEvaluator;
pub(crate) use last_folder::LastFolder;

/// Files with this text are skipped, as in Argo CD.
const SKIP_MARKER: &str = "+argocd:skip-file-rendering";

/// The documents of a directory's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectoryManifests {
    /// In the order of the files.
    pub documents: Arc<[Node]>,
    /// Warnings about skipped files that look like manifests.
    pub warnings: Vec<String>,
}

/// The error of a directory that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Include or exclude is malformed.
    #[error("directory.{field}")]
    Pattern {
        /// `include` or `exclude`.
        field: &'static str,
        /// The cause.
        #[source]
        source: GlobError,
    },
    /// A file or folder could not be read.
    #[error("directory source")]
    Read(#[from] ReadError),
    /// All files together are too large.
    #[error("the folder's manifests have more than {bytes_max} bytes together")]
    TooLarge {
        /// The maximum number.
        bytes_max: u64,
        /// [`Limit::DIRECTORY_BYTES_MAX`].
        #[source]
        limit: Limit,
    },
    /// A Jsonnet file cannot be evaluated.
    #[error("{file}")]
    Jsonnet {
        /// The file.
        file: RepoPath,
        /// The cause.
        #[source]
        source: JsonnetError,
    },
    /// A file that looks like a manifest and is invalid.
    #[error("{file}: {message}")]
    Malformed {
        /// The file.
        file: RepoPath,
        /// The problem, with its position.
        message: String,
    },
}

/// The content of a directory's files, before Jsonnet files are evaluated.
#[derive(Debug, Default)]
struct DirectoryFiles {
    parts: Vec<Part>,
    warnings: Vec<String>,
}

#[derive(Debug)]
enum Part {
    Documents(Vec<Node>),
    Jsonnet(RepoPath),
}

/// Reads the files of a directory.
fn read(
    tree: &Tree,
    folder: &RepoPath,
    plan: &DirectoryPlan,
    bytes_max: u64,
) -> Result<DirectoryFiles, DirectoryError> {
    let include = pattern("include", plan.include.as_deref())?;
    let exclude = pattern("exclude", plan.exclude.as_deref())?;
    let depth = if plan.recurse { Depth::Recursive } else { Depth::Folder };
    let mut files = DirectoryFiles::default();
    let mut bytes_left = bytes_max;
    for file in tree.files(folder, depth)? {
        let relative = relative_to(&file, folder);
        if exclude.as_ref().is_some_and(|glob| glob.matches(relative))
            || include.as_ref().is_some_and(|glob| !glob.matches(relative))
        {
            continue;
        }
        let extension = relative
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .map_or("", |(_, extension)| extension);
        match extension {
            // As in Argo CD, its size does not count.
            "jsonnet" => {
                files.parts.push(Part::Jsonnet(file));
                continue;
            }
            "yaml" | "yml" | "json" => {}
            _ if plan.any_extension => {}
            _ => continue,
        }
        let bytes = match tree.read(&file, bytes_left) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(ReadError::TooLarge { .. }) => {
                return Err(DirectoryError::TooLarge { bytes_max, limit: Limit::DIRECTORY_BYTES_MAX });
            }
            Err(error) => return Err(error.into()),
        };
        let text = file_text(&bytes);
        if text.contains(SKIP_MARKER) {
            continue;
        }
        bytes_left = bytes_left.saturating_sub(bytes.len() as u64);
        let added = if extension == "json" { json_object(&text) } else { yaml_objects(&text) };
        match added.map_err(|message| DirectoryError::Malformed { file: file.clone(), message })? {
            Content::Manifests(objects) => files.parts.push(Part::Documents(objects)),
            Content::Other(problem) if !file.file_name().is_some_and(is_override_file_name) => {
                files.warnings.push(format!("{file} was left out, since it is not a manifest: {problem}"));
            }
            Content::Other(_) => {}
        }
    }
    Ok(files)
}

fn pattern(field: &'static str, text: Option<&str>) -> Result<Option<Glob>, DirectoryError> {
    text.map(|text| Glob::new(text, Slash::Ordinary))
        .transpose()
        .map_err(|source| DirectoryError::Pattern { field, source })
}

fn relative_to<'a>(file: &'a RepoPath, folder: &RepoPath) -> &'a str {
    let path = file.as_str();
    path.strip_prefix(folder.as_str()).map_or(path, |rest| rest.trim_start_matches('/'))
}

/// The content of a file.
enum Content {
    /// Objects with a kind.
    Manifests(Vec<Node>),
    /// Something else, and why.
    Other(String),
}

/// Returns the object of a JSON file. As in Argo CD, it must have one, without anything after it.
fn json_object(text: &str) -> Result<Content, String> {
    let node = read_json(text.as_bytes()).map_err(|error| error.to_string())?;
    match &node.data {
        Data::Mapping(_) if has_kind(&node) => Ok(Content::Manifests(vec![node])),
        Data::Mapping(_) | Data::Null => Ok(Content::Other(no_kind(&node))),
        _ => Err(format!("{}: expected an object, found {}", place(&node), node.type_words())),
    }
}

/// Returns the objects of a YAML file. As in Argo CD, an invalid file is an error only if it begins with an object, or looks like a
/// manifest.
fn yaml_objects(text: &str) -> Result<Content, String> {
    let mut documents = Vec::new();
    let read = split_documents_into(text.as_bytes(), &mut documents);
    let objects: Vec<Node> = documents.into_iter().map(|document| document.node).collect();
    let other = objects.iter().position(|node| !has_kind(node));
    let problem = match (other.and_then(|index| objects.get(index)), read) {
        (Some(node), _) => no_kind(node),
        (None, Err(error)) => error.to_string(),
        (None, Ok(())) => return Ok(Content::Manifests(objects)),
    };
    let begins_with_object = other.map_or(!objects.is_empty(), |index| index > 0);
    let looks_like_manifest = ["apiVersion:", "kind:", "metadata:"].iter().all(|word| text.contains(word));
    if begins_with_object || looks_like_manifest { Err(problem) } else { Ok(Content::Other(problem)) }
}

fn has_kind(node: &Node) -> bool {
    node.get("kind").and_then(Node::as_str).is_some_and(|kind| !kind.is_empty())
}

fn no_kind(node: &Node) -> String {
    format!("{}: no object with a `kind`", place(node))
}

fn place(node: &Node) -> String {
    format!("line {}, column {}", node.position.line, node.position.column)
}

#[cfg(test)]
mod tests;
