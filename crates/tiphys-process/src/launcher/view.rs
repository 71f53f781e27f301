//! Sets up and removes the view of a run.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use super::layer::{Layer, root_below};
use super::overlay;
use crate::mounts::remove_run_dir;
use crate::spec::{PrivateView, Shielded, View};

/// A view that is set up.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The root as the commands see it, links resolved.
    pub(super) root: PathBuf,
    /// The roots of the other trees, in order.
    pub(super) others: Vec<PathBuf>,
    /// Why the trees were copied although an overlay was requested.
    pub(super) copied_because: Option<String>,
    /// Mount points outside the view that shield directories.
    pub(super) covered: Vec<PathBuf>,
}

/// Sets up the view. If the system refuses an overlay, the trees may be copied. Namespaces that were entered until then are harmless.
pub(super) fn set_up(view: &View) -> Result<Prepared, String> {
    match view {
        View::Direct { dir } => Ok(Prepared {
            root: resolved(dir, "directory")?,
            others: Vec::new(),
            copied_because: None,
            covered: Vec::new(),
        }),
        View::Private { lower, others, run_dir, how, shielded } => {
            let lower = resolved(lower, "tree")?;
            let run_dir = resolved(run_dir, "run directory")?;
            let mut layers = vec![Layer { lower, dir: run_dir.clone() }];
            for (index, other) in others.iter().enumerate() {
                layers.push(Layer { lower: resolved(other, "tree")?, dir: other_dir(&run_dir, index) });
            }
            let (covered, copied_because) = make(&layers, &run_dir, *how, shielded)?;
            let others = layers.iter().skip(1).map(Layer::root).collect();
            Ok(Prepared { root: root_below(&run_dir), others, copied_because, covered })
        }
    }
}

/// Mounts or copies all trees. Returns the covered paths, and why the trees were copied although an overlay was requested.
fn make(
    layers: &[Layer],
    run_dir: &Path,
    how: PrivateView,
    shielded: &Shielded,
) -> Result<(Vec<PathBuf>, Option<String>), String> {
    let refused = match how {
        PrivateView::Overlay | PrivateView::Auto => match overlay::mount(layers, run_dir, shielded) {
            Ok(covered) => return Ok((covered, None)),
            Err(refused) if how == PrivateView::Overlay => {
                return Err(format!("no overlay: {refused}; allow a copy"));
            }
            Err(refused) => Some(refused),
        },
        PrivateView::Copy => None,
    };
    layers.iter().try_for_each(Layer::copy).map_err(|error| format!("copying the tree: {error}"))?;
    Ok((Vec::new(), refused))
}

/// Removes everything that [`set_up`] made, also after a failure, and uncovers these directories.
pub(super) fn remove(view: &View, covered: &[PathBuf]) -> Result<(), String> {
    match view {
        View::Direct { .. } => Ok(()),
        View::Private { others, run_dir, how, .. } => {
            if *how != PrivateView::Copy {
                let other_dirs = (0..others.len()).map(|index| other_dir(run_dir, index));
                let roots = iter::once(run_dir.clone()).chain(other_dirs).map(|dir| root_below(&dir));
                overlay::unmount(roots, covered);
            }
            remove_run_dir(run_dir).map_err(|error| format!("removing the run directory: {error}"))
        }
    }
}

/// The directory of another tree in the run directory.
fn other_dir(run_dir: &Path, index: usize) -> PathBuf {
    run_dir.join(format!("other-{index}"))
}

fn resolved(path: &Path, what: &str) -> Result<PathBuf, String> {
    let fail = |reason: String| format!("{what} {}: {reason}", path.display());
    let resolved = fs::canonicalize(path).map_err(|error| fail(error.to_string()))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(fail("not a directory".to_owned())) }
}
