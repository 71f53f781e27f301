//! One path or URL of a parameter.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use tiphys_access::url_scheme;
use tiphys_tree::{ContainmentError, EntryPath};

use super::Resolved;

/// Links that are followed from one to the next, as Argo CD does.
const LINKS_FOLLOWED_MAX: usize = 10;

/// Why a path cannot be used, in Argo CD's words. Where a link led is not told: it would answer questions about the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathProblem {
    /// It leads out of the repository.
    #[error("file '{file}' resolved to outside repository root")]
    Outside {
        /// As it is written, variables replaced.
        file: String,
    },
    /// A URL of a kind that is not allowed.
    #[error("the URL scheme '{scheme}' is not allowed")]
    Scheme {
        /// In lower case.
        scheme: String,
    },
    /// A URL where nothing may be fetched.
    #[error(
        "it is a URL, and nothing may be fetched (--offline); commit the file, or render without --offline"
    )]
    NoNetwork,
    /// It is the root itself, or a chain of links without end.
    #[error("internal error: failed to resolve path. Check logs for more details")]
    Failed,
}

/// Resolves a path as Argo CD does: a URL with an allowed scheme as it is; else a path from the application's folder, or from the root with a
/// `/` in front, of which the last part may be a chain of links.
pub(super) fn resolve(
    app_path: &Path,
    root: &Path,
    file: &str,
    schemes: &[String],
) -> Result<Resolved, PathProblem> {
    if let Some(scheme) = url_scheme(file) {
        if schemes.iter().any(|allowed| allowed.eq_ignore_ascii_case(&scheme)) {
            return Ok(Resolved::Url(file.to_owned()));
        }
        return Err(PathProblem::Scheme { scheme });
    }
    let from = if file.starts_with('/') { root } else { app_path };
    let mut path = joined(from, Path::new(file));
    let mut followed = 0;
    // What is not a link, or not there, is what it is. Outside of the root no link is looked at.
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

/// Returns where an absolute path below a repository's root leads, all links followed; [`tiphys_tree::resolve`] looks at nothing outside.
pub(super) fn real(root: &Path, path: &Path) -> Result<PathBuf, ContainmentError> {
    let outside = || ContainmentError::OutOfBounds { file: path.to_string_lossy().into_owned() };
    let below = path.strip_prefix(root).map_err(|_| outside())?;
    tiphys_tree::resolve(root, EntryPath::new(below.as_os_str().as_bytes()).map_err(|_| outside())?)
}

/// A path behind a folder, cleaned as Go's `filepath.Join` does: word for word, without looking at links.
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
