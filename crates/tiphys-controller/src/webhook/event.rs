//! Events of forges, and the generators that they concern.

use serde_json::Value;
use tiphys_model::access::RepoUrl;

use super::signature::{Forge, Header};
use crate::cache::{any_generator, is_template};

/// Changes of a pull request after which generators list other ones.
const ACTIONS: [&str; 15] = [
    "opened",
    "closed",
    "synchronize",
    "synchronized",
    "reopened",
    "edited",
    "labeled",
    "unlabeled",
    "label_updated",
    "label_cleared",
    "open",
    "close",
    "reopen",
    "update",
    "merge",
];

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A branch or tag has another commit.
    Push {
        /// Host and path of the repository, in each form of its URL.
        repositories: Vec<String>,
        /// The full name of the ref.
        reference: String,
        /// Whether it is the default branch.
        is_default: bool,
    },
    /// A pull request was opened, closed or changed.
    PullRequest {
        forge: Forge,
        /// `OWNER/NAME`, with all groups.
        path: String,
        /// The number of a project of GitLab.
        id: Option<u64>,
    },
}

impl Event {
    /// Returns an event that may concern a generator.
    pub(super) fn of(forge: Forge, header: &Header<'_>, body: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = header(forge.event_header()).unwrap_or_default();
        let (repository, path, default) = match forge {
            Forge::GitLab => (&body["project"], "path_with_namespace", "default_branch"),
            Forge::GitHub | Forge::Gitea => (&body["repository"], "full_name", "default_branch"),
        };
        match kind {
            "push" | "Push Hook" | "Tag Push Hook" => {
                let urls = ["html_url", "clone_url", "ssh_url", "web_url", "git_http_url", "git_ssh_url"];
                let repositories =
                    urls.iter().filter_map(|key| location(repository[*key].as_str()?)).collect();
                let reference = text(&body["ref"]);
                let is_default = reference.strip_prefix("refs/heads/") == repository[default].as_str();
                Some(Self::Push { repositories, reference, is_default })
            }
            "pull_request" | "pull_request_label" | "Merge Request Hook" => {
                let action = body["action"].as_str().or_else(|| body["object_attributes"]["action"].as_str());
                let is_change = action.is_some_and(|action| ACTIONS.contains(&action));
                let path = text(&repository[path]);
                is_change.then(|| Self::PullRequest { forge, path, id: repository["id"].as_u64() })
            }
            _ => None,
        }
    }

    /// Whether the event concerns one of a list of generators, nested ones included.
    pub(super) fn concerns(&self, generators: &Value) -> bool {
        any_generator(generators, &|kind, block| match kind {
            "git" => self.concerns_git(block),
            "pullRequest" => self.concerns_pull_requests(block),
            _ => false,
        })
    }

    fn concerns_git(&self, generator: &Value) -> bool {
        let Self::Push { repositories, reference, is_default } = self else { return false };
        let url = generator["repoURL"].as_str().unwrap_or_default();
        let revision = generator["revision"].as_str().unwrap_or_default();
        let is_repository = is_template(url) || location(url).is_some_and(|url| repositories.contains(&url));
        let name = reference.splitn(3, '/').nth(2).unwrap_or_default();
        is_repository
            && match revision {
                "" | "HEAD" => *is_default,
                revision => is_template(revision) || revision == name || revision == reference,
            }
    }

    fn concerns_pull_requests(&self, generator: &Value) -> bool {
        let Self::PullRequest { forge, path, id } = self else { return false };
        let is_same = |named: &str| is_template(named) || named.eq_ignore_ascii_case(path);
        let of_owner = |block: &Value| {
            let part = |key: &str| block[key].as_str().unwrap_or_default();
            is_same(&format!("{}/{}", part("owner"), part("repo")))
        };
        match forge {
            Forge::GitHub => generator.get("github").is_some_and(of_owner),
            Forge::Gitea => generator.get("gitea").is_some_and(of_owner),
            Forge::GitLab => generator["gitlab"]["project"]
                .as_str()
                .is_some_and(|project| is_same(project) || id.is_some_and(|id| project == id.to_string())),
        }
    }
}

/// Returns host and path of a repository, by which its HTTP and SSH URLs are equal.
fn location(url: &str) -> Option<String> {
    let url = RepoUrl::new(url.trim());
    let path = url.expose()[url.path_start()..].trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_named = !url.host().is_empty() && !path.is_empty();
    is_named.then(|| format!("{}/{path}", url.host()).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(forge: Forge, kind: &'static str, body: &Value) -> Option<Event> {
        Event::of(forge, &|name| (name == forge.event_header()).then_some(kind), body)
    }

    #[test]
    fn push_concerns_generators_of_its_repository_and_branch() {
        let body = json!({"ref": "refs/heads/main", "repository": {
            "html_url": "https://github.com/Team/apps", "clone_url": "https://github.com/Team/apps.git",
            "ssh_url": "git@github.com:Team/apps.git", "full_name": "Team/apps", "default_branch": "main",
        }});
        let push = event(Forge::GitHub, "push", &body).expect("an event");
        let git = |url: &str, revision: &str| json!({"git": {"repoURL": url, "revision": revision}});
        for (generator, expected) in [
            (git("https://github.com/team/apps.git", "HEAD"), true),
            (git("git@github.com:Team/apps.git", "main"), true),
            (git("ssh://git@github.com/Team/apps", "refs/heads/main"), true),
            (git("https://github.com/team/apps", ""), true),
            (git("https://github.com/team/apps", "release"), false),
            (git("https://github.com/team/other", "main"), false),
            (git("https://git.example.org/team/apps", "main"), false),
            (git("https://github.com/team/{{ .repo }}", "main"), true),
            (
                json!({"matrix": {"generators": [{"list": {}}, {"merge": {"generators": [git("https://github.com/team/apps", "main")]}}]}}),
                true,
            ),
            (json!({"plugin": {"configMapRef": {"name": "x"}}}), false),
            (json!({"pullRequest": {"github": {"owner": "Team", "repo": "apps"}}}), false),
        ] {
            assert_eq!(push.concerns(&json!([generator])), expected, "{generator}");
        }
        let tag = json!({"ref": "refs/tags/v1", "project": {"git_http_url": "https://gitlab.com/a/b/c.git", "default_branch": "main"}});
        let push = event(Forge::GitLab, "Tag Push Hook", &tag).expect("an event");
        assert!(push.concerns(&json!([git("https://gitlab.com/a/b/c", "v1")])));
        assert!(!push.concerns(&json!([git("https://gitlab.com/a/b/c", "HEAD")])));
    }

    #[test]
    fn pull_request_concerns_generators_of_its_repository() {
        let of_owner = |forge: &str| json!([{"pullRequest": {forge: {"owner": "team", "repo": "Apps"}}}]);
        let body = |action: &str| json!({"action": action, "repository": {"full_name": "team/apps"}});
        for (forge, name) in [(Forge::GitHub, "github"), (Forge::Gitea, "gitea")] {
            let opened = event(forge, "pull_request", &body("opened")).expect("an event");
            assert!(opened.concerns(&of_owner(name)), "{name}");
            assert!(!opened.concerns(&json!([{"pullRequest": {name: {"owner": "team", "repo": "web"}}}])));
            assert_eq!(event(forge, "pull_request", &body("assigned")), None);
        }
        assert_eq!(event(Forge::GitHub, "ping", &json!({})), None);
        let body = json!({"object_attributes": {"action": "merge"}, "project": {"id": 42, "path_with_namespace": "a/b/c"}});
        let merged = event(Forge::GitLab, "Merge Request Hook", &body).expect("an event");
        for (project, expected) in [("42", true), ("a/b/C", true), ("43", false), ("a/b", false)] {
            let generators = json!([{"pullRequest": {"gitlab": {"project": project}}}]);
            assert_eq!(merged.concerns(&generators), expected, "{project}");
        }
    }
}
