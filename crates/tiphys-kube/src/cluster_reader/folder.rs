//! A directory of YAML files as the state of a cluster.

mod state;

use std::collections::{BTreeMap, BTreeSet, HashSet, btree_map};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures_util::stream::BoxStream;
use rayon::prelude::*;
use serde_json::{Map, Value};
use tiphys_engine::{Manifest, ObjectKey, ResourceListError, ServedKind, ServedKinds};
use tiphys_yaml::{Data, Node, Position, read_documents};

pub use state::FolderState;

use crate::cluster_reader::{ClusterError, ClusterErrorKind, ClusterReader, ListContent, WatchEvent};

/// The maximum number of nested directories. Deeper ones are probably a mistake.
const DEPTH_MAX: usize = 32;

/// The live objects of a cluster, read from the YAML and JSON files of a directory. Lists are flattened. Hidden directories and symbolic
/// links to directories are skipped.
///
/// It serves the kinds of Kubernetes, of its `CustomResourceDefinition` objects, of its `APIResourceList` documents, and of its objects.
#[derive(Clone, Default)]
pub struct FolderCluster {
    objects: BTreeMap<ObjectKey, Entry>,
    resource_lists: Vec<Map<String, Value>>,
    kinds: OnceLock<Arc<ServedKinds>>,
}

#[derive(Clone)]
struct Entry {
    manifest: Manifest,
    place: String,
}

/// A document of a file, with its position.
type Read = (Position, Result<Document, ObjectProblem>);

/// The content of a document.
enum Document {
    Object(ObjectKey, Manifest),
    ResourceList(Map<String, Value>),
}

/// The reason why a directory cannot be read as a cluster state. Messages never contain values of an object.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The path does not exist or is not readable.
    #[error("cannot read cluster state {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// Invalid YAML. The syntax error itself may quote the file.
    #[error("cluster state {} is not YAML{}", path.display(), position.map(|position| format!(" at {position}")).unwrap_or_default())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The position of the syntax error, if known.
        position: Option<Position>,
    },
    /// A document is not a live object.
    #[error("cluster state {}:{position}: {problem}", path.display())]
    Object {
        /// The file.
        path: PathBuf,
        /// The position of the document.
        position: Position,
        /// The problem.
        problem: Box<ObjectProblem>,
    },
    /// Directories are nested too deeply.
    #[error("cluster state {} is more than {DEPTH_MAX} folders deep", path.display())]
    Depth {
        /// The directory.
        path: PathBuf,
    },
}

/// The problem of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectProblem {
    /// The document is a list or a scalar.
    #[error("expected an object, found {0}")]
    NotAnObject(&'static str),
    /// The object has no kind.
    #[error("the object has no `kind`")]
    NoKind,
    /// The object has no name.
    #[error("the {0} has no name")]
    NoName(String),
    /// An invalid list of served kinds.
    #[error(transparent)]
    ResourceList(#[from] ResourceListError),
    /// Another document defines the same object.
    #[error("{key} is already defined in {first}")]
    Twice {
        /// The object.
        key: ObjectKey,
        /// The location of the other document.
        first: String,
    },
}

impl fmt::Debug for FolderCluster {
    /// Writes only the number of objects, because they may be Secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FolderCluster({} objects)", self.objects.len())
    }
}

impl FolderCluster {
    /// Reads a directory or a single file.
    pub fn load(path: &Path) -> Result<Self, FolderError> {
        let mut cluster = Self::default();
        cluster.extend(path)?;
        Ok(cluster)
    }

    /// Adds another directory or file of the same cluster.
    pub fn extend(&mut self, path: &Path) -> Result<(), FolderError> {
        self.kinds.take();
        let files = files(path)?;
        // Parsing takes most of the time. Documents are added in order, so that errors do not depend on the number of cores.
        let read: Vec<_> = files.par_iter().map(|file| read_file(file)).collect();
        for (path, documents) in files.iter().zip(read) {
            for (position, document) in documents? {
                document.and_then(|document| self.insert(path, position, document)).map_err(|problem| {
                    FolderError::Object { path: path.clone(), position, problem: Box::new(problem) }
                })?;
            }
        }
        Ok(())
    }

    fn served_kinds(&self) -> ServedKinds {
        let mut kinds = ServedKinds::built_in();
        let objects = || self.objects.values().map(|entry| &entry.manifest);
        objects().for_each(|manifest| kinds.add_definition(manifest));
        for list in &self.resource_lists {
            // Invalid lists are rejected when they are read.
            let _valid = kinds.add_resource_list(list);
        }
        // One object of each kind, version and scope tells them. Namespaced objects come first, because one of them decides the scope of an
        // unknown kind.
        let mut seen = HashSet::new();
        let distinct: Vec<_> = objects()
            .filter(|manifest| {
                let version = manifest.object().get("apiVersion").and_then(Value::as_str);
                seen.insert((version, manifest.group_kind(), manifest.namespace().is_empty()))
            })
            .collect();
        for is_cluster_scoped in [false, true] {
            let of_scope = |manifest: &&&Manifest| manifest.namespace().is_empty() == is_cluster_scoped;
            distinct.iter().filter(of_scope).for_each(|manifest| kinds.add_object(manifest));
        }
        kinds
    }

    fn insert(&mut self, path: &Path, position: Position, document: Document) -> Result<(), ObjectProblem> {
        match document {
            Document::ResourceList(list) => self.resource_lists.push(list),
            Document::Object(key, manifest) => match self.objects.entry(key) {
                btree_map::Entry::Vacant(entry) => {
                    let place = format!("{}:{position}", path.display());
                    entry.insert(Entry { manifest, place });
                }
                btree_map::Entry::Occupied(entry) => {
                    let first = entry.get().place.clone();
                    return Err(ObjectProblem::Twice { key: entry.key().clone(), first });
                }
            },
        }
        Ok(())
    }
}

/// Returns the YAML and JSON files of a directory in the order of their names, or a file itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let metadata = fs::metadata(path).map_err(|source| FolderError::Io { path: path.to_owned(), source })?;
    let mut files = Vec::new();
    if metadata.is_dir() {
        add_files(path, 0, &mut files)?;
    } else {
        files.push(path.to_owned());
    }
    Ok(files)
}

fn add_files(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), FolderError> {
    if depth > DEPTH_MAX {
        return Err(FolderError::Depth { path: path.to_owned() });
    }
    let io = |source| FolderError::Io { path: path.to_owned(), source };
    let mut entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(io)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (file, name) = (entry.path(), entry.file_name());
        if entry.file_type().map_err(io)?.is_dir() {
            if !name.as_encoded_bytes().starts_with(b".") {
                add_files(&file, depth + 1, files)?;
            }
        } else if has_document_extension(&file) && file.is_file() {
            files.push(file);
        }
    }
    Ok(())
}

/// Reads the documents of a file. Lists are flattened.
fn read_file(path: &Path) -> Result<Vec<Read>, FolderError> {
    let bytes = fs::read(path).map_err(|source| FolderError::Io { path: path.to_owned(), source })?;
    let nodes = read_documents(&bytes)
        .map_err(|error| FolderError::Syntax { path: path.to_owned(), position: error.position })?;
    let mut documents = Vec::new();
    for node in &nodes {
        add_documents(node, &mut documents);
    }
    Ok(documents)
}

fn add_documents(node: &Node, documents: &mut Vec<Read>) {
    let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
    let items = match &node.data {
        Data::Sequence(_) => Some(node),
        Data::Mapping(_) if kind.ends_with("List") => node.get("items"),
        _ => None,
    };
    match items.map(|items| &items.data) {
        Some(Data::Sequence(items)) => items.iter().for_each(|item| add_documents(item, documents)),
        _ => documents.push((node.position, document(node))),
    }
}

fn document(node: &Node) -> Result<Document, ObjectProblem> {
    let Value::Object(object) = node.to_value() else {
        return Err(ObjectProblem::NotAnObject(node.type_words()));
    };
    if object.get("kind").and_then(Value::as_str) == Some("APIResourceList") {
        ServedKinds::default().add_resource_list(&object)?;
        return Ok(Document::ResourceList(object));
    }
    let manifest = Manifest::new(object);
    let key = manifest.key();
    if key.kind.is_empty() {
        return Err(ObjectProblem::NoKind);
    }
    if key.name.is_empty() {
        return Err(ObjectProblem::NoName(key.kind));
    }
    Ok(Document::Object(key, manifest))
}

#[async_trait::async_trait]
impl ClusterReader for FolderCluster {
    fn is_live(&self) -> bool {
        false
    }

    async fn kinds(&self) -> Result<Arc<ServedKinds>, ClusterError> {
        Ok(Arc::clone(self.kinds.get_or_init(|| Arc::new(self.served_kinds()))))
    }

    async fn get(
        &self,
        kind: &ServedKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Manifest>, ClusterError> {
        let key = ObjectKey {
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        Ok(self.objects.get(&key).map(|entry| entry.manifest.clone()))
    }

    async fn list(
        &self,
        kind: &ServedKind,
        namespace: Option<&str>,
        content: ListContent,
    ) -> Result<Vec<Manifest>, ClusterError> {
        let first = ObjectKey {
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            namespace: namespace.unwrap_or_default().to_owned(),
            name: String::new(),
        };
        let is_wanted = |key: &ObjectKey| {
            (&key.group, &key.kind) == (&kind.group, &kind.kind)
                && namespace.is_none_or(|namespace| key.namespace == namespace)
        };
        let entries = self.objects.range(first..).take_while(|(key, _)| is_wanted(key));
        Ok(entries
            .map(|(_, entry)| match content {
                ListContent::Objects => entry.manifest.clone(),
                ListContent::Metadata => metadata(&entry.manifest),
            })
            .collect())
    }

    async fn watch(
        &self,
        kind: &ServedKind,
        _namespace: Option<&str>,
        _names: &BTreeSet<String>,
    ) -> Result<BoxStream<'static, Result<WatchEvent, ClusterError>>, ClusterError> {
        Err(ClusterError {
            cluster: "in a folder".to_owned(),
            request: format!("watch {}", kind.full_name()),
            kind: ClusterErrorKind::Unsupported,
            source: None,
        })
    }

    async fn version(&self) -> Result<Option<String>, ClusterError> {
        Ok(None)
    }
}

/// Returns API version, kind and metadata of an object.
fn metadata(manifest: &Manifest) -> Manifest {
    let is_kept = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata");
    let object = manifest.object().iter().filter(|(key, _)| is_kept(key));
    Manifest::new(object.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn has_document_extension(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| matches!(extension.as_encoded_bytes(), b"yaml" | b"yml" | b"json"))
}

#[cfg(test)]
mod tests;
