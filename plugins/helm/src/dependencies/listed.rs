//! The dependencies that helm may fetch for a chart: from its list, and from the lock file, which has its own addresses.
//!
//! Helm fetches what a lock file contains, and compares only a digest with the list, which anyone can compute. A `.helmignore` can hide
//! `requirements.yaml` or a lock file from helm. So every list that helm may use is checked, and lock files must match the list.

use std::path::Path;

use tiphys_go::versions::Version;
use tiphys_model::access::RepoUrl;

use super::remote::{DependencyRepository, ProjectRepositories};
use crate::chart::{Chart, ChartBounds, ChartError, Dependency, Lock};

/// The dependencies in a chart's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) dependencies: Vec<Dependency>,
    /// Those that helm uses instead if it does not see `requirements.yaml`, without duplicates.
    pub(super) others: Vec<Dependency>,
    locks: Vec<Lock>,
}

/// Errors that are reported before helm reads the list or the lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListedError {
    /// A character that helm may remove, so that it would read another address.
    #[error(
        "error building helm chart dependencies: the repository of dependency {name} has the character U+{character:04X}; remove it",
        character = u32::from(*character)
    )]
    Character { name: String, character: char },
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
        let (own, whole) = Chart::read_both(folder, bounds)?;
        Ok(Self::of(whole.dependencies, own.dependencies, Lock::read_all(folder, bounds)?))
    }

    fn of(dependencies: Vec<Dependency>, mut own: Vec<Dependency>, locks: Vec<Lock>) -> Self {
        own.retain(|one| {
            dependencies.iter().all(|other| (&one.name, &one.repository) != (&other.name, &other.repository))
        });
        Self { dependencies, others: own, locks }
    }

    /// Every dependency that helm may use.
    pub(super) fn all(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().chain(&self.others)
    }

    /// Whether helm takes versions from a lock file.
    pub(super) fn is_locked(&self) -> bool {
        self.locks.last().is_some_and(|lock| lock.dependencies.is_some())
    }

    /// Returns the version of a dependency in the lock file that helm uses.
    pub(super) fn locked_version(&self, dependency: &Dependency) -> Option<&str> {
        let locked = self.locks.last()?.dependencies.as_ref()?;
        let is_it = |one: &&Dependency| {
            dependency.takes(&one.name, Version::parse(one.version.as_str()).ok().as_ref())
        };
        locked.iter().find(is_it).map(|one| one.version.as_str())
    }

    /// Rejects ambiguous addresses, and lock files that do not match the list.
    pub(super) fn check(&self, known: &ProjectRepositories) -> Result<(), ListedError> {
        for dependency in self.all() {
            if let Some(character) = dependency.repository.chars().find(|one| !is_kept(*one)) {
                return Err(ListedError::Character { name: dependency.name.clone(), character });
            }
        }
        for lock in &self.locks {
            for locked in lock.dependencies.iter().flatten() {
                if !self
                    .all()
                    .any(|one| one.name == locked.name && is_place_of(one, &locked.repository, known))
                {
                    return Err(ListedError::Lock {
                        lock: lock.file,
                        name: locked.name.clone(),
                        repository: RepoUrl::new(&locked.repository),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Whether an address in a lock file is that of a dependency. Helm replaces the name of a repository with its address there.
fn is_place_of(dependency: &Dependency, locked: &str, known: &ProjectRepositories) -> bool {
    if dependency.repository == locked {
        return true;
    }
    match DependencyRepository::of(&dependency.repository) {
        DependencyRepository::Named(name) => known.named(name).iter().any(|address| address == locked),
        _ => false,
    }
}

/// Whether every version of helm keeps a character: it removes invisible ones, and its tables vary.
fn is_kept(character: char) -> bool {
    character == ' ' || character.is_ascii_graphic() || !character.is_ascii() && character.is_alphanumeric()
}

#[cfg(test)]
mod tests;
