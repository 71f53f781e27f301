//! A file with a project's access to git repositories, for a program that fetches from repositories that it alone knows.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::NamedTempFile;
use tiphys_model::access::{ContextProject, KnownRepositories, RepositoryAccess, RepositoryUse, redact_url};
use tiphys_model::project_rules::{GitVariables, ProjectGitAccess, source_access};

use super::Sources;
use crate::credential::GitAccess;
use crate::url::{RemoteUrl, Transport};
use crate::{SourceError, secret_file};

/// The file, and the files of secrets that it names.
pub(super) struct GitAccessFile {
    file: NamedTempFile,
    _secrets: Vec<GitAccess>,
}

impl Sources {
    /// Returns the path of a JSON file with [`ProjectGitAccess`], which contains secrets; `None` if no Secret for git applies to the project.
    /// It exists as long as this value.
    pub async fn git_access_file(
        &self,
        project: &Arc<ContextProject>,
    ) -> Result<Option<PathBuf>, SourceError> {
        let cell = self.git_access_files.cell(Arc::clone(project));
        let file = cell.get_or_try_init(|| self.write_git_access(project)).await?;
        Ok(file.as_ref().map(|file| file.file.path().to_owned()))
    }

    async fn write_git_access(&self, project: &ContextProject) -> Result<Option<GitAccessFile>, SourceError> {
        let known = &self.request.known;
        let is_used = |one: &&RepositoryAccess| !one.has_charts() && one.is_for(&project.name);
        let mut secrets = Vec::new();
        let mut access =
            ProjectGitAccess { source_repos: project.source_repos.clone(), ..Default::default() };
        let mut repositories: Vec<&RepositoryAccess> = known.repositories.iter().filter(is_used).collect();
        repositories.sort_by_key(|one| one.project.is_empty());
        for one in repositories {
            let found = source_access(project, known, &one.url, RepositoryUse::Git).access;
            access.repositories.extend(self.variables_of(one, &found, &mut secrets).await?);
        }
        for one in known.templates.iter().filter(is_used) {
            let found = access_of_template(known, one);
            access.templates.extend(self.variables_of(one, &found, &mut secrets).await?);
        }
        if access.repositories.is_empty() && access.templates.is_empty() {
            return Ok(None);
        }
        let dir = &self.service.options.secrets_dir;
        let text = serde_json::to_vec(&access).map_err(std::io::Error::from);
        let file = text.and_then(|text| secret_file::create(dir, &text));
        let file = file.map_err(SourceError::cache("write a secret to", dir))?;
        Ok(Some(GitAccessFile { file, _secrets: secrets }))
    }

    /// Returns the variables of a Secret. `None` if git uses nothing of it, or if its URL is invalid, which an Application with that URL reports.
    async fn variables_of(
        &self,
        secret: &RepositoryAccess,
        access: &RepositoryAccess,
        secrets: &mut Vec<GitAccess>,
    ) -> Result<Option<GitVariables>, SourceError> {
        let Ok(url) = RemoteUrl::parse(&secret.url) else { return Ok(None) };
        if !matches!(url.transport, Transport::Http | Transport::Ssh) {
            return Ok(None);
        }
        let mut access = self.context().git_access(&url, access, &redact_url(&secret.url)).await?;
        if !access.is_configured {
            return Ok(None);
        }
        access.without_url(&url.address);
        let variables = access.variables_of_one().collect();
        secrets.push(access);
        Ok(Some(GitVariables { url: secret.url.clone(), is_own: !secret.project.is_empty(), variables }))
    }
}

/// Returns what a template gives a repository without a Secret.
fn access_of_template(known: &KnownRepositories, template: &RepositoryAccess) -> RepositoryAccess {
    let repository = RepositoryAccess { url: template.url.clone(), ..RepositoryAccess::default() };
    known.certified(known.completed(&repository, &template.project), &template.url)
}
