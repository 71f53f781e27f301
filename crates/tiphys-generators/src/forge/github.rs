//! GitHub: <https://docs.github.com/en/rest>.

use serde_json::Value;

use super::filters::Repositories;
use super::parameters::{Branch, PullRequest, Repository};
use super::server::{Failure, Server};
use super::{flag, strings, text};

/// Items of one page; the largest number that GitHub and GitLab permit.
pub(super) const PAGE_ITEMS: &str = "100";

/// Returns the open pull requests of a repository that have all labels.
pub(super) async fn pull_requests(server: &Server<'_>, fields: &Value) -> Result<Vec<PullRequest>, Failure> {
    let (owner, repository) = (text(fields, "owner"), text(fields, "repo"));
    let url = server.url(&["repos", owner, repository, "pulls"])?.with_query("per_page", PAGE_ITEMS);
    let found = server.list(url, pull_request).await.map_err(|failure| {
        failure.within_unless_missing(&format!("error listing pull requests for {owner}/{repository}"))
    })?;
    let labels = strings(fields, "labels");
    Ok(found.into_iter().filter(|pull_request| has_labels(pull_request, &labels)).collect())
}

/// Reads a pull request of GitHub or Gitea.
pub(super) fn pull_request(item: &Value) -> Result<PullRequest, String> {
    let labels = item["labels"].as_array().into_iter().flatten();
    Ok(PullRequest {
        number: number(item, "/number")?,
        title: string(item, "/title")?,
        branch: string(item, "/head/ref")?,
        target_branch: string(item, "/base/ref")?,
        head_sha: string(item, "/head/sha")?,
        labels: labels.map(|label| string(label, "/name")).collect::<Result<_, _>>()?,
        // The accounts of some authors do not exist any more.
        author: string(item, "/user/login").unwrap_or_default(),
    })
}

/// Whether a pull request has all of these labels.
pub(super) fn has_labels(pull_request: &PullRequest, labels: &[&str]) -> bool {
    labels.iter().all(|label| pull_request.labels.iter().any(|own| own == label))
}

/// Returns the string at a JSON pointer.
pub(super) fn string(item: &Value, pointer: &str) -> Result<String, String> {
    let found = item.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| format!("{pointer} must be a string"))
}

/// Returns the integer at a JSON pointer as a string.
pub(super) fn number(item: &Value, pointer: &str) -> Result<String, String> {
    let found = item.pointer(pointer).and_then(Value::as_i64).map(|number| number.to_string());
    found.ok_or_else(|| format!("{pointer} must be an integer"))
}

/// Returns the field of a repository with the URL for `cloneProtocol`: SSH by default.
pub(super) fn url_field(
    protocol: &str,
    forge: &str,
    [ssh, https]: [&'static str; 2],
) -> Result<&'static str, Failure> {
    match protocol {
        "" | "ssh" => Ok(ssh),
        "https" => Ok(https),
        other => Err(Failure::Other(format!(
            "unknown clone protocol for {forge} {other}; cloneProtocol must be ssh or https"
        ))),
    }
}

/// The repositories of an organization.
pub(super) struct Organization<'a> {
    server: &'a Server<'a>,
    name: &'a str,
    url_field: &'static str,
    has_all_branches: bool,
    excludes_archived: bool,
}

impl<'a> Organization<'a> {
    /// Reads the block of the generator.
    pub(super) fn new(server: &'a Server<'a>, fields: &'a Value, protocol: &str) -> Result<Self, Failure> {
        Ok(Self {
            server,
            name: text(fields, "organization"),
            url_field: url_field(protocol, "GitHub", ["/ssh_url", "/clone_url"])?,
            has_all_branches: flag(fields, "allBranches"),
            excludes_archived: flag(fields, "excludeArchivedRepos"),
        })
    }

    fn repository(&self, item: &Value) -> Result<Option<Repository>, String> {
        if self.excludes_archived && flag(item, "archived") {
            return Ok(None);
        }
        Ok(Some(Repository {
            organization: string(item, "/owner/login")?,
            name: string(item, "/name")?,
            id: number(item, "/id")?,
            url: string(item, self.url_field)?,
            default_branch: text(item, "default_branch").to_owned(),
            labels: strings(item, "topics").into_iter().map(str::to_owned).collect(),
        }))
    }
}

impl Repositories for Organization<'_> {
    async fn repositories(&self) -> Result<Vec<Repository>, Failure> {
        let url = self.server.url(&["orgs", self.name, "repos"])?.with_query("per_page", PAGE_ITEMS);
        let found = self.server.list(url, |item| self.repository(item)).await;
        let found = found
            .map_err(|failure| failure.within(&format!("error listing repositories for {}", self.name)))?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn branches(&self, repository: &Repository) -> Result<Vec<Branch>, Failure> {
        let read =
            |item: &Value| Ok(Branch { name: string(item, "/name")?, sha: string(item, "/commit/sha")? });
        let path = ["repos", &repository.organization, &repository.name, "branches"];
        if self.has_all_branches {
            let url = self.server.url(&path)?.with_query("per_page", PAGE_ITEMS);
            return self.server.list(url, read).await;
        }
        default_branch(self.server, &path, &repository.default_branch, read).await
    }

    async fn has_path(&self, repository: &Repository, branch: &str, path: &str) -> Result<bool, Failure> {
        let mut segments = vec!["repos", &repository.organization, &repository.name, "contents"];
        segments.extend(path.split('/'));
        self.server.has(self.server.url(&segments)?.with_query("ref", branch)).await
    }
}

/// Requests one branch below the path of all branches. None if it is missing: the repository is empty.
pub(super) async fn default_branch(
    server: &Server<'_>,
    branches: &[&str],
    name: &str,
    read: impl Fn(&Value) -> Result<Branch, String>,
) -> Result<Vec<Branch>, Failure> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let url = server.url(&[branches, &[name]].concat())?;
    match server.object(url.clone()).await {
        Ok(item) => {
            let branch = read(&item);
            branch
                .map(|branch| vec![branch])
                .map_err(|error| Failure::Other(format!("{url}: invalid response: {error}")))
        }
        Err(Failure::NotFound(_)) => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}
