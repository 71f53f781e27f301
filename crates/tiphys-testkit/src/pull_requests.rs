//! The servers of the first use case of the proposal for plugin generators: GitHub with two pull requests, and a service that knows the
//! digests of their images.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::built;
use crate::canned_server::{Canned, CannedServer};
use crate::certificates::Authority;

/// The token of GitHub, in the Secret `github-secret`.
pub const GITHUB_TOKEN: &str = "a-github-token";

/// The token of the plugin service, in the Secret `argocd-secret`.
pub const PLUGIN_TOKEN: &str = "a-plugin-token";

/// Returns the program that starts the servers, for `cargo xtask demo`.
pub fn program() -> PathBuf {
    built::program("tiphys-testkit", "pull-request-servers", "crates/tiphys-testkit")
}

/// The servers, which end when this is dropped.
#[derive(Debug)]
pub struct PullRequestServers {
    /// `api.github.com` with a certificate of [`PullRequestServers::authority`].
    pub github: CannedServer,
    /// The proxy to GitHub, for `HTTPS_PROXY`.
    pub tunnel: CannedServer,
    /// The plugin service.
    pub plugin: CannedServer,
    /// The CA of GitHub's certificate, for `SSL_CERT_FILE`.
    pub authority: Authority,
}

impl PullRequestServers {
    /// Starts the servers.
    pub fn start() -> Self {
        let authority = Authority::new();
        let github = CannedServer::start(Some(&authority.server_named(&["api.github.com"])), |request| {
            let is_authorized = request.header("Authorization") == Some(&format!("Bearer {GITHUB_TOKEN}"));
            match (is_authorized, request.path.split('?').next()) {
                (true, Some("/repos/binboum/argo-test/pulls")) => {
                    Canned::new(200, pull_requests().to_string())
                }
                (true, _) => Canned::new(404, r#"{"message":"Not Found"}"#),
                (false, _) => Canned::new(401, r#"{"message":"Bad credentials"}"#),
            }
        });
        let plugin = CannedServer::start(None, |request| {
            if request.header("Authorization") != Some(&format!("Bearer {PLUGIN_TOKEN}")) {
                return Canned::new(401, r#"{"message":"wrong token"}"#);
            }
            match (request.method.as_str(), request.path.as_str()) {
                ("POST", "/v1/generator.getParams") => match digests(&request.body) {
                    Some(found) => Canned::new(200, found.to_string()),
                    None => Canned::new(400, r#"{"message":"expected repo and branch"}"#),
                },
                _ => Canned::new(404, r#"{"message":"no such call"}"#),
            }
        });
        Self { tunnel: CannedServer::tunnel(&github.host()), github, plugin, authority }
    }
}

fn pull_requests() -> Value {
    let pull_request = |number: u32, branch: &str, label: &str| {
        json!({
            "number": number,
            "title": format!("Change {branch}"),
            "user": {"login": "binboum"},
            "labels": [{"name": label}],
            "head": {"ref": branch, "sha": "0123456789012345678901234567890123456789"},
            "base": {"ref": "main"},
        })
    };
    json!([
        pull_request(7, "faster", "preview-matrix"),
        pull_request(8, "unlabelled", "bug"),
        pull_request(9, "prettier", "preview-matrix"),
    ])
}

/// The digests of a branch's images.
fn digests(body: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(body).ok()?;
    let (repo, branch) = (body["repo"].as_str()?, body["branch"].as_str()?);
    let digest = |image: &str| format!("sha256:{repo}-{branch}-{image}");
    Some(json!([{"digestFront": digest("front"), "digestBack": digest("back")}]))
}
