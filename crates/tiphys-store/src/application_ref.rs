//! The `APP` argument: a name in the store, or a file.

use std::path::PathBuf;

/// A parsed `APP` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplicationRef {
    /// An application in the store.
    Name {
        /// The namespace, if given.
        namespace: Option<String>,
        /// The name.
        name: String,
    },
    /// The applications in a file or directory.
    Path(PathBuf),
}

impl ApplicationRef {
    /// Returns the path, if it is one.
    pub fn into_path(self) -> Option<PathBuf> {
        match self {
            Self::Path(path) => Some(path),
            Self::Name { .. } => None,
        }
    }

    /// Parses an argument: a path if it begins with `.` or `/` or ends in `.yaml`, `.yml` or `.json`, else `[namespace/]name`.
    pub fn parse(text: &str) -> Self {
        let is_path =
            text.starts_with(['.', '/']) || [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
        if is_path {
            return Self::Path(PathBuf::from(text));
        }
        match text.split_once('/') {
            Some((namespace, name)) => {
                Self::Name { namespace: Some(namespace.to_owned()), name: name.to_owned() }
            }
            None => Self::Name { namespace: None, name: text.to_owned() },
        }
    }
}
