//! The dependencies that a build adds to a chart: its list, and the versions of its lock file.
//!
//! A lock file must match the list. Helm compares only a digest, which anyone can compute, and then fetches what the lock file contains. Here,
//! its addresses must be those of the list, too.

use std::path::Path;

use tiphys_chart::{LoadLimits, is_chart_name, is_ignored, lock_digests};
use tiphys_go::versions::Version;
use tiphys_model::access::RepoUrl;
use tiphys_tree::read_bounded;

use super::error::BUILD_FAILED;
use super::remote::{DependencyRepository, ProjectRepositories};
use crate::builtin::RULES;
use crate::chart::{
    CHART, CHART_BYTES_MAX, Chart, ChartBounds, ChartError, Dependency, HELM_IGNORE, LOCKS, Lock,
    REQUIREMENTS,
};

/// The dependencies in the files of a chart that helm sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) dependencies: Vec<Dependency>,
    /// The lock file, if it is not empty.
    lock: Option<Lock>,
}

/// Errors of the list and of the lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListedError {
    /// A character that helm may remove, so that it would read another address.
    #[error(
        "error building helm chart dependencies: the repository of dependency {name} has the character U+{character:04X}; remove it",
        character = u32::from(*character)
    )]
    Character { name: String, character: char },
    /// A name that is not the name of a file, as helm requires of charts.
    #[error("error building helm chart dependencies: dependency {name:?} is not the name of a chart")]
    Name { name: String },
    /// A version that is neither a version nor a range. The words are helm's.
    #[error("{BUILD_FAILED}dependency {name:?} has an invalid version/constraint format: {version:?}")]
    Version { name: String, version: String },
    /// The list was changed after the lock file. The words are Argo CD's.
    #[error(
        "{BUILD_FAILED}the lock file ({lock}) is out of sync with the dependencies file ({}). Please update the dependencies with 'helm \
         dependency update'",
        if *lock == LOCKS[0] { CHART } else { REQUIREMENTS }
    )]
    OutOfSync { lock: &'static str },
    /// A lock file with an address that is not in the list.
    #[error(
        "error building helm chart dependencies: {lock} has dependency {name} of {}, which differs from the chart; run \
         `helm dependency update` and commit the file that it writes",
        if repository.expose().is_empty() { "the directory charts".to_owned() } else { repository.to_string() }
    )]
    Lock {
        lock: &'static str,
        name: String,
        /// Its address in the lock file.
        repository: RepoUrl,
    },
}

impl Listed {
    pub(super) fn read(folder: &Path, bounds: ChartBounds) -> Result<Self, ChartError> {
        // Helm reports an unreadable file and invalid rules.
        let rules = read_bounded(&folder.join(HELM_IGNORE), CHART_BYTES_MAX).ok().flatten();
        let is_hidden = |name: &str| {
            let rules = rules.as_deref().unwrap_or_default();
            is_ignored(rules, name, LoadLimits::new(RULES)).unwrap_or_default()
        };
        let chart = if is_hidden(REQUIREMENTS) {
            Chart::read(folder, bounds)?
        } else {
            Chart::read_with_requirements(folder, bounds)?
        };
        let lock = Lock::read_all(folder, bounds)?.into_iter().rfind(|lock| !is_hidden(lock.file));
        let lock = lock.filter(|lock| lock.dependencies.is_some());
        Ok(Self { dependencies: chart.dependencies, lock })
    }

    /// Returns the version of a dependency in the lock file.
    pub(super) fn locked_version(&self, dependency: &Dependency) -> Option<&str> {
        let locked = self.lock.as_ref()?.dependencies.as_ref()?;
        let is_it = |one: &&Dependency| {
            dependency.takes(&one.name, Version::parse(one.version.as_str()).ok().as_ref())
        };
        locked.iter().find(is_it).map(|one| one.version.as_str())
    }

    /// Returns a dependency with its version in the lock file, if there is one.
    pub(super) fn locked(&self, dependency: &Dependency) -> Dependency {
        let version = self.locked_version(dependency).unwrap_or(dependency.version.as_str());
        Dependency { version: version.to_owned().into(), ..dependency.clone() }
    }

    /// Rejects ambiguous addresses, and a lock file that does not match the list.
    pub(super) fn check(&self, known: &ProjectRepositories) -> Result<(), ListedError> {
        for dependency in &self.dependencies {
            let name = dependency.name.clone();
            if !is_chart_name(&name) {
                return Err(ListedError::Name { name });
            }
            if !dependency.version.is_valid() {
                return Err(ListedError::Version { name, version: dependency.version.as_str().to_owned() });
            }
            if let Some(character) = dependency.repository.chars().find(|one| !is_kept(*one)) {
                return Err(ListedError::Character { name, character });
            }
        }
        let Some(lock) = &self.lock else { return Ok(()) };
        let locked = lock.dependencies.as_deref().unwrap_or_default();
        let is_listed = |locked: &Dependency| {
            let mut named = self.dependencies.iter().filter(|one| one.name == locked.name);
            named.any(|one| places(one, known).contains(&locked.repository))
        };
        if let Some(other) = locked.iter().find(|one| !is_listed(one)) {
            let (name, repository) = (other.name.clone(), RepoUrl::new(&other.repository));
            return Err(ListedError::Lock { lock: lock.file, name, repository });
        }
        let is_locked = |one: &Dependency| one.repository.is_empty() || self.locked_version(one).is_some();
        let is_whole = self.dependencies.iter().all(is_locked);
        if is_whole && self.digests(locked, known).contains(&lock.digest) {
            Ok(())
        } else {
            Err(ListedError::OutOfSync { lock: lock.file })
        }
    }

    /// Returns the digests of a lock file that matches the list. Helm replaces the names of repositories with their addresses before.
    fn digests(&self, locked: &[Dependency], known: &ProjectRepositories) -> Vec<String> {
        let replaced = self.dependencies.iter().map(|one| {
            let repository = places(one, known).pop().unwrap_or_default();
            Dependency { repository, ..one.clone() }
        });
        let replaced: Vec<Dependency> = replaced.collect();
        [&replaced, &self.dependencies].into_iter().flat_map(|list| lock_digests(list, locked)).collect()
    }
}

/// Returns the address of a dependency as written, followed by the ones that its name has.
fn places(dependency: &Dependency, known: &ProjectRepositories) -> Vec<String> {
    let mut places = vec![dependency.repository.clone()];
    if let DependencyRepository::Named(name) = DependencyRepository::of(&dependency.repository) {
        places.extend(known.named(name));
    }
    places
}

/// Whether every version of helm keeps a character: it removes invisible ones, and its tables vary.
fn is_kept(character: char) -> bool {
    character == ' ' || character.is_ascii_graphic() || !character.is_ascii() && character.is_alphanumeric()
}

#[cfg(test)]
mod tests;
