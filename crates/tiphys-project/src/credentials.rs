//! Which credentials and connection settings the applications of a project get for a repository.

use tiphys_access::{ContextProject, FoundAccess, KnownRepositories, RepositoryAccess, RepositoryUse};

use crate::permits_source;

/// Returns how an application of the project reaches the repository of a source.
///
/// Repository Secrets count only if the project's `sourceRepos` permit the address, or if a Secret of that address belongs to the project.
/// Argo CD checks the source against the project, but not the Secret.
pub fn source_access(
    project: &ContextProject,
    known: &KnownRepositories,
    address: &str,
    repository_use: RepositoryUse,
) -> FoundAccess {
    let is_own =
        |one: &RepositoryAccess| !one.project.is_empty() && one.project == project.name && one.is_at(address);
    if permits_source(project, address) || known.repositories.iter().any(is_own) {
        known.find(&project.name, address, repository_use)
    } else {
        known.without_secrets(RepositoryAccess::default(), address, repository_use)
    }
}

/// Returns how an application of the project reaches the repository of a submodule.
///
/// Argo CD does not check submodules against the project and uses the superproject's credentials for them. So a submodule with the same
/// credentials as its superproject is permitted; any other is treated as a source.
pub fn submodule_access(
    project: &ContextProject,
    known: &KnownRepositories,
    superproject: &RepositoryAccess,
    address: &str,
) -> FoundAccess {
    let found = known.find(&project.name, address, RepositoryUse::Git);
    if found.access.has_login_of(superproject) {
        found
    } else {
        source_access(project, known, address, RepositoryUse::Git)
    }
}

#[cfg(test)]
mod tests;
