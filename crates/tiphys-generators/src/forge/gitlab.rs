//! GitLab: <https://docs.gitlab.com/api/rest/>.

use serde_json::Value;

use super::filters::Repositories;
use super::github::{PAGE_ITEMS, default_branch, number, string, url_field};
use super::parameters::{Branch, PullRequest, Repository};
use super::server::{Failure, Server};
use super::{flag, present, strings, text};

/// Returns the merge requests of a project that have all labels, in every state unless `pullRequestState` is set.
pub(super) async fn pull_requests(server: &Server<'_>, fields: &Value) -> Result<Vec<PullRequest>, Failure> {
    let (project, state) = (text(fields, "project"), text(fields, "pullRequestState"));
    let labels = strings(fields, "labels").join(",");
    let mut url = server.url(&["projects", project, "merge_requests"])?.with_query("per_page", PAGE_ITEMS);
    for (name, value) in [("labels", labels.as_str()), ("state", state)] {
        if !value.is_empty() {
            url = url.with_query(name, value);
        }
    }
    server.list(url, merge_request).await.map_err(|failure| {
        failure.within_unless_missing(&format!("error listing merge requests for project '{project}'"))
    })
}

fn merge_request(item: &Value) -> Result<PullRequest, String> {
    Ok(PullRequest {
        number: number(item, "/iid")?,
        title: string(item, "/title")?,
        branch: string(item, "/source_branch")?,
        target_branch: string(item, "/target_branch")?,
        // None while GitLab has not prepared the merge request.
        head_sha: text(item, "sha").to_owned(),
        labels: strings(item, "labels").into_iter().map(str::to_owned).collect(),
        author: string(item, "/author/username").unwrap_or_default(),
    })
}

/// The projects of a group.
pub(super) struct Group<'a> {
    server: &'a Server<'a>,
    fields: &'a Value,
    url_field: &'static str,
}

impl<'a> Group<'a> {
    /// Reads the block of the generator.
    pub(super) fn new(server: &'a Server<'a>, fields: &'a Value, protocol: &str) -> Result<Self, Failure> {
        let url_field = url_field(protocol, "Gitlab", ["/ssh_url_to_repo", "/http_url_to_repo"])?;
        Ok(Self { server, fields, url_field })
    }

    fn repository(&self, item: &Value) -> Result<Repository, String> {
        // Servers before 14.5 have the topics in `tag_list`.
        let topics = [strings(item, "topics"), strings(item, "tag_list")];
        let labels = topics.into_iter().find(|topics| !topics.is_empty()).unwrap_or_default();
        Ok(Repository {
            organization: string(item, "/namespace/full_path")?,
            name: string(item, "/path")?,
            id: number(item, "/id")?,
            url: string(item, self.url_field)?,
            default_branch: text(item, "default_branch").to_owned(),
            labels: labels.into_iter().map(str::to_owned).collect(),
        })
    }
}

impl Repositories for Group<'_> {
    async fn repositories(&self) -> Result<Vec<Repository>, Failure> {
        let (fields, group) = (self.fields, text(self.fields, "group"));
        let with_shared = present(fields, "includeSharedProjects").is_none_or(|value| value != false);
        let mut url = self.server.url(&["groups", group, "projects"])?;
        // Without `archived`, the server decides.
        let archived = if flag(fields, "includeArchivedRepos") { "true" } else { "" };
        for (name, value) in [
            ("archived", archived),
            ("include_subgroups", &flag(fields, "includeSubgroups").to_string()),
            ("per_page", PAGE_ITEMS),
            ("topic", text(fields, "topic")),
            ("with_shared", &with_shared.to_string()),
        ] {
            if !value.is_empty() {
                url = url.with_query(name, value);
            }
        }
        let found = self.server.list(url, |item| self.repository(item)).await;
        found.map_err(|failure| failure.within(&format!("error listing projects for {group}")))
    }

    async fn branches(&self, repository: &Repository) -> Result<Vec<Branch>, Failure> {
        let read =
            |item: &Value| Ok(Branch { name: string(item, "/name")?, sha: string(item, "/commit/id")? });
        let path = ["projects", &repository.id, "repository", "branches"];
        if !flag(self.fields, "allBranches") {
            return default_branch(self.server, &path, &repository.default_branch, read).await;
        }
        match self.server.list(self.server.url(&path)?.with_query("per_page", PAGE_ITEMS), read).await {
            Err(Failure::NotFound(_)) => Ok(Vec::new()),
            found => found,
        }
    }

    /// Asks for a file first, then for a directory.
    async fn has_path(&self, repository: &Repository, branch: &str, path: &str) -> Result<bool, Failure> {
        let server = self.server;
        let repository = ["projects", &repository.id, "repository"];
        let file = server.url(&[&repository[..], &["files", path]].concat())?.with_query("ref", branch);
        let directory = server.url(&[&repository[..], &["tree"]].concat())?;
        let directory = directory.with_query("path", path).with_query("ref", branch);
        Ok(server.has(file).await? || server.has(directory).await?)
    }
}
