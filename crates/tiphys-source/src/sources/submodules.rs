//! Which files a tree is made of: a repository's own and, wherever they come from, those of its submodules.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use gix_hash::ObjectId;
use tiphys_model::access::{ContextProject, RepositoryAccess, RepositoryUse};
use tiphys_model::project_rules::{source_access, submodule_access};
use tiphys_tree::RepoPath;

use super::{Origin, Sources, blocking};
use crate::checkout::{CheckoutSettings, CheckoutSource};
use crate::narrowing::below;
use crate::objects::Objects;
use crate::plan::{self, Plan, Survey};
use crate::repository::Repository;
use crate::submodule::{self, SUBMODULE_DEPTH_MAX, SUBMODULES_MAX, Submodule};
use crate::url::RemoteUrl;
use crate::{SourceError, normalize_git_url, redact_url};

/// A repository whose submodules are followed.
pub(super) struct Superproject {
    pub(super) source: CheckoutSource,
    pub(super) tree: ObjectId,
    pub(super) url: Option<RemoteUrl>,
    /// The application's project, whose Secrets count for submodules as for the source itself.
    pub(super) project: Arc<ContextProject>,
    /// How it is reached, as far as that is known.
    pub(super) way: RepositoryAccess,
    /// Where a work tree keeps the repositories of its submodules.
    pub(super) modules_dir: Option<PathBuf>,
}

impl Sources {
    /// The repository that a commit's files come from.
    pub(super) async fn superproject(&self, origin: &Origin) -> Result<Superproject, SourceError> {
        let (git, commit, url, project) = match origin {
            Origin::Remote { url, commit, project } => {
                let repository = self.repository(project, url)?;
                return self.remote_superproject(&repository, *commit, project).await;
            }
            Origin::Files(_) | Origin::Chart(_) => {
                unreachable!("the files of a folder or a chart have no commit")
            }
            Origin::WorkTree { top, commit } => {
                let git = self.local.open(top, &self.service.git).await?;
                (git, commit, None, Arc::new(permits_nothing()))
            }
            Origin::Copy { copy, commit, url, project } => {
                let Some(git) = &self.copy(*copy).await?.git else {
                    unreachable!("only a folder with git has commits")
                };
                (Arc::clone(git), commit, RemoteUrl::parse(url).ok(), Arc::clone(project))
            }
        };
        let known = &self.request.known;
        let way =
            url.as_ref().map(|url| source_access(&project, known, &url.address, RepositoryUse::Git).access);
        Ok(Superproject {
            project,
            way: way.unwrap_or_default(),
            tree: git.source.objects.reader().tree_of(*commit)?,
            source: git.source.clone(),
            url,
            modules_dir: Some(git.git_dir.join("modules")),
        })
    }

    /// A repository at a commit, which is fetched if it is not there.
    async fn remote_superproject(
        &self,
        repository: &Repository,
        commit: ObjectId,
        project: &Arc<ContextProject>,
    ) -> Result<Superproject, SourceError> {
        let commit = repository.fetched(self.context(), commit, &commit.to_string()).await?;
        let objects = repository.objects()?.ok_or_else(|| SourceError::Objects {
            repository: repository.shown.to_string(),
            detail: "the cache was removed while it was in use".to_owned(),
        })?;
        let tree = objects.reader().tree_of(commit)?;
        Ok(Superproject {
            source: CheckoutSource { objects, settings: CheckoutSettings::default() },
            tree,
            url: Some(repository.url.clone()),
            project: Arc::clone(project),
            way: repository.access.clone(),
            modules_dir: None,
        })
    }

    /// Plans the tree from the repository's own files, and those of its submodules.
    pub(super) async fn plan(
        &self,
        root: Superproject,
        paths: Option<&[RepoPath]>,
    ) -> Result<Plan, SourceError> {
        let mut plan = Plan::default();
        let mut waiting = vec![(root, RepoPath::default(), paths.map(<[RepoPath]>::to_vec), 0_usize)];
        while let Some((superproject, place, paths, depth)) = waiting.pop() {
            let name = superproject.source.objects.reader().repository().to_owned();
            let (objects, tree) = (superproject.source.objects.clone(), superproject.tree);
            let survey =
                blocking(move || plan::survey(&mut objects.reader(), tree, paths.as_deref())).await?;
            plan.add(superproject.source.clone(), &place, &survey)?;
            let Some(text) = survey.gitmodules.clone() else { continue };
            for module in submodule::read(&self.service.git, text, &name).await? {
                let Some(wanted) = wanted_of_submodule(&survey, &module) else { continue };
                let mount = place.join(module.path.as_str())?;
                let Some(commit) =
                    superproject.source.objects.reader().gitlink(superproject.tree, &module.path)?
                else {
                    continue;
                };
                if module.left_out {
                    plan.submodules.insert(mount);
                    continue;
                }
                if depth == SUBMODULE_DEPTH_MAX || plan.submodules.len() >= SUBMODULES_MAX {
                    let problem = format!(
                        "repository {name} has more than {SUBMODULES_MAX} submodules, or more than {SUBMODULE_DEPTH_MAX} within each other"
                    );
                    return Err(SourceError::SubmoduleConfiguration { problem });
                }
                let found = self.submodule(&superproject, &module, commit).await.map_err(|source| {
                    SourceError::Submodule {
                        path: mount.to_string(),
                        repository: name.clone(),
                        source: Box::new(source),
                    }
                })?;
                plan.submodules.insert(mount.clone());
                waiting.push((found, mount, wanted, depth + 1));
            }
        }
        Ok(plan)
    }

    /// A submodule's commit: from the work tree that has it, from a folder that stands for its repository, or fetched.
    async fn submodule(
        &self,
        superproject: &Superproject,
        module: &Submodule,
        commit: ObjectId,
    ) -> Result<Superproject, SourceError> {
        let own = superproject.modules_dir.as_ref().and_then(|dir| {
            let name = RepoPath::new(&module.name).ok()?;
            Some(name.below(dir)).filter(|dir| dir.join("objects").is_dir())
        });
        if let Some(dir) = own {
            let name: Arc<str> = dir.display().to_string().into();
            let objects = Objects::open(&dir.join("objects"), &name)?;
            let found = objects.reader().commit(commit)?;
            if let Some(commit) = found {
                let tree = objects.reader().tree_of(commit)?;
                let url = match (&superproject.url, &module.url) {
                    (Some(base), Some(url)) => {
                        submodule::absolute_url(base, url).ok().and_then(|url| RemoteUrl::parse(&url).ok())
                    }
                    _ => None,
                };
                return Ok(Superproject {
                    way: self.way_of_submodule(superproject, url.as_ref()),
                    project: Arc::clone(&superproject.project),
                    source: CheckoutSource {
                        objects,
                        settings: CheckoutSettings::of_git_dir(&self.service.git, &dir).await?,
                    },
                    tree,
                    url,
                    modules_dir: Some(dir.join("modules")),
                });
            }
        }
        let problem = |problem: &str| SourceError::SubmoduleConfiguration { problem: problem.to_owned() };
        let url = module.url.as_deref().ok_or_else(|| problem(".gitmodules has no URL for it"))?;
        let url = match &superproject.url {
            Some(base) => submodule::absolute_url(base, url),
            None => RemoteUrl::parse(url).map(|_| url.to_owned()),
        };
        let url = url.map_err(|reason| SourceError::Url {
            repository: redact_url(module.url.as_deref().unwrap_or_default()),
            reason,
        })?;
        for (_, copy) in self.copies_of(&normalize_git_url(&url)).await? {
            let Some(git) = &copy.git else { continue };
            if let Some(commit) = git.source.objects.reader().commit(commit)? {
                let url = RemoteUrl::parse(&url).ok();
                return Ok(Superproject {
                    tree: git.source.objects.reader().tree_of(commit)?,
                    source: git.source.clone(),
                    way: self.way_of_submodule(superproject, url.as_ref()),
                    project: Arc::clone(&superproject.project),
                    url,
                    modules_dir: Some(git.git_dir.join("modules")),
                });
            }
        }
        let repository = self.repository_of_submodule(&superproject.project, &superproject.way, &url)?;
        // Boxed because fetching is a large future, and this one is awaited within others.
        let fetch: Pin<Box<dyn Future<Output = _> + Send + '_>> =
            Box::pin(async { self.remote_superproject(&repository, commit, &superproject.project).await });
        fetch.await
    }

    /// How a submodule is reached whose commit is on this machine, for the submodules in it.
    fn way_of_submodule(&self, superproject: &Superproject, url: Option<&RemoteUrl>) -> RepositoryAccess {
        let known = &self.request.known;
        let way = url.map(|url| {
            submodule_access(&superproject.project, known, &superproject.way, &url.address).access
        });
        way.unwrap_or_default()
    }
}

/// Placeholder for the project of files that no application uses.
fn permits_nothing() -> ContextProject {
    ContextProject { name: String::new(), source_repos: Vec::new() }
}

/// The required part of a submodule: nothing (none), all, or some paths.
#[expect(clippy::option_option, reason = "no submodule, a whole one, or paths in it")]
fn wanted_of_submodule(survey: &Survey, module: &Submodule) -> Option<Option<Vec<RepoPath>>> {
    let Some(paths) = &survey.paths else { return Some(None) };
    let mut within = Vec::new();
    for path in paths {
        if below(path, &module.path).is_some() {
            return Some(None);
        }
        if let Some(rest) = below(&module.path, path) {
            within.push(RepoPath::new(rest).unwrap_or_default());
        }
    }
    (!within.is_empty()).then_some(Some(within))
}
