//! What helm may fetch for a chart: its list of dependencies, and the lock file, which has places of its own.
//!
//! Helm fetches what a lock file says and holds only a digest against the list, which anybody can compute. And a `.helmignore` can keep
//! `requirements.yaml` or a lock file from helm. So every list that helm may come to is looked at, and a lock file must be about the list.

use std::path::Path;

use super::remote::{DependencyRepository, ProjectRepositories};
use crate::chart::{Chart, ChartBounds, ChartError, Dependency, Lock};
use tiphys_access::RepoUrl;

/// What a chart's files say of dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// The dependencies.
    pub(super) dependencies: Vec<Dependency>,
    /// Those that helm takes for it if it does not see `requirements.yaml`, as far as they are others.
    pub(super) others: Vec<Dependency>,
    /// The lock files.
    locks: Vec<Lock>,
}

/// A list or a lock file that helm does not get to see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListedError {
    /// A character that helm may leave out, so that it would read another place than we.
    #[error(
        "error building helm chart dependencies: the repository of dependency {name} has the character U+{character:04X}; write it without",
        character = u32::from(*character)
    )]
    Character {
        /// The dependency.
        name: String,
        /// The character.
        character: char,
    },
    /// A lock file with a place that is not in the list.
    #[error(
        "error building helm chart dependencies: {lock} has dependency {name} of {}, which is not what the chart says; run \
         `helm dependency update` and commit the file that it writes",
        if repository.expose().is_empty() { "the folder charts".to_owned() } else { repository.to_string() }
    )]
    Lock {
        /// The lock file.
        lock: &'static str,
        /// The dependency.
        name: String,
        /// Its place in the lock file.
        repository: RepoUrl,
    },
}

impl Listed {
    /// Reads a chart's files.
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

    /// Every dependency that helm may come to.
    pub(super) fn all(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().chain(&self.others)
    }

    /// Whether helm takes versions from a lock file.
    pub(super) fn is_locked(&self) -> bool {
        self.locks.last().is_some_and(|lock| lock.dependencies.is_some())
    }

    /// Refuses places that can be read in two ways, and lock files that are about something else.
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

/// Whether a lock file's place is that of a dependency. Helm writes the address of a repository where the list has its name.
fn is_place_of(dependency: &Dependency, locked: &str, known: &ProjectRepositories) -> bool {
    if dependency.repository == locked {
        return true;
    }
    match DependencyRepository::of(&dependency.repository) {
        DependencyRepository::Named(name) => known.named(name).iter().any(|address| address == locked),
        _ => false,
    }
}

/// Whether helm keeps a character for sure: it leaves out what is not to be seen, by tables that differ with its release.
fn is_kept(character: char) -> bool {
    character == ' ' || character.is_ascii_graphic() || !character.is_ascii() && character.is_alphanumeric()
}

#[cfg(test)]
mod tests;
