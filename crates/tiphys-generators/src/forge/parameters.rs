//! From pull requests and branches to the parameters of templates.

use serde_json::{Map, Value};
use tiphys_go::gotemplate::{normalize, slug};

/// Bytes of a slug, so that names made of it have room for 13 more.
const SLUG_BYTES_MAX: usize = 50;

/// A pull request, or merge request of GitLab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PullRequest {
    pub(super) number: String,
    pub(super) title: String,
    pub(super) branch: String,
    pub(super) target_branch: String,
    pub(super) head_sha: String,
    pub(super) labels: Vec<String>,
    pub(super) author: String,
}

/// A repository, or project of GitLab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repository {
    pub(super) organization: String,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) url: String,
    pub(super) default_branch: String,
    pub(super) labels: Vec<String>,
}

/// A branch and its commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) name: String,
    pub(super) sha: String,
}

/// The parameters of a pull request.
pub(super) fn pull_request_parameters(pull_request: &PullRequest) -> Map<String, Value> {
    let PullRequest { number, title, branch, target_branch, head_sha, labels, author } = pull_request;
    let mut parameters = strings([
        ("number", number),
        ("title", title),
        ("branch", branch),
        ("branch_slug", &branch_slug(branch)),
        ("target_branch", target_branch),
        ("target_branch_slug", &branch_slug(target_branch)),
        ("head_sha", head_sha),
        ("head_short_sha", &start(head_sha, 8)),
        ("head_short_sha_7", &start(head_sha, 7)),
        ("author", author),
    ]);
    parameters.insert("labels".to_owned(), labels.as_slice().into());
    parameters
}

/// The parameters of a branch.
pub(super) fn branch_parameters(repository: &Repository, branch: &Branch) -> Map<String, Value> {
    let Repository { organization, name, id, url, labels, .. } = repository;
    strings([
        ("organization", organization),
        ("repository", name),
        ("repository_id", id),
        ("url", url),
        ("branch", &branch.name),
        ("branchNormalized", &normalize(branch.name.as_bytes())),
        ("sha", &branch.sha),
        ("short_sha", &start(&branch.sha, 8)),
        ("short_sha_7", &start(&branch.sha, 7)),
        ("labels", &labels.join(",")),
    ])
}

fn strings<const N: usize>(parameters: [(&str, &String); N]) -> Map<String, Value> {
    parameters.into_iter().map(|(name, value)| (name.to_owned(), value.as_str().into())).collect()
}

fn start(string: &str, length: usize) -> String {
    string.chars().take(length).collect()
}

/// Returns a branch as a part of a DNS name, as the Go library `slug` does with the substitution of `_` by `-`.
fn branch_slug(branch: &str) -> String {
    let mut ascii = String::new();
    for c in branch.trim().chars() {
        match c {
            '&' => ascii.push_str("and"),
            '@' => ascii.push_str("at"),
            '"' | '\'' | '\u{2019}' => {}
            '_' | '\u{2012}'..='\u{2015}' => ascii.push('-'),
            // The Go library knows no characters above U+FFFF, such as emoji.
            c if c > '\u{ffff}' => {}
            c => ascii.push_str(deunicode::deunicode_char(c).unwrap_or_default()),
        }
    }
    slug(&ascii.to_lowercase(), SLUG_BYTES_MAX)
}

#[cfg(test)]
mod tests;
