//! Repositories over HTTP, from git's own server program behind a small web server.

mod projects;
mod server;

use std::collections::BTreeMap;

use tiphys_model::access::{KnownRepositories, RepositoryAccess};
use tiphys_source::{Secret, UserSettings};
use tiphys_testkit::certificates::Authority;

use crate::sources::workbench::{Workbench, files};
use server::Server;

fn serve(bench: &Workbench, authorization: Option<&str>) -> Server {
    let repository = bench.repository("www/apps");
    repository.write("a.yaml", "old").commit("first");
    repository.git(&["tag", "v1"]);
    repository.write("a.yaml", "over http").commit("second");
    Server::start(&bench.path("www"), authorization)
}

/// Access of a repository Secret without credentials.
fn bare(url: &str) -> RepositoryAccess {
    RepositoryAccess { url: url.to_owned(), ..RepositoryAccess::default() }
}

/// Access of a repository Secret with the credentials of this user.
fn basic(url: &str, username: &str, password: &str) -> RepositoryAccess {
    RepositoryAccess { username: username.to_owned(), password: Secret::new(password), ..bare(url) }
}

/// `Basic` and the base64 of `robot:s3cret`.
const ROBOT: &str = "Basic cm9ib3Q6czNjcmV0";

#[tokio::test]
async fn a_repository_is_fetched_over_http() {
    let bench = Workbench::new();
    let server = serve(&bench, None);
    let sources = bench.sources();
    assert_eq!(files(&sources, &server.url("apps/.git"), "main").await, ["a.yaml: over http"]);
    assert_eq!(files(&sources, &server.url("apps/.git"), "v1").await, ["a.yaml: old"]);
    assert!(server.authorizations().iter().all(Option::is_none));
}

#[tokio::test]
async fn a_server_is_trusted_by_the_certificates_of_its_name_and_a_secret_may_spare_them() {
    let bench = Workbench::new();
    serve(&bench, None);
    let (authority, other) = (Authority::new(), Authority::new());
    let server = Server::with_tls(bench.path("www"), &authority.server());
    let url = server.url("apps/.git");
    let of = |name: &str, pem: &str| BTreeMap::from([(name.to_owned(), pem.to_owned())]);
    let general = bench.path("general.pem");
    for (certificates, trusted_in_general, is_trusted) in [
        (of("127.0.0.1", authority.pem()), &other, true),
        (of("127.0.0.1", other.pem()), &authority, false),
        (of("git.example.org", authority.pem()), &other, false),
        (BTreeMap::new(), &authority, true),
        (BTreeMap::new(), &other, false),
    ] {
        std::fs::write(&general, trusted_in_general.pem()).expect("the file can be written");
        let sources = bench.sources_with(|options, request| {
            request.known.certificates = certificates;
            options.environment.push(("SSL_CERT_FILE".into(), general.clone().into_os_string()));
        });
        if is_trusted {
            assert_eq!(files(&sources, &url, "main").await, ["a.yaml: over http"]);
        } else {
            let refusal = bench.refusal(&sources, &url, "main").await;
            assert!(refusal.contains("certificate"), "{refusal}");
        }
    }
    let insecure = bench.sources_with(|_, request| {
        request.known.certificates = of("127.0.0.1", other.pem());
        request.known.repositories = vec![RepositoryAccess { insecure: true, ..bare(&url) }];
    });
    assert_eq!(files(&insecure, &url, "main").await, ["a.yaml: over http"]);
}

#[tokio::test]
async fn credentials_of_a_secret_are_sent() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let url = server.url("apps/.git");
    let nothing = KnownRepositories::default;
    for known in [
        KnownRepositories { repositories: vec![basic(&url, "robot", "s3cret")], ..nothing() },
        KnownRepositories { templates: vec![basic(&server.url(""), "robot", "s3cret")], ..nothing() },
    ] {
        for url in [&url, &url.replace("http://", "HTTP://")] {
            let sources = bench.sources_with(|_, request| request.known = known.clone());
            assert_eq!(files(&sources, url, "main").await, ["a.yaml: over http"], "{known:?}");
        }
    }
}

#[tokio::test]
async fn a_bearer_token_is_sent() {
    let bench = Workbench::new();
    let server = serve(&bench, Some("Bearer t0ken"));
    let url = server.url("apps/.git");
    let sources = bench.sources_with(|_, request| {
        let token = RepositoryAccess { bearer_token: Secret::new("t0ken"), ..bare(&url) };
        request.known.repositories = vec![token];
    });
    assert_eq!(files(&sources, &url, "main").await, ["a.yaml: over http"]);
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_repository() {
    let bench = Workbench::new();
    let server = serve(&bench, None);
    let sources = bench.sources_with(|_, request| {
        request.known.repositories = vec![basic(&server.url("other"), "robot", "s3cret")];
    });
    files(&sources, &server.url("apps/.git"), "main").await;
    assert!(server.authorizations().iter().all(Option::is_none));
}

#[tokio::test]
async fn a_password_in_the_url_is_used_and_not_shown() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let url = server.url("apps/.git").replace("http://", "http://robot:s3cret@");
    assert_eq!(files(&bench.sources(), &url, "main").await, ["a.yaml: over http"]);
    let wrong = url.replace("s3cret", "wr0ng");
    let refusal = bench.refusal(&bench.sources(), &wrong, "v1").await;
    assert!(refusal.contains("tried the user and password in the URL"), "{refusal}");
    assert!(!refusal.contains("wr0ng"), "{refusal}");
}

#[tokio::test]
async fn a_helper_of_the_user_is_asked_on_a_laptop_and_not_on_a_server() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let sources = bench.sources();
    std::fs::write(
        bench.path("home/.gitconfig"),
        "[credential]\n\thelper = \"!echo username=robot; echo password=s3cret; :\"\n",
    )
    .expect("the file can be written");
    let url = server.url("apps/.git");
    assert_eq!(files(&sources, &url, "main").await, ["a.yaml: over http"]);
    let strict = bench.sources_with(|options, _| options.user_settings = UserSettings::Ignored);
    let refusal = bench.refusal(&strict, &url, "main").await;
    assert!(refusal.contains("refused access; tried no credentials"), "{refusal}");
}

#[tokio::test]
async fn helpers_of_the_user_hear_nothing_of_a_secrets_password() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let url = server.url("apps/.git");
    let sources = bench.sources_with(|_, request| {
        request.known.repositories = vec![basic(&url, "robot", "wr0ng")];
    });
    let canary = bench.path("canary");
    let helper = format!("[credential]\n\thelper = \"!touch {}; :\"\n", canary.display());
    std::fs::write(bench.path("home/.gitconfig"), helper).expect("the file can be written");
    let refusal = bench.refusal(&sources, &url, "main").await;
    assert!(refusal.contains("refused access; tried the repository Secret's credentials"), "{refusal}");
    assert!(
        !canary.exists(),
        "a helper was called, and would have been called to erase the user's own password"
    );
}

#[tokio::test]
async fn credentials_are_not_sent_after_a_redirection() {
    let bench = Workbench::new();
    let other = serve(&bench, None);
    let server = Server::redirecting(&other.url(""));
    let url = server.url("apps/.git");
    assert_eq!(
        files(&bench.sources(), &url, "v1").await,
        ["a.yaml: old"],
        "without credentials it is followed"
    );
    let before = other.authorizations().len();
    let sources = bench.sources_with(|_, request| {
        request.known.repositories = vec![basic(&url, "robot", "s3cret")];
    });
    let refusal = bench.refusal(&sources, &url, "main").await;
    assert!(refusal.starts_with(&format!("repository {url} was not found")), "{refusal}");
    assert_eq!(other.authorizations().len(), before);
}

#[tokio::test]
async fn a_refusal_says_what_was_tried_and_what_to_set() {
    let bench = Workbench::new();
    let server = serve(&bench, Some(ROBOT));
    let url = server.url("apps/.git");
    let refusal = bench.refusal(&bench.sources(), &url, "main").await;
    let expected = format!(
        "repository {url} refused access; tried git's credential helpers of this user; set a git credential helper that \
         knows this server, or add a Secret labelled argocd.argoproj.io/secret-type: repository to the store: "
    );
    assert!(refusal.starts_with(&expected), "{refusal}");
    let wrong = bench.sources_with(|_, request| {
        request.known.repositories = vec![basic(&url, "robot", "wr0ng")];
    });
    let refusal = bench.refusal(&wrong, &url, "main").await;
    assert!(refusal.contains("tried the repository Secret's credentials"), "{refusal}");
    assert!(!refusal.contains("wr0ng") && !refusal.contains("Basic"), "{refusal}");
}

#[tokio::test]
async fn a_missing_repository_and_a_server_that_is_not_there_are_told_apart() {
    let bench = Workbench::new();
    let server = serve(&bench, None);
    let missing = server.url("missing");
    let refusal = bench.refusal(&bench.sources(), &missing, "main").await;
    assert!(refusal.starts_with(&format!("repository {missing} was not found")), "{refusal}");
    let url = server.url("apps/.git");
    drop(server);
    let refusal = bench.refusal(&bench.sources(), &url, "main").await;
    assert!(refusal.starts_with(&format!("repository {url} could not be reached")), "{refusal}");
}

#[tokio::test]
async fn server_that_cannot_be_reached_is_asked_once_per_request() {
    let bench = Workbench::new();
    let server = serve(&bench, None);
    let urls = ["one", "two", "three"].map(|name| server.url(name));
    drop(server);
    let log = bench.path("tools/log");
    let script = format!("#!/bin/sh\necho \"$1\" >>{}\nexec git \"$@\"\n", log.display());
    bench.repository("tools").write_executable("git", &script);
    let sources = || bench.sources_with(|options, _| options.git_program = bench.path("tools/git"));
    for requests in 1..=2 {
        let sources = sources();
        let [one, two, three] = urls.each_ref().map(|url| bench.refusal(&sources, url, "main"));
        let refusals: [String; 3] = tokio::join!(one, two, three).into();
        let expected = format!("repository {} could not be reached: ", urls[0]);
        assert!(refusals.iter().all(|refusal| refusal.starts_with(&expected)), "{refusals:?}");
        let calls = std::fs::read_to_string(&log).expect("the program ran");
        assert_eq!(calls.lines().filter(|call| *call == "ls-remote").count(), requests, "{calls}");
    }
}

#[tokio::test]
async fn a_client_certificate_is_given_by_files_that_go_away() {
    let bench = Workbench::new();
    let server = serve(&bench, None);
    let url = server.url("apps/.git");
    let sources = bench.sources_with(|_, request| {
        request.known.repositories = vec![RepositoryAccess {
            tls_client_cert_data: "CERT".to_owned(),
            tls_client_cert_key: Secret::new("KEY"),
            ..bare(&url)
        }];
    });
    let secrets = || {
        std::fs::read_dir(bench.path("home"))
            .expect("the folder can be read")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with("tiphys-secret"))
            .count()
    };
    files(&sources, &url, "main").await;
    assert_eq!(secrets(), 2);
    drop(sources);
    assert_eq!(secrets(), 0);
}
