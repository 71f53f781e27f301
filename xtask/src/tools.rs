//! `cargo xtask tools`: installs helm, kustomize, yq and jq for plugins, tests and demo, mdbook for the book, and Helm 3 and an OCI
//! registry for tests in `target/tools/bin`, and the packages of the Python example in `target/tools/python`.
//!
//! A program on `PATH` whose version fits is linked; any other is built from its pinned Go module or crate. A tool is built in its own
//! directory and renamed, and then the stamp is written, so an interrupted call leaves either the old tool or the new one. If nothing
//! changed, a call reads only the stamp and file sizes.

mod build;
mod catalogue;
mod on_path;
mod python;
mod stamp;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Failure;
pub(crate) use catalogue::Purpose;
use catalogue::Tool;
use stamp::{Origin, Stamp};

/// Arguments of `cargo xtask tools`.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Options {
    /// Build or install every tool anew from its pinned sources, whatever `PATH` has
    #[arg(long)]
    pub(crate) build: bool,
    /// Only the tools for this
    #[arg(long = "for", value_name = "PURPOSE")]
    pub(crate) purpose: Option<Purpose>,
}

impl Options {
    /// Selects the tools for one purpose.
    pub(crate) fn only(purpose: Purpose) -> Self {
        Self { purpose: Some(purpose), ..Self::default() }
    }

    fn includes(&self, purpose: Purpose) -> bool {
        self.purpose.is_none_or(|only| only == purpose)
    }
}

/// Directory of the tools, relative to the workspace's root, for `PATH`.
pub(crate) fn bin(root: &Path) -> PathBuf {
    root.join("target/tools/bin")
}

/// Installs the tools of the catalogue in [`bin`]. Concurrent calls wait for each other.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), Failure> {
    let home = root.join("target/tools");
    let bin = bin(root);
    fs::create_dir_all(&bin).map_err(|error| Failure::at(&bin, error))?;
    let lock_file = home.join("lock");
    let lock = File::create(&lock_file).map_err(|error| Failure::at(&lock_file, error))?;
    lock.lock().map_err(|error| Failure::at(&lock_file, error))?;
    build::remove_leftovers(&home)?;

    let stamp_file = home.join("stamp");
    let mut stamp = Stamp::read(&stamp_file);
    for tool in catalogue::TOOLS.iter().filter(|tool| options.includes(tool.purpose)) {
        let place = bin.join(tool.name);
        if stamp.holds(tool, &place) && !(options.build && stamp.is_linked(tool)) {
            continue;
        }
        let origin = provide(tool, &place, &home, options)?;
        stamp.record(tool, &place, &origin)?;
        stamp.write(&stamp_file)?;
        match origin {
            Origin::Built => println!("{} {}: built", tool.name, tool.version),
            Origin::Linked(found) => println!("{}: {} fits", tool.name, found.display()),
        }
    }
    if options.includes(Purpose::Python) {
        python::provide(&home, options)?;
    }
    Ok(())
}

fn provide(tool: &Tool, place: &Path, home: &Path, options: &Options) -> Result<Origin, Failure> {
    if !options.build
        && let Some(found) = on_path::fitting(tool, &bin_of(place))
    {
        link(&found, place, home)?;
        return Ok(Origin::Linked(found));
    }
    build::build(tool, place, home)?;
    Ok(Origin::Built)
}

/// The directory of the tools. It is excluded from the search on `PATH`, so that no tool is linked to itself.
fn bin_of(place: &Path) -> PathBuf {
    place.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Atomically replaces `place` by a link.
fn link(found: &Path, place: &Path, home: &Path) -> Result<(), Failure> {
    let folder = build::fresh_folder(home)?;
    let new = folder.path().join("link");
    std::os::unix::fs::symlink(found, &new).map_err(|error| Failure::at(&new, error))?;
    fs::rename(&new, place).map_err(|error| Failure::at(place, error))
}
