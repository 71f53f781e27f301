//! `cargo xtask tools`: installs helm, kustomize, tiphys-native, yq and jq for plugins, tests and demo, mdbook for the book, and Helm 3 and an OCI
//! registry and a Kubernetes API server for tests in `target/tools/bin`, and the packages of the Python example in `target/tools/python`.
//!
//! A program in `KUBEBUILDER_ASSETS` is linked in any version, by the convention of tests with a Kubernetes API server.
//! An installed tool stays if it prints a fitting version. A program on `PATH` that does is linked; any other is built once for each version
//! from its pinned Go module or crate, and kept in the user's cache. A tool is built in another directory and renamed, so an interrupted call leaves either the old tool or the new one.

mod build;
mod catalogue;
pub(crate) mod python;
#[cfg(test)]
mod tests;
pub(crate) mod zig;

use std::env::split_paths;
use std::path::{Path, PathBuf};

use crate::cargo::{search_path, variable};
use crate::{Failure, files, native};
pub(crate) use catalogue::Purpose;

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
    files::create_directory(&bin)?;
    let _lock = files::lock(&home.join("lock"))?;
    let tools: Vec<&catalogue::Tool> =
        catalogue::TOOLS.iter().filter(|tool| options.includes(tool.purpose)).collect();
    for (index, tool) in tools.iter().enumerate() {
        let place = bin.join(tool.name);
        if let Some(asset) = asset(tool.name) {
            link(&asset, &place, &home)?;
            println!("{}: {} of KUBEBUILDER_ASSETS", tool.name, asset.display());
            continue;
        }
        if tool.is_at(&place) && !(options.build && place.is_symlink()) {
            continue;
        }
        // With a relative entry of `PATH`, a link would depend on the current directory.
        let on_path = tool.names().flat_map(programs).filter(|found| !found.starts_with(&bin));
        let on_path: Vec<PathBuf> = on_path.filter(|_| !options.build).collect();
        let fitting = on_path.iter().find(|found| tool.is_at(found));
        for found in on_path.iter().filter(|_| fitting.is_none()) {
            let printed = tool.printed_version(found).unwrap_or_default();
            println!("{}: {} does not fit: {}", tool.name, found.display(), printed.trim());
        }
        if let Some(found) = fitting {
            link(found, &place, &home)?;
            println!("{}: {} fits", tool.name, found.display());
        } else {
            let cached = cached(tool);
            if let Some(cached) = cached.as_ref().filter(|cached| !options.build && tool.is_at(cached)) {
                link(cached, &place, &home)?;
                continue;
            }
            build::build(tool, &place, &home, root, tools.len() - index - 1)?;
            if let Some(cached) = cached {
                crate::install::copy_file(&place, &cached)?;
            }
        }
    }
    if options.includes(Purpose::Plugins) {
        // Go builds only what has changed.
        let new = build::empty_directory(&home)?.join(native::PROGRAM);
        native::build(root, None, &new)?;
        files::rename(&new, &bin.join(native::PROGRAM))?;
    }
    if options.includes(Purpose::Python) {
        python::provide(&home, options)?;
    }
    Ok(())
}

/// Returns the place of a tool that an earlier checkout has built: in the user's cache, by its version.
fn cached(tool: &catalogue::Tool) -> Option<PathBuf> {
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))?;
    Some(cache.join("tiphys-tools").join(format!("{}-{}", tool.name, tool.version.trim_start_matches('v'))))
}

/// Returns the program with this name in the directory that `KUBEBUILDER_ASSETS` names.
fn asset(name: &str) -> Option<PathBuf> {
    let asset = PathBuf::from(variable("KUBEBUILDER_ASSETS")?).join(name);
    (asset.is_absolute() && asset.is_file()).then_some(asset)
}

/// Whether a program with this name is on `PATH`.
pub(crate) fn is_on_path(name: &str) -> bool {
    !programs(name).is_empty()
}

/// Returns the files with this name in the absolute directories of `PATH`, in order.
fn programs(name: &str) -> Vec<PathBuf> {
    split_paths(&search_path())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .filter(|file| file.is_file())
        .collect()
}

/// Atomically replaces `place` by a link.
fn link(found: &Path, place: &Path, home: &Path) -> Result<(), Failure> {
    let new = build::empty_directory(home)?.join("link");
    std::os::unix::fs::symlink(found, &new).map_err(|error| Failure::at(&new, error))?;
    files::rename(&new, place)
}
