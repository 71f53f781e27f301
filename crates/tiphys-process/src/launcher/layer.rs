//! A tree and the directory of its overlay or copy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::removal::remove_tree;

use crate::copy::copy_tree;

/// A tree and the directory in which its overlay or copy is made.
#[derive(Debug)]
pub(super) struct Layer {
    /// The tree, links resolved.
    pub(super) lower: PathBuf,
    /// The run directory or a directory in it.
    pub(super) dir: PathBuf,
}

impl Layer {
    /// The path at which the commands see the tree.
    pub(super) fn root(&self) -> PathBuf {
        root_below(&self.dir)
    }

    pub(super) fn copy(&self) -> io::Result<()> {
        remove_tree(&self.root())?;
        fs::create_dir_all(&self.dir)?;
        copy_tree(&self.lower, &self.root())
    }
}

/// The root of the overlay or copy that is made in a directory.
pub(super) fn root_below(dir: &Path) -> PathBuf {
    dir.join("root")
}
