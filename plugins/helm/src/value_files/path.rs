//! Resolves one path or URL of a parameter.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use tiphys_model::access::{refused_scheme, url_scheme};
use tiphys_tree::{ContainmentError, EntryPath};

use super::Resolved;

/// Maximum length of a chain of links, as in Argo CD.
const LINKS_FOLLOWED_MAX: usize = 10;

/// Errors of paths, in Argo CD's words. They do not show the target of a link, which would reveal files of the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathProblem {
    /// The path leads out of the repository.
    #[error("file '{file}' resolved to outside repository root")]
    Outside {
        /// As written, with variables replaced.
        file: String,
    },
    /// A URL with a scheme that is not permitted.
    #[error("the URL scheme '{scheme}' is not allowed")]
    Scheme { scheme: String },
    /// A URL while fetching is disabled.
    #[error(
        "it is a URL, and fetching is disabled (--offline); commit the file, or render without --offline"
    )]
    NoNetwork,
    /// The path is the root itself, or an endless chain of links.
    #[error("internal error: failed to resolve path. Check logs for more details")]
    Failed,
}

/// Resolves a path as Argo CD does. A URL with a permitted scheme stays unchanged. Otherwise the path is relative to the application's
/// directory, or to the root with a leading `/`; its last component may be a chain of links.
pub(super) fn resolve(
    app_path: &Path,
    root: &Path,
    file: &str,
    schemes: &[String],
) -> Result<Resolved, PathProblem> {
    if let Some(scheme) = refused_scheme(file, schemes) {
        return Err(PathProblem::Scheme { scheme });
    }
    if url_scheme(file).is_some() {
        return Ok(Resolved::Url(file.to_owned()));
    }
    let from = if file.starts_with('/') { root } else { app_path };
    let mut path = joined(from, Path::new(file));
    let mut followed = 0;
    // Anything but a link, or a missing file, is final. Links outside the root are not read.
    while path.starts_with(root)
        && let Ok(target) = fs::read_link(&path)
    {
        if followed == LINKS_FOLLOWED_MAX {
            return Err(PathProblem::Failed);
        }
        followed += 1;
        let folder =
            if target.is_absolute() { Path::new("/") } else { path.parent().unwrap_or(Path::new("/")) };
        path = joined(folder, &target);
    }
    if path == root {
        Err(PathProblem::Failed)
    } else if path.starts_with(root) {
        Ok(Resolved::Path(path))
    } else {
        Err(PathProblem::Outside { file: file.to_owned() })
    }
}

/// Resolves all links of an absolute path below a repository's root; [`tiphys_tree::resolve`] reads nothing outside.
pub(super) fn real(root: &Path, path: &Path) -> Result<PathBuf, ContainmentError> {
    let outside = || ContainmentError::OutOfBounds { file: path.to_string_lossy().into_owned() };
    let below = path.strip_prefix(root).map_err(|_| outside())?;
    tiphys_tree::resolve(root, EntryPath::new(below.as_os_str().as_bytes()).map_err(|_| outside())?)
}

/// Joins and cleans a path as Go's `filepath.Join` does: lexically, without reading links.
pub(crate) fn joined(folder: &Path, path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in folder.components().chain(path.components().filter(|part| *part != Component::RootDir)) {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            component => clean.push(component),
        }
    }
    clean
}
