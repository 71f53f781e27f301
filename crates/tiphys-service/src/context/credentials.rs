//! Repository Secrets of a store as known repositories.

use tiphys_model::access::{KnownRepositories, RepositoryAccess};
use tiphys_model::resources::SecretType;
use tiphys_store::{StoredSecret, Trusted};

use crate::warning::Warning;

/// Returns the repositories and credential templates of these Secrets. Other Secrets of Argo CD are ignored.
pub(crate) fn known_repositories(
    secrets: &[Trusted<'_, StoredSecret>],
    warnings: &mut Vec<Warning>,
) -> KnownRepositories {
    let mut accesses = |wanted| {
        let found = secrets.iter().filter(|stored| stored.secret.secret_type == wanted);
        found.filter_map(|stored| access_of_secret(stored, warnings)).collect()
    };
    KnownRepositories {
        repositories: accesses(SecretType::Repository),
        templates: accesses(SecretType::RepositoryCredentials),
        ..KnownRepositories::default()
    }
}

fn access_of_secret(
    StoredSecret { secret, place }: &StoredSecret,
    warnings: &mut Vec<Warning>,
) -> Option<RepositoryAccess> {
    let found = secret.repository_access()?;
    for key in found.invalid_booleans {
        warnings.push(Warning::new(format!(
            "Secret {} ({place}): {key} must be true or false; Argo CD rejects the Secret, here the value counts as false",
            secret.metadata.name
        )));
    }
    Some(found.access)
}

#[cfg(test)]
mod tests;
