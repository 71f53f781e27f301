//! Locations of documents.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tiphys_yaml::Position;

use crate::origin::Origin;

/// The source of documents, and who controls it. Equal names are equal whatever their origin.
#[derive(Clone, Debug)]
pub struct FileName {
    name: Name,
    origin: Arc<OnceLock<Origin>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    File(Arc<Path>),
    StandardInput,
    Past(Arc<str>),
    Rendered(Arc<str>),
    Directory(Arc<Path>),
    Cluster,
}

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileName,
    /// The position; `None` for the whole file.
    pub position: Option<Position>,
}

impl FileName {
    /// Returns the name of a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { name: Name::File(path.into().into()), origin: Arc::default() }
    }

    /// Returns the name of what a kustomization or chart in a directory renders.
    pub fn directory(path: &Path) -> Self {
        Self { name: Name::Directory(path.into()), origin: Arc::default() }
    }

    /// Returns the name of a file at a git revision: `REV:path`, with the path in the repository.
    pub fn past(name: &str) -> Self {
        Self { name: Name::Past(name.into()), origin: Arc::default() }
    }

    /// Returns the name of standard input.
    pub fn standard_input() -> Self {
        Self { name: Name::StandardInput, origin: Arc::new(Origin::Caller.into()) }
    }

    /// Returns the name of the objects of Argo CD's cluster.
    pub fn cluster() -> Self {
        Self { name: Name::Cluster, origin: Arc::new(Origin::WorkTree.into()) }
    }

    /// Returns the name of what an application renders. A rendered repository controls it, even if the caller accepts its settings.
    pub(crate) fn rendered(application: &str) -> Self {
        Self { name: Name::Rendered(application.into()), origin: Arc::new(Origin::Repository.into()) }
    }

    /// Returns whether an application renders it.
    pub fn is_rendered(&self) -> bool {
        matches!(self.name, Name::Rendered(_))
    }

    /// Returns the path if it is an existing file.
    pub fn path(&self) -> Option<&Path> {
        match &self.name {
            Name::File(path) => Some(path),
            Name::StandardInput | Name::Past(_) | Name::Rendered(_) | Name::Directory(_) | Name::Cluster => {
                None
            }
        }
    }

    /// Returns the path that decides who controls it: that of an existing file, or of a directory that is rendered.
    pub fn location(&self) -> Option<&Path> {
        match &self.name {
            Name::File(path) | Name::Directory(path) => Some(path),
            Name::StandardInput | Name::Past(_) | Name::Rendered(_) | Name::Cluster => None,
        }
    }

    /// Returns the name of a file at a git revision.
    pub fn as_past(&self) -> Option<&str> {
        match &self.name {
            Name::Past(name) => Some(name),
            Name::File(_) | Name::StandardInput | Name::Rendered(_) | Name::Directory(_) | Name::Cluster => {
                None
            }
        }
    }

    /// Sets who controls the file, unless that is set. Returns who controls it.
    pub fn set_origin(&self, origin: impl FnOnce() -> Origin) -> Origin {
        *self.origin.get_or_init(origin)
    }
}

impl Place {
    /// Returns who controls the document.
    pub fn origin(&self) -> Origin {
        self.file.origin.get().copied().unwrap_or(Origin::Repository)
    }
}

impl PartialEq for FileName {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FileName {}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::File(path) => write!(f, "{}", path.display()),
            Name::StandardInput => f.write_str("standard input"),
            Name::Cluster => f.write_str("the cluster"),
            Name::Past(name) => f.write_str(name),
            Name::Rendered(application) => write!(f, "manifests of {application}"),
            Name::Directory(path) => write!(f, "manifests of {}", path.display()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            // An object of a cluster has no lines.
            Some(position) if self.file.name != Name::Cluster => write!(f, "{}:{position}", self.file),
            _ => write!(f, "{}", self.file),
        }
    }
}
