//! Gitea: <https://docs.gitea.com/api>. Its pull requests have the structure of GitHub's.

use serde_json::Value;

use super::github::{has_labels, pull_request};
use super::parameters::PullRequest;
use super::server::{Failure, Server};
use super::{strings, text};

/// Items of one page; the largest number that Gitea permits by default.
const PAGE_ITEMS: &str = "50";

/// Returns the open pull requests of a repository that have all labels. Argo CD reads only their first page.
pub(super) async fn pull_requests(server: &Server<'_>, fields: &Value) -> Result<Vec<PullRequest>, Failure> {
    let url = server.url(&["repos", text(fields, "owner"), text(fields, "repo"), "pulls"])?;
    let url = url.with_query("limit", PAGE_ITEMS).with_query("state", "open");
    let found = server.list(url, pull_request).await?;
    let labels = strings(fields, "labels");
    Ok(found.into_iter().filter(|pull_request| has_labels(pull_request, &labels)).collect())
}
