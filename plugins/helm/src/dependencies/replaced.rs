//! Dependencies of repositories that local directories replace (`--repo URL=DIR`). Nothing is fetched for them.
//!
//! Helm has no such option. It runs on reduced metadata: without the dependencies whose archive is local, and with `file://` for those in a
//! directory, which helm packs. The archives are added afterwards, and the chart gets its own files back.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use tiphys_model::access::{LocalChart, RepoUrl, RunContext};

use super::listed::Listed;
use super::remote::{DependencyRepository, ProjectRepositories};
use super::{CHARTS, DependencyError, HELM_IGNORE};
use crate::chart::{CHART, Dependency, LOCKS, REQUIREMENTS};
use crate::home::Home;

/// The dependencies of a chart by their origin.
#[derive(Debug)]
pub(super) struct Replaced {
    /// Those with a local chart.
    pub(super) charts: Vec<(Dependency, LocalChart)>,
    /// The others.
    pub(super) others: Vec<Dependency>,
    /// The versions of the others: that of the lock file, or their range.
    versions: Vec<String>,
}

/// The chart's own files while helm runs.
pub(super) struct SetAside {
    folder: PathBuf,
}

/// Files with dependencies, and the one that can hide them.
fn metadata() -> impl Iterator<Item = &'static str> {
    [CHART, REQUIREMENTS, HELM_IGNORE].into_iter().chain(LOCKS)
}

/// Returns the local chart that replaces that of a dependency: in the locked version, else in the newest of its range. `None` if its repository
/// is not replaced.
pub(super) fn local_chart<'a>(
    dependency: &Dependency,
    listed: &Listed,
    known: &ProjectRepositories,
    context: &'a RunContext,
) -> Result<Option<&'a LocalChart>, DependencyError> {
    let addresses = match DependencyRepository::of(&dependency.repository) {
        DependencyRepository::Web(address) | DependencyRepository::Registry(address) => {
            vec![address.to_owned()]
        }
        DependencyRepository::Named(name) => known.named(name),
        _ => return Ok(None),
    };
    let addresses: Vec<String> =
        addresses.iter().map(|address| RepoUrl::new(address).chart_repository()).collect();
    let is_replaced = |url: &String| addresses.contains(&RepoUrl::new(url).chart_repository());
    let mut folders =
        context.local_charts.iter().filter(|(url, _)| is_replaced(url)).map(|(_, charts)| charts).peekable();
    if folders.peek().is_none() {
        return Ok(None);
    }
    let charts: Vec<&LocalChart> = folders.flatten().filter(|chart| chart.name == dependency.name).collect();
    let versions = || charts.iter().map(|chart| chart.version.as_str());
    let locked = listed.locked_version(dependency);
    let version = match locked {
        Some(locked) => Some(locked),
        None => dependency.newest(versions()),
    };
    let found = charts.iter().find(|chart| Some(chart.version.as_str()) == version);
    let missing = || DependencyError::NotInFolder {
        name: dependency.name.clone(),
        repository: RepoUrl::new(&dependency.repository),
        found: if charts.is_empty() {
            "no chart of that name".to_owned()
        } else {
            versions().collect::<Vec<_>>().join(", ")
        },
        wanted: locked.unwrap_or(dependency.version.as_str()).to_owned(),
    };
    found.copied().map(Some).ok_or_else(missing)
}

impl Replaced {
    pub(super) fn new(
        listed: &Listed,
        known: &ProjectRepositories,
        context: &RunContext,
    ) -> Result<Self, DependencyError> {
        let mut replaced = Self { charts: Vec::new(), others: Vec::new(), versions: Vec::new() };
        for dependency in &listed.dependencies {
            if let Some(chart) = local_chart(dependency, listed, known, context)? {
                replaced.charts.push((dependency.clone(), chart.clone()));
            } else {
                let version = listed.locked_version(dependency).unwrap_or(dependency.version.as_str());
                replaced.versions.push(version.to_owned());
                replaced.others.push(dependency.clone());
            }
        }
        Ok(replaced)
    }

    /// Whether helm has something to fetch or to pack.
    pub(super) fn needs_helm(&self) -> bool {
        self.folders().next().is_some() || self.others.iter().any(|one| !one.repository.is_empty())
    }

    /// Replaces the metadata of the chart's copy by what helm has to fetch or to pack.
    pub(super) fn reduce(&self, chart: &Path, home: &Home) -> Result<SetAside, DependencyError> {
        let folder = home.path().join(Home::SET_ASIDE);
        let reduced = self.reduced();
        let write = || {
            fs::create_dir(&folder)?;
            for name in metadata() {
                moved(&chart.join(name), &folder.join(name))?;
            }
            File::create_new(chart.join(CHART))?.write_all(reduced.as_bytes())
        };
        write().map_err(|source| DependencyError::Charts { path: chart.to_path_buf(), source })?;
        Ok(SetAside { folder })
    }

    /// Adds the local archives, and restores the metadata.
    pub(super) fn complete(&self, chart: &Path, set_aside: &SetAside) -> Result<(), DependencyError> {
        let charts = chart.join(CHARTS);
        let write = || {
            fs::create_dir_all(&charts)?;
            for (_, LocalChart { name, version, path }) in
                self.charts.iter().filter(|(_, one)| !one.path.is_dir())
            {
                let archive = charts.join(format!("{name}-{version}.tgz"));
                absent(fs::remove_file(&archive))?;
                fs::copy(path, archive)?;
            }
            for name in metadata() {
                absent(fs::remove_file(chart.join(name)))?;
                moved(&set_aside.folder.join(name), &chart.join(name))?;
            }
            Ok(())
        };
        write().map_err(|source| DependencyError::Charts { path: charts.clone(), source })
    }

    fn folders(&self) -> impl Iterator<Item = &LocalChart> {
        self.charts.iter().map(|(_, chart)| chart).filter(|chart| chart.path.is_dir())
    }

    /// Returns `Chart.yaml` for helm.
    fn reduced(&self) -> String {
        let local = self.folders().map(|LocalChart { name, version, path }| {
            json!({ "name": name, "version": version, "repository": format!("file://{}", path.display()) })
        });
        let others = self.others.iter().zip(&self.versions).map(
            |(one, version)| json!({ "name": one.name, "version": version, "repository": one.repository }),
        );
        let dependencies: Vec<_> = local.chain(others).collect();
        json!({ "apiVersion": "v2", "name": "reduced", "version": "0.0.0", "dependencies": dependencies })
            .to_string()
    }
}

/// Moves a file, if it exists. Links are moved, not followed.
fn moved(from: &Path, to: &Path) -> io::Result<()> {
    absent(fs::rename(from, to))
}

/// Ignores that a file does not exist.
fn absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
