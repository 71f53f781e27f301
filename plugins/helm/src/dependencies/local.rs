//! Dependencies in directories (`file://…`): inside the repository, and complete; and what `charts` has already.
//!
//! Argo CD lets helm read any directory that its process can, and renders a dependency without its own dependencies. Here, both are errors.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tiphys_chart::{LoadLimits, pack};
use tiphys_go::versions::Version;
use tiphys_tree::read_bounded;

use super::remote::DependencyRepository;
use super::{Archive, BuiltCharts, DependencyError, archive_name};
use crate::builtin::{RULES, chart_files};
use crate::chart::{CHARTS, Chart, ChartBounds, Dependency, PACKED, PACKED_CHART_BYTES_MAX};
use crate::mirror;
use crate::value_files::joined;

/// Returns the directory of a dependency, with links resolved. Its chart is in the range of the dependency, and complete.
pub(super) fn folder(
    root: &Path,
    chart: &Path,
    dependency: &Dependency,
    path: &str,
    bounds: ChartBounds,
) -> Result<PathBuf, DependencyError> {
    let (name, repository) = (dependency.name.clone(), dependency.repository.clone());
    let from = if path.starts_with('/') { Path::new("/") } else { chart };
    let written = joined(from, Path::new(path));
    if !written.starts_with(root) {
        return Err(DependencyError::Outside { name, repository });
    }
    let Ok(real) = written.canonicalize() else {
        return Err(DependencyError::NoFolder { path: path.to_owned() });
    };
    if !real.starts_with(root.canonicalize().unwrap_or_else(|_| root.to_path_buf())) {
        return Err(DependencyError::Outside { name, repository });
    }
    let found = Chart::read(&real, bounds)?;
    if !dependency.takes(&name, Version::parse(&found.version).ok().as_ref()) {
        let version = dependency.version.as_str().to_owned();
        return Err(DependencyError::NoVersion { name, repository, version });
    }
    check_whole(&real, dependency, bounds).map_err(|error| match error {
        DependencyError::Nested { .. } if depends_on(&real, chart, bounds) => {
            DependencyError::Cycle { name, repository }
        }
        error => error,
    })?;
    Ok(real)
}

/// Whether the chart of a directory depends on that of another one.
fn depends_on(folder: &Path, other: &Path, bounds: ChartBounds) -> bool {
    let Ok(chart) = Chart::read_with_requirements(folder, bounds) else { return false };
    let is_other = |one: &Dependency| match DependencyRepository::of(&one.repository) {
        DependencyRepository::Folder(path) => {
            let found = joined(folder, Path::new(path)).canonicalize();
            found.is_ok_and(|found| other.canonicalize().is_ok_and(|other| found == other))
        }
        _ => false,
    };
    chart.dependencies.iter().any(is_other)
}

/// Rejects a dependency that lacks its own dependencies. An archive is not read.
pub(super) fn check_whole(
    folder: &Path,
    dependency: &Dependency,
    bounds: ChartBounds,
) -> Result<(), DependencyError> {
    let Ok(chart) = Chart::read_with_requirements(folder, bounds) else { return Ok(()) };
    let in_charts = InCharts::read(&folder.join(CHARTS), bounds);
    match chart.dependencies.iter().find(|one| !in_charts.has_chart(&one.name)) {
        None => Ok(()),
        Some(missing) => Err(DependencyError::Nested {
            name: dependency.name.clone(),
            repository: dependency.repository.clone(),
            missing: missing.name.clone(),
        }),
    }
}

/// Packs the chart of a directory, or reads an archive. Returns the name of its file in `charts`, too.
pub(super) fn packed(
    name: &str,
    path: &Path,
    root: &Path,
    bounds: ChartBounds,
) -> Result<Archive, DependencyError> {
    if !path.is_dir() {
        let file = crate::chart::file_name(path);
        let bytes = read_archive(path);
        let bytes = bytes.map_err(|source| DependencyError::Charts { path: path.to_path_buf(), source })?;
        return Ok((file, bytes.into()));
    }
    let version = Chart::read(path, bounds)?.version;
    let root = if path.starts_with(root) { root } else { path };
    let unreadable = |text: String| DependencyError::Unreadable { name: name.to_owned(), text };
    let files = chart_files(root, path).map_err(|error| unreadable(error.to_string()))?;
    let packed = pack(files, name, LoadLimits::new(RULES));
    Ok((archive_name(name, &version), packed.map_err(|error| unreadable(error.to_string()))?.into()))
}

/// Reads an archive within Helm's limit.
pub(super) fn read_archive(path: &Path) -> io::Result<Vec<u8>> {
    read_bounded(path, PACKED_CHART_BYTES_MAX)?.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

/// Applies a build to `charts` of a chart's copy.
pub(super) fn write(built: &BuiltCharts, charts: &Path) -> io::Result<()> {
    replace_link(charts)?;
    fs::create_dir_all(charts)?;
    for file in &built.removed {
        fs::remove_file(charts.join(file))?;
    }
    for (file, archive) in &built.added {
        if Path::new(file).file_name() != Some(OsStr::new(file)) {
            return Err(io::Error::other(format!("{file:?} is not the name of a file")));
        }
        let path = charts.join(file);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::write(&path, archive)?,
        }
    }
    Ok(())
}

/// Replaces a link to a directory with a copy of it.
fn replace_link(path: &Path) -> io::Result<()> {
    if !path.is_symlink() {
        return Ok(());
    }
    let target = path.canonicalize()?;
    fs::remove_file(path)?;
    mirror::copy(&target, path).map_err(io::Error::other)?;
    Ok(())
}

/// The charts in `charts`.
#[derive(Debug)]
pub(super) struct InCharts {
    folders: Vec<(String, Option<Version>)>,
    /// Names of files, with the names of their charts.
    pub(super) archives: Vec<(String, String)>,
}

impl InCharts {
    /// Reads a directory, which may not exist. Other entries are left out: helm reports them.
    pub(super) fn read(charts: &Path, bounds: ChartBounds) -> Self {
        let mut found = Self { folders: Vec::new(), archives: Vec::new() };
        // Of all archives together.
        let mut limits = bounds.of_chart(RULES);
        for entry in fs::read_dir(charts).into_iter().flatten().flatten() {
            let (path, file) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if file.ends_with(PACKED) {
                let Ok(archive) = read_archive(&path) else { continue };
                match tiphys_chart::Chart::of_archive(&archive, RULES, limits) {
                    Ok(chart) => {
                        limits.bytes = limits.bytes.saturating_sub(unpacked_bytes(&chart));
                        found.archives.push((file, chart.metadata.name));
                    }
                    Err(error) if error.is_limit() => limits.bytes = 0,
                    Err(_) => {}
                }
            } else if let Ok(chart) = Chart::read(&path, bounds) {
                let version = Version::parse(&chart.version).ok();
                found.folders.push((chart.name, version));
            }
        }
        found
    }

    /// Whether a directory has the chart of a dependency. It wins over one that a build would add, of which helm would choose one at random.
    pub(super) fn has_folder_of(&self, dependency: &Dependency) -> bool {
        self.folders.iter().any(|(name, version)| dependency.takes(name, version.as_ref()))
    }

    /// Whether there is a chart with a name.
    pub(super) fn has_chart(&self, name: &str) -> bool {
        let names =
            self.folders.iter().map(|(name, _)| name).chain(self.archives.iter().map(|(_, name)| name));
        names.into_iter().any(|found| found == name)
    }
}

/// Returns the bytes of the files of a chart and its subcharts.
fn unpacked_bytes(chart: &tiphys_chart::Chart) -> u64 {
    let files = chart.templates.iter().chain(&chart.files).map(|file| file.bytes.len() as u64);
    let others = chart.values_yaml.len() + chart.schema.as_ref().map_or(0, |schema| schema.len());
    files.sum::<u64>() + others as u64 + chart.subcharts.iter().map(unpacked_bytes).sum::<u64>()
}

#[cfg(test)]
mod tests;
