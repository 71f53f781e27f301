//! The run context of a source, for plugins that request it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tiphys_engine::mentioned;
use tiphys_logins::OwnLogins;
use tiphys_model::access::{
    ContextProject, ContextSource, CredentialReach, DEFAULT_VALUES_FILE_SCHEMES, FoundAccess,
    KnownRepositories, MountedCredentials, RepositoryAccess, RepositoryUse, RunContext, SourceKind,
};
use tiphys_model::params::Parameter;
use tiphys_model::project_rules::{permits_source, source_access};
use tiphys_model::resources::{Application, ApplicationSource};
use tiphys_plugin::{GivenContext, GivenRef, chain};
use tiphys_source::{ChartSource, GitSource, TreeScope, Want, normalize_git_url};
use tiphys_tree::{Modes, RepoPath};

use crate::error::SourceFailure;
use crate::prepare::Origin;
use crate::renderer::Renderer;

/// The settings of run contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSettings {
    /// Schemes that URLs of value files may have (`helm.valuesFileSchemes` of `argocd-cm`).
    pub values_file_schemes: Vec<String>,
    /// The permitted repositories of each project, by its name. Other projects permit all.
    pub source_repos: BTreeMap<String, Vec<String>>,
    /// The user's own credentials, for repositories without credentials in a Secret. Plugins may use them, too. None for a server, which
    /// renders for many users.
    pub own_logins: Option<OwnLogins>,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            values_file_schemes: DEFAULT_VALUES_FILE_SCHEMES.map(str::to_owned).to_vec(),
            source_repos: BTreeMap::new(),
            own_logins: None,
        }
    }
}

impl ContextSettings {
    /// Returns the project of an application.
    pub(crate) fn project(&self, name: &str) -> ContextProject {
        let all = || vec!["*".to_owned()];
        ContextProject {
            name: name.to_owned(),
            source_repos: self.source_repos.get(name).cloned().unwrap_or_else(all),
        }
    }
}

/// Returns the repositories with charts that a plugin gets: those of the project, and global ones that the project permits. Argo CD
/// completes a repository by its template before it checks the project, so the template need not be permitted.
fn repositories_of(known: &KnownRepositories, project: &ContextProject) -> Vec<RepositoryAccess> {
    let own = known.repositories.iter().filter(|access| access.is_for(&project.name));
    let completed = own.map(|access| known.completed(access, &project.name));
    let told = completed.filter(|access| is_told_of(project, access));
    told.map(|access| {
        let url = access.url.clone();
        known.certified(access, &url)
    })
    .collect()
}

/// Returns the templates that a plugin gets.
fn templates_of(known: &KnownRepositories, project: &ContextProject) -> Vec<RepositoryAccess> {
    let templates = known.templates.iter();
    let told = templates.filter(|access| access.is_for(&project.name) && is_told_of(project, access));
    told.map(|access| known.certified(access.clone(), &access.url)).collect()
}

/// Returns the source as a plugin gets it: its names, and the proxy of its repository.
fn told_source(
    known: &KnownRepositories,
    project: &ContextProject,
    source: &ApplicationSource,
) -> ContextSource {
    let kind = kind_of(source);
    let repository_use = if kind == SourceKind::Git { RepositoryUse::Git } else { RepositoryUse::Chart };
    let FoundAccess { access, .. } = source_access(project, known, source.repo_url.trim(), repository_use);
    ContextSource {
        kind,
        repo_url: source.repo_url.clone(),
        chart: source.chart.clone(),
        proxy: access.proxy,
        no_proxy: access.no_proxy,
        ..ContextSource::default()
    }
}

/// Whether a plugin gets a repository or template of the project: it has charts, and belongs to the project or is permitted.
fn is_told_of(project: &ContextProject, access: &RepositoryAccess) -> bool {
    access.has_charts() && (!access.project.is_empty() || permits_source(project, &access.url))
}

/// Files of another source that the rendered one uses.
struct Part<'a> {
    source: &'a ApplicationSource,
    /// The `ref`.
    name: &'a str,
    /// The files that are used by this name and others for the repository.
    scope: TreeScope,
}

/// A source whose files other sources use.
struct Referred {
    /// The first `ref` to it.
    name: String,
    target_revision: String,
    files: Result<GivenRef, String>,
}

impl Renderer {
    /// Returns the context of a source at a revision. A `ref` that cannot be used is not an error: only the plugin knows whether it needs the
    /// files.
    pub(crate) async fn run_context(
        &self,
        origin: &Origin<'_>,
        source: &ApplicationSource,
        parameters: &[Parameter],
    ) -> Result<Arc<GivenContext>, SourceFailure> {
        let application = origin.of.application;
        let (settings, known) = (&self.settings.context, self.sources.known());
        let project = self.project_of(application);
        let local_charts = self.sources.local_charts().await.map_err(SourceFailure::Repository)?;
        let mut given = GivenContext {
            context: RunContext {
                source: ContextSource {
                    multiple: !application.spec.sources.is_empty(),
                    ..told_source(known, &project, source)
                },
                values_file_schemes: settings.values_file_schemes.clone(),
                repositories: repositories_of(known, &project),
                credential_templates: templates_of(known, &project),
                server_certificates: known.certificates.clone(),
                project: (*project).clone(),
                mounted_credentials: match settings.own_logins {
                    Some(_) => MountedCredentials::Use,
                    None => MountedCredentials::Ignore,
                },
                local_charts: (*local_charts).clone(),
                network: self.sources.network(),
                ..RunContext::default()
            },
            refs: BTreeMap::new(),
        };
        let references = origin.of.sources.references().map_err(SourceFailure::Reference)?;
        let mut by_repository: BTreeMap<String, Referred> = BTreeMap::new();
        for name in mentioned(parameters) {
            let Some(other) = references.get(name) else { continue };
            let files = if !other.chart.is_empty() {
                Err("source has a 'chart' field defined, but Helm charts are not yet not supported for 'ref' sources"
                    .to_owned())
            } else if permits_source(&project, &other.repo_url) {
                let repository = normalize_git_url(&other.repo_url);
                let of_repository =
                    |source: &&ApplicationSource| normalize_git_url(&source.repo_url) == repository;
                let same = mentioned(parameters).into_iter();
                let same = same.filter(|name| references.get(name).is_some_and(of_repository));
                let part = Part { source: other, name, scope: scope_of(origin, same) };
                self.referred(origin, source, &part, &mut by_repository).await
            } else {
                let (repository, project) = (other.shown_repository(), &project.name);
                Err(format!("application repo {repository} is not permitted in project '{project}'"))
            };
            match files {
                Ok(files) => {
                    given.refs.insert(name.to_owned(), files);
                }
                Err(why) => {
                    given.context.ref_errors.insert(name.to_owned(), why);
                }
            }
        }
        for name in references.keys().filter(|name| !given.refs.contains_key(**name)) {
            let unused = || format!("no parameter begins with \"${name}/\", so its files were not fetched");
            given.context.ref_errors.entry((*name).to_owned()).or_insert_with(unused);
        }
        Ok(Arc::new(given))
    }

    /// Returns the files of another source, or Argo CD's message why they cannot be used. A repository is resolved once, at one revision.
    async fn referred(
        &self,
        origin: &Origin<'_>,
        source: &ApplicationSource,
        part: &Part<'_>,
        by_repository: &mut BTreeMap<String, Referred>,
    ) -> Result<GivenRef, String> {
        let Part { source: other, name, .. } = part;
        let repository = normalize_git_url(&other.repo_url);
        if let Some(known) = by_repository.get(&repository) {
            if known.target_revision == other.target_revision {
                return known.files.clone();
            }
            return Err(format!(
                "cannot reference multiple revisions for the same repository (${name} references {:?} while ${} references {:?})",
                other.target_revision, known.name, known.target_revision
            ));
        }
        let revision = &origin.revision;
        let is_own = normalize_git_url(&source.repo_url) == repository && source.chart.is_empty();
        let files = self.fetched(origin.of.application, part).await.and_then(|files| {
            if is_own && files.revision != revision.revision() {
                return Err(format!(
                    "cannot reference a different revision of the same repository (${name} references {:?} which resolves to {:?} while the application references {:?} which resolves to {:?})",
                    other.target_revision, files.revision, source.target_revision, revision.revision()
                ));
            }
            Ok(files)
        });
        let target_revision = other.target_revision.clone();
        let referred = Referred { name: (*name).to_owned(), target_revision, files: files.clone() };
        by_repository.insert(repository, referred);
        files
    }

    async fn fetched(&self, application: &Application, part: &Part<'_>) -> Result<GivenRef, String> {
        let other = part.source;
        let repository = other.shown_repository();
        // Boxed because it is a large future.
        let fetching = Box::pin(async {
            let revision = self.sources.resolve(&self.git_source(application, other)).await?;
            // Git LFS pointers are refused only in the application's own directory. No directory of a tree has this name.
            let no_folder = RepoPath::new(".git")?;
            let want = Want { modes: Modes::Plain, scope: part.scope.clone(), app_path: no_folder };
            let tree = self.sources.tree(&revision, &want).await?;
            Ok((revision, tree))
        });
        let (revision, tree) = self
            .unless_cancelled(&repository, fetching)
            .await
            .map_err(|error| format!("failed to get git client for repo {repository}: {}", chain(&error)))?;
        let (repo_url, revision) = (other.repo_url.clone(), revision.revision().to_owned());
        Ok(GivenRef { tree, repo_url, revision })
    }

    /// Returns the chart or registry artefact of a source, with its repository access. None for git.
    pub(crate) fn chart_source(
        &self,
        application: &Application,
        source: &ApplicationSource,
    ) -> Option<ChartSource> {
        if kind_of(source) == SourceKind::Git {
            return None;
        }
        let project = application.spec.project_name();
        let passes = source.helm.as_ref().is_some_and(|helm| helm.pass_credentials);
        Some(ChartSource {
            chart: source.chart.clone(),
            credentials: if passes { CredentialReach::EveryServer } else { CredentialReach::OwnServer },
            ..self.artefact_source(project, &source.repo_url, &source.target_revision)
        })
    }

    /// Returns an artefact of a registry, with the repository access of a project.
    pub fn artefact_source(&self, project: &str, repo_url: &str, revision: &str) -> ChartSource {
        let settings = &self.settings.context;
        let (project, known) = (settings.project(project), self.sources.known());
        let FoundAccess { access, .. } =
            source_access(&project, known, repo_url.trim(), RepositoryUse::Chart);
        ChartSource {
            repo_url: repo_url.to_owned(),
            chart: String::new(),
            target_revision: revision.to_owned(),
            access,
            credentials: CredentialReach::OwnServer,
            own_logins: settings.own_logins.clone(),
        }
    }

    /// Returns the git repository of an application's source, at its revision.
    pub fn git_source(&self, application: &Application, source: &ApplicationSource) -> GitSource {
        GitSource {
            project: self.project_of(application),
            file_repositories: application.file_repositories,
            repo_url: source.repo_url.clone(),
            target_revision: source.target_revision.clone(),
        }
    }

    /// Returns the project of an application.
    pub(crate) fn project_of(&self, application: &Application) -> Arc<ContextProject> {
        self.context_project(application.spec.project_name())
    }
}

/// Returns the files that are used by some names. All, if those of one name are not known.
fn scope_of<'n>(origin: &Origin<'_>, names: impl Iterator<Item = &'n str>) -> TreeScope {
    let paths: Option<Vec<&Vec<RepoPath>>> = names.map(|name| origin.of_refs.get(name)).collect();
    paths.map_or(TreeScope::Whole, |paths| TreeScope::Exactly(paths.into_iter().flatten().cloned().collect()))
}

fn kind_of(source: &ApplicationSource) -> SourceKind {
    if !source.chart.is_empty() {
        SourceKind::Helm
    } else if source.repo_url.starts_with("oci://") {
        SourceKind::Oci
    } else {
        SourceKind::Git
    }
}

#[cfg(test)]
mod tests;
