//! What the commands see, made and removed.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use tiphys_removal::remove_tree;

use super::overlay;
use crate::copy::copy_tree;
use crate::mounts::remove_run_dir;
use crate::run::{PrivateView, Shielded, View};

/// A view that stands.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Its root as the commands see it, links resolved.
    pub(super) root: PathBuf,
    /// The roots of the other trees, in their order.
    pub(super) others: Vec<PathBuf>,
    /// Why an overlay that was asked for became a copy.
    pub(super) copied_because: Option<String>,
    /// Paths outside the view at which something is mounted that shields what was there.
    pub(super) covered: Vec<PathBuf>,
}

/// A tree and the folder in which its overlay or its copy is made.
#[derive(Debug)]
pub(super) struct Layer {
    /// The tree, links resolved.
    pub(super) lower: PathBuf,
    /// The run's own folder, or one in it.
    pub(super) dir: PathBuf,
}

impl Layer {
    /// Where the commands see the tree.
    pub(super) fn root(&self) -> PathBuf {
        root_below(&self.dir)
    }

    fn copy(&self) -> std::io::Result<()> {
        remove_tree(&self.root())?;
        fs::create_dir_all(&self.dir)?;
        copy_tree(&self.lower, &self.root())
    }
}

/// Makes the view. Where the system refuses an overlay the trees may be copied: what was entered of namespaces by then does no harm.
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
            let run_dir = resolved(run_dir, "folder of the run")?;
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

/// Mounts or copies all trees; returns the paths that are covered, and why the trees were copied if that was not wanted.
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
                return Err(format!("no overlay, and no copy is wanted: the system refused: {refused}"));
            }
            Err(refused) => Some(refused),
        },
        PrivateView::Copy => None,
    };
    layers.iter().try_for_each(Layer::copy).map_err(|error| format!("copying the tree: {error}"))?;
    Ok((Vec::new(), refused))
}

/// Removes what [`set_up`] made, wholly or in part, and uncovers these folders.
pub(super) fn remove(view: &View, covered: &[PathBuf]) -> Result<(), String> {
    match view {
        View::Direct { .. } => Ok(()),
        View::Private { others, run_dir, how, .. } => {
            if *how != PrivateView::Copy {
                let other_dirs = (0..others.len()).map(|index| other_dir(run_dir, index));
                let roots = iter::once(run_dir.clone()).chain(other_dirs).map(|dir| root_below(&dir));
                overlay::unmount(roots, covered);
            }
            remove_run_dir(run_dir).map_err(|error| format!("removing the folder of the run: {error}"))
        }
    }
}

/// The root of a tree's overlay or copy that is made in a folder.
fn root_below(dir: &Path) -> PathBuf {
    dir.join("root")
}

/// The folder of another tree in the run's own one.
fn other_dir(run_dir: &Path, index: usize) -> PathBuf {
    run_dir.join(format!("other-{index}"))
}

fn resolved(path: &Path, what: &str) -> Result<PathBuf, String> {
    let fail = |reason: String| format!("{what} {}: {reason}", path.display());
    let resolved = fs::canonicalize(path).map_err(|error| fail(error.to_string()))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(fail("not a directory".to_owned())) }
}
