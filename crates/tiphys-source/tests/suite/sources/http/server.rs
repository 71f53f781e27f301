//! A web server for one test: `git http-backend` as a CGI program, with a check of the `Authorization` header.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tiphys_testkit::canned_server::{Canned, CannedServer, Request};
use tiphys_testkit::certificates::Identity;
use tiphys_testkit::git;

/// Serves the repositories below a folder until it is dropped.
pub(super) struct Server(CannedServer);

impl Server {
    /// Permits only requests with this header, or all if there is none.
    pub(super) fn start(root: &Path, authorization: Option<&str>) -> Self {
        let (root, permitted) = (root.to_path_buf(), authorization.map(str::to_owned));
        Self(CannedServer::start(None, move |request| {
            if permitted.is_some() && request.header("Authorization") != permitted.as_deref() {
                return Canned::new(401, "").with("WWW-Authenticate", "Basic realm=\"test\"");
            }
            answer(&root, request)
        }))
    }

    /// Speaks TLS.
    pub(super) fn with_tls(root: PathBuf, identity: &Identity) -> Self {
        Self(CannedServer::start(Some(identity), move |request| answer(&root, request)))
    }

    /// Redirects all requests to another server.
    pub(super) fn redirecting(to: &str) -> Self {
        let to = to.trim_end_matches('/').to_owned();
        Self(CannedServer::start(None, move |request| {
            Canned::new(302, "").with("Location", &format!("{to}{}", request.path))
        }))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.0.url())
    }

    /// The `Authorization` headers of all requests, in order.
    pub(super) fn authorizations(&self) -> Vec<Option<String>> {
        let requests = self.0.requests();
        requests.iter().map(|request| request.header("Authorization").map(str::to_owned)).collect()
    }
}

/// Returns git's answer to a request.
#[expect(clippy::disallowed_methods, reason = "git's own server program serves the test's repositories")]
fn answer(root: &Path, request: &Request) -> Canned {
    let header = |name| request.header(name).unwrap_or_default();
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut child = Command::new("git")
        .args(["-c", "http.receivepack=false", "http-backend"])
        .env_clear()
        .envs(git::environment(root))
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("Content-Type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("GIT_PROTOCOL", header("Git-Protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git starts");
    // The requests of these repositories are short, so that git does not compress them.
    assert_eq!(header("Content-Encoding"), "", "the body is not text");
    // git may end before it has read the body.
    drop(child.stdin.take().map(|mut stdin| stdin.write_all(request.body.as_bytes())));
    let answer = child.wait_with_output().expect("git ends").stdout;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&answer[..end]);
    let mut canned = Canned::new(200, &answer[end + 4..]);
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        match name {
            "Status" => canned.status = value[..3].parse().expect("a status"),
            _ => canned = canned.with(name, value),
        }
    }
    canned
}
