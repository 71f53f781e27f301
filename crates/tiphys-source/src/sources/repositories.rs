//! The repositories of one request, by project and address, and by clone.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use tiphys_model::access::{ContextProject, RepositoryAccess, RepositoryUse};
use tiphys_model::project_rules::{source_access, submodule_access};

use super::Sources;
use crate::clone_key::{CloneKey, cache_name};
use crate::repository::Repository;
use crate::url::RemoteUrl;
use crate::{SourceError, file_url};

/// The repositories that the request has used so far.
#[derive(Default)]
pub(super) struct Repositories {
    /// By project and address, so that the Secrets are searched once.
    of_sources: HashMap<(Arc<ContextProject>, String), Arc<Repository>>,
    by_clone: HashMap<CloneKey, Arc<Repository>>,
}

impl Sources {
    /// Returns the repository of a source, with the access of the project.
    pub(super) fn repository(
        &self,
        project: &Arc<ContextProject>,
        url: &str,
    ) -> Result<Arc<Repository>, SourceError> {
        let asked = (Arc::clone(project), cache_name(url).to_owned());
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = repositories.of_sources.get(&asked) {
            return Ok(Arc::clone(found));
        }
        let remote = self.outside_cache(url)?;
        let way = source_access(project, &self.request.known, &remote.address, RepositoryUse::Git).access;
        let found = self.of_clone(&mut repositories, remote, way)?;
        repositories.of_sources.insert(asked, Arc::clone(&found));
        Ok(found)
    }

    /// Returns the repository of a submodule, with the access of the project and its superproject.
    pub(super) fn repository_of_submodule(
        &self,
        project: &ContextProject,
        way_of_superproject: &RepositoryAccess,
        url: &str,
    ) -> Result<Arc<Repository>, SourceError> {
        let remote = self.outside_cache(url)?;
        file_url::require_allowed(&remote, &self.request.allowed_directories())?;
        let way = submodule_access(project, &self.request.known, way_of_superproject, &remote.address).access;
        let mut repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        self.of_clone(&mut repositories, remote, way)
    }

    /// Parses a URL and refuses one of a clone in the cache, which may belong to another project.
    fn outside_cache(&self, url: &str) -> Result<RemoteUrl, SourceError> {
        let remote = RemoteUrl::parse_shown(url)?;
        file_url::refuse_within(&remote, &self.service.options.cache_dir)?;
        Ok(remote)
    }

    fn of_clone(
        &self,
        repositories: &mut Repositories,
        remote: RemoteUrl,
        way: RepositoryAccess,
    ) -> Result<Arc<Repository>, SourceError> {
        let key = CloneKey::new(&remote, &way);
        if let Some(found) = repositories.by_clone.get(&key) {
            return Ok(Arc::clone(found));
        }
        let directory = self.service.clones.directory_name(&key, &self.service.options)?;
        let new =
            Repository::new(remote, way, self.service.clones.get(&key), &directory, &self.service.options);
        let new = Arc::new(new);
        repositories.by_clone.insert(key, Arc::clone(&new));
        Ok(new)
    }

    /// Marks all clones with this redacted URL as damaged. Returns whether there are any.
    pub(super) fn distrust(&self, shown: &str) -> bool {
        let repositories = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        let mut any = false;
        for repository in repositories.by_clone.values().filter(|repository| *repository.shown == *shown) {
            repository.distrust();
            any = true;
        }
        any
    }
}
