//! Locations of documents.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_yaml::Position;

/// The source of documents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// A file.
    File(Arc<Path>),
    /// Standard input.
    StandardInput,
    /// A file at a git revision: `REV:path`, with the path in the repository.
    Past(Arc<str>),
}

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file.
    pub file: FileName,
    /// The position; `None` for the whole file.
    pub position: Option<Position>,
}

impl FileName {
    /// Returns the name of a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::File(path.into().into())
    }

    /// Returns the path if it is an existing file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::StandardInput | Self::Past(_) => None,
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::StandardInput => f.write_str("standard input"),
            Self::Past(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{}:{position}", self.file),
            None => write!(f, "{}", self.file),
        }
    }
}
