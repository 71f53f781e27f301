//! Dependencies in directories (`file://…`): inside the repository, and complete.
//!
//! Argo CD lets helm read any directory that its process can, and renders a dependency without its own dependencies. Here, both are errors.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_go::versions::Version;

use super::DependencyError;
use crate::chart::{Chart, ChartBounds, Dependency};
use crate::value_files::joined;

/// Suffixes of packed charts.
const PACKED: [&str; 2] = [".tgz", ".tar.gz"];

/// Returns the directory of a dependency, with links resolved; `None` if it does not exist, which helm reports.
pub(crate) fn folder(
    root: &Path,
    chart: &Path,
    dependency: &Dependency,
    path: &str,
) -> Result<Option<PathBuf>, DependencyError> {
    let outside = || DependencyError::Outside {
        name: dependency.name.clone(),
        repository: dependency.repository.clone(),
    };
    let from = if path.starts_with('/') { Path::new("/") } else { chart };
    let written = joined(from, Path::new(path));
    if !written.starts_with(root) {
        return Err(outside());
    }
    let Ok(real) = written.canonicalize() else { return Ok(None) };
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    if real.starts_with(real_root) { Ok(Some(real)) } else { Err(outside()) }
}

/// Rejects a dependency that lacks its own dependencies. Helm reports unreadable files.
pub(crate) fn check_whole(
    folder: &Path,
    dependency: &Dependency,
    bounds: ChartBounds,
) -> Result<(), DependencyError> {
    let Ok(chart) = Chart::read_with_requirements(folder, bounds) else { return Ok(()) };
    match missing(folder, &chart.dependencies, bounds).first() {
        None => Ok(()),
        Some(missing) => Err(DependencyError::Nested {
            name: dependency.name.clone(),
            repository: dependency.repository.clone(),
            missing: missing.name.clone(),
        }),
    }
}

/// Returns those of the dependencies that are not in the chart's `charts`.
pub(crate) fn missing<'a>(
    folder: &Path,
    dependencies: &'a [Dependency],
    bounds: ChartBounds,
) -> Vec<&'a Dependency> {
    if dependencies.is_empty() {
        return Vec::new();
    }
    let vendored = Vendored::of(folder, bounds);
    dependencies.iter().filter(|one| !vendored.has(&one.name)).collect()
}

/// Removes packed charts from `charts` if a directory there satisfies all dependencies that select them. A build writes them if only some
/// dependencies were missing, and helm would choose between the two at random. What the repository contains wins. A packed chart that
/// another dependency needs stays, since the directory's version is not in its range.
pub(crate) fn remove_duplicates(
    charts: &Path,
    dependencies: &[&Dependency],
    bounds: ChartBounds,
) -> io::Result<()> {
    let (mut in_folders, mut packed) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(charts)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if PACKED.iter().any(|end| name.ends_with(end)) {
            packed.push(path);
        } else if let Ok(chart) = Chart::read(&path, bounds) {
            in_folders.push((Version::parse(&chart.version).ok(), chart.name));
        }
    }
    let in_folder = |dependency: &Dependency| {
        in_folders.iter().any(|(version, name)| dependency.takes(name, version.as_ref()))
    };
    let (in_folder, others): (Vec<&Dependency>, Vec<&Dependency>) =
        dependencies.iter().copied().partition(|dependency| in_folder(dependency));
    if in_folder.is_empty() {
        return Ok(());
    }
    for path in packed {
        let Some(chart) = Chart::read_packed(&path, bounds) else { continue };
        let version = Version::parse(&chart.version).ok();
        let is_needed =
            |list: &[&Dependency]| list.iter().any(|one| one.takes(&chart.name, version.as_ref()));
        if is_needed(&in_folder) && !is_needed(&others) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Content of a chart's `charts`.
struct Vendored {
    /// Names of charts in directories.
    names: BTreeSet<String>,
    /// Names of packed charts, with versions.
    packed: Vec<String>,
}

impl Vendored {
    fn of(folder: &Path, bounds: ChartBounds) -> Self {
        let mut vendored = Self { names: BTreeSet::new(), packed: Vec::new() };
        for entry in fs::read_dir(folder.join("charts")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(packed) = PACKED.iter().find_map(|end| name.strip_suffix(end)) {
                vendored.packed.push(packed.to_owned());
            } else if let Ok(chart) = Chart::read(&entry.path(), bounds) {
                vendored.names.insert(chart.name);
            }
        }
        vendored
    }

    fn has(&self, name: &str) -> bool {
        // Otherwise it is a chart with a longer name: `db-admin-1.0.0`.
        let is_version = |rest: &str| rest.strip_prefix('-').is_some_and(|text| Version::parse(text).is_ok());
        let is_it = |packed: &String| packed.strip_prefix(name).is_some_and(is_version);
        self.names.contains(name) || self.packed.iter().any(is_it)
    }
}

#[cfg(test)]
mod tests;
