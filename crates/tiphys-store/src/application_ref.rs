//! `APP` on the command line: a name in the store, or a file.

use std::path::PathBuf;

/// What an `APP` argument means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplicationRef {
    /// An application of the store.
    Name {
        /// Its namespace, if it was given.
        namespace: Option<String>,
        /// Its name.
        name: String,
    },
    /// The applications of a file or folder.
    Path(PathBuf),
}

impl ApplicationRef {
    /// The path, if it is one.
    pub fn into_path(self) -> Option<PathBuf> {
        match self {
            Self::Path(path) => Some(path),
            Self::Name { .. } => None,
        }
    }

    /// A path if it begins with `.` or `/` or ends in `.yaml`, `.yml` or `.json`; else `name` or `namespace/name`.
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
