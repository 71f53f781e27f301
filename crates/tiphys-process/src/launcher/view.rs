//! What the commands see, made and removed.

use std::fs;
use std::path::{Path, PathBuf};

use tiphys_folders::remove_tree;

use super::overlay;
use super::session::root_below;
use crate::copy::copy_tree;
use crate::mounts::remove_run_dir;
use crate::run::{PrivateView, View};

/// A view that stands.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Its root as the commands see it, links resolved.
    pub(super) root: PathBuf,
    /// Why an overlay that was asked for became a copy.
    pub(super) copied_because: Option<String>,
    /// Folders that are covered, so that the commands do not see what is in them.
    pub(super) covered: Vec<PathBuf>,
}

/// Makes the view. Where the system refuses an overlay the tree may be copied: what was entered of namespaces by then does no harm.
pub(super) fn set_up(view: &View) -> Result<Prepared, String> {
    match view {
        View::Direct { dir } => {
            Ok(Prepared { root: resolved(dir, "directory")?, copied_because: None, covered: Vec::new() })
        }
        View::Private { lower, run_dir, how, hidden } => {
            let lower = resolved(lower, "tree")?;
            let run_dir = resolved(run_dir, "folder of the run")?;
            let root = root_below(&run_dir);
            let refused = match how {
                PrivateView::Overlay | PrivateView::Auto => match overlay::mount(&lower, &run_dir, hidden) {
                    Ok(covered) => return Ok(Prepared { root, copied_because: None, covered }),
                    Err(refused) if *how == PrivateView::Overlay => {
                        return Err(format!(
                            "no overlay, and no copy is wanted: the system refused: {refused}"
                        ));
                    }
                    Err(refused) => Some(refused),
                },
                PrivateView::Copy => None,
            };
            remove_tree(&root)
                .and_then(|()| copy_tree(&lower, &root))
                .map_err(|error| format!("copying the tree: {error}"))?;
            Ok(Prepared { root, copied_because: refused, covered: Vec::new() })
        }
    }
}

/// Removes what [`set_up`] made, wholly or in part, and uncovers these folders.
pub(super) fn remove(view: &View, covered: &[PathBuf]) -> Result<(), String> {
    match view {
        View::Direct { .. } => Ok(()),
        View::Private { run_dir, how, .. } => {
            if *how != PrivateView::Copy {
                overlay::unmount(&root_below(run_dir), covered);
            }
            remove_run_dir(run_dir).map_err(|error| format!("removing the folder of the run: {error}"))
        }
    }
}

fn resolved(path: &Path, what: &str) -> Result<PathBuf, String> {
    let fail = |reason: String| format!("{what} {}: {reason}", path.display());
    let resolved = fs::canonicalize(path).map_err(|error| fail(error.to_string()))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(fail("not a directory".to_owned())) }
}
