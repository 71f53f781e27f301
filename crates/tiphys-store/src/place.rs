//! Where something stands.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiphys_yaml::Position;

/// A text that documents were read from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// A file.
    File(Arc<Path>),
    /// Standard input.
    StandardInput,
    /// A file as a revision has it: `REV:path`, the path being one in the repository.
    Past(Arc<str>),
}

/// A position in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The text.
    pub file: FileName,
    /// Where in it; `None` for the text as a whole.
    pub position: Option<Position>,
}

impl FileName {
    /// A file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::File(path.into().into())
    }

    /// The file, if it is one that is there now.
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
