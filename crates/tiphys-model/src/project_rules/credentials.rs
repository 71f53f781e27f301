//! The credentials and connection settings that a project's applications get for a repository.

use crate::access::{ContextProject, FoundAccess, KnownRepositories, RepositoryAccess, RepositoryUse};

use crate::project_rules::permits_source;

/// Returns the access of a project's application to the repository of a source.
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

/// Returns the access of a project's application to the repository of a submodule.
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
