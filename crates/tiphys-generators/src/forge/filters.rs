//! Filters of generators: pull requests, repositories and branches are selected by any of them.

use regex::bytes::Regex;
use serde_json::{Map, Value};
use tiphys_go::gotemplate::compile_regex;

use super::parameters::{Branch, PullRequest, Repository, branch_parameters};
use super::server::Failure;
use super::{present, strings};

/// The repositories of an organization or group.
pub(super) trait Repositories {
    /// Returns all repositories.
    async fn repositories(&self) -> Result<Vec<Repository>, Failure>;

    /// Returns the default branch or all branches, as the generator demands; none of an empty repository.
    async fn branches(&self, repository: &Repository) -> Result<Vec<Branch>, Failure>;

    /// Whether a branch has a file or directory at a path without a slash at its end.
    async fn has_path(&self, repository: &Repository, branch: &str, path: &str) -> Result<bool, Failure>;
}

/// The filters of `pullRequest`. Without any, all pull requests are selected.
pub(super) struct PullRequestFilters(Vec<PullRequestFilter>);

struct PullRequestFilter {
    branch: Option<Regex>,
    target_branch: Option<Regex>,
    title: Option<Regex>,
}

/// The filters of `scmProvider`, in two classes: a repository must match any of the first, one of its branches any of the second. A class
/// without filters selects all.
pub(super) struct BranchFilters<'a> {
    repositories: Vec<BranchFilter<'a>>,
    branches: Vec<BranchFilter<'a>>,
}

struct BranchFilter<'a> {
    repository: Option<Regex>,
    label: Option<Regex>,
    branch: Option<Regex>,
    /// Paths, and whether they must exist.
    paths: Vec<(&'a str, bool)>,
}

impl PullRequestFilters {
    /// Compiles the filters. The error is Argo CD's.
    pub(super) fn new(filters: &Value) -> Result<Self, String> {
        let compiled = filters.as_array().into_iter().flatten().map(|filter| {
            Ok(PullRequestFilter {
                branch: expression(filter, "branchMatch", "BranchMatch")?,
                target_branch: expression(filter, "targetBranchMatch", "TargetBranchMatch")?,
                title: expression(filter, "titleMatch", "TitleMatch")?,
            })
        });
        compiled.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn select(&self, pull_request: &PullRequest) -> bool {
        let PullRequest { branch, target_branch, title, .. } = pull_request;
        let is_selected = |filter: &PullRequestFilter| {
            matches(filter.branch.as_ref(), branch)
                && matches(filter.target_branch.as_ref(), target_branch)
                && matches(filter.title.as_ref(), title)
        };
        self.0.is_empty() || self.0.iter().any(is_selected)
    }
}

impl<'a> BranchFilters<'a> {
    /// Compiles the filters. The error is Argo CD's.
    pub(super) fn new(filters: &'a Value) -> Result<Self, String> {
        let mut classes = Self { repositories: Vec::new(), branches: Vec::new() };
        for filter in filters.as_array().into_iter().flatten() {
            let paths = [("pathsExist", true), ("pathsDoNotExist", false)].map(|(key, must_exist)| {
                strings(filter, key).into_iter().map(move |path| (path, must_exist))
            });
            let compiled = BranchFilter {
                repository: expression(filter, "repositoryMatch", "RepositoryMatch")?,
                label: expression(filter, "labelMatch", "LabelMatch")?,
                branch: expression(filter, "branchMatch", "BranchMatch")?,
                paths: paths.into_iter().flatten().collect(),
            };
            let has = |keys: &[&str]| keys.iter().any(|key| present(filter, key).is_some());
            if has(&["branchMatch", "pathsExist", "pathsDoNotExist"]) {
                classes.branches.push(compiled);
            } else if has(&["repositoryMatch", "labelMatch"]) {
                classes.repositories.push(compiled);
            }
        }
        Ok(classes)
    }

    /// Returns the parameters of the selected branches of the selected repositories.
    pub(super) async fn branches(
        &self,
        forge: &impl Repositories,
    ) -> Result<Vec<Map<String, Value>>, Failure> {
        let mut found = Vec::new();
        for repository in forge.repositories().await? {
            let selects = |filter: &BranchFilter<'_>| filter.selects(&repository);
            if !self.repositories.is_empty() && !self.repositories.iter().any(selects) {
                continue;
            }
            let branches = forge.branches(&repository).await.map_err(|failure| {
                let Repository { organization, name, .. } = &repository;
                failure.within(&format!("error listing branches for {organization}/{name}"))
            })?;
            for branch in branches {
                if self.select(forge, &repository, &branch).await? {
                    found.push(branch_parameters(&repository, &branch));
                }
            }
        }
        Ok(found)
    }

    async fn select(
        &self,
        forge: &impl Repositories,
        repository: &Repository,
        branch: &Branch,
    ) -> Result<bool, Failure> {
        for filter in &self.branches {
            if filter.selects(repository)
                && matches(filter.branch.as_ref(), &branch.name)
                && filter.selects_paths(forge, repository, branch).await?
            {
                return Ok(true);
            }
        }
        Ok(self.branches.is_empty())
    }
}

impl BranchFilter<'_> {
    fn selects(&self, repository: &Repository) -> bool {
        let has_label = |label: &Regex| repository.labels.iter().any(|own| label.is_match(own.as_bytes()));
        matches(self.repository.as_ref(), &repository.name) && self.label.as_ref().is_none_or(has_label)
    }

    async fn selects_paths(
        &self,
        forge: &impl Repositories,
        repository: &Repository,
        branch: &Branch,
    ) -> Result<bool, Failure> {
        for (path, must_exist) in &self.paths {
            let path = path.trim_end_matches('/');
            if forge.has_path(repository, &branch.name, path).await? != *must_exist {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn matches(expression: Option<&Regex>, string: &str) -> bool {
    expression.is_none_or(|expression| expression.is_match(string.as_bytes()))
}

/// Compiles an expression of a filter. `name` is that of Argo CD's messages.
fn expression(filter: &Value, key: &str, name: &str) -> Result<Option<Regex>, String> {
    let Some(pattern) = filter.get(key).and_then(Value::as_str) else { return Ok(None) };
    compile_regex(pattern)
        .map(Some)
        .map_err(|error| format!("error compiling {name} regexp {pattern:?}: error parsing regexp: {error}"))
}
