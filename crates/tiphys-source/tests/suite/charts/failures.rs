//! Servers that fail, and archives that are none: the error names the repository, what was asked and what to set, and no secret.

use std::time::Duration;

use tiphys_model::access::Secret;
use tiphys_source::Network;
use tiphys_testkit::chart_server::{Access, ChartServer, Failure, Transport};

use crate::charts::workbench::{Workbench, chart, failure, fetch, web, with};

/// Long enough for a server on loopback that answers at all.
const SHORT: Duration = Duration::from_millis(300);

/// A password that no text may show.
const HIDDEN: &str = "hush-hush";

#[tokio::test]
async fn each_failure_of_a_server_is_told_with_what_was_asked() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]);
    let url = format!("{}/charts", server.url());
    let source = with(chart(&url, "web", "1.0.0"), |access| {
        access.username = "user".to_owned();
        access.password = Secret::new(HIDDEN);
    });
    let archive = "/charts/web-1.0.0.tgz";
    let index = "/charts/index.yaml";
    for (path, fails, expected) in [
        (
            index,
            Failure::Status(401),
            "refused access; tried the repository's user and password; log in with `helm repo add`, ",
        ),
        (index, Failure::Status(403), "index.yaml: the server answered 403 Forbidden"),
        (index, Failure::Status(404), "was not found; check the URL"),
        (index, Failure::Status(500), "could not be reached"),
        (index, Failure::Hang, "did not end within 300ms"),
        (index, Failure::HangInBody, "did not end within 300ms"),
        (index, Failure::HalfOfABody, "index.yaml: "),
        (archive, Failure::Status(404), "chart web 1.0.0: the server answered 404 Not Found"),
        (archive, Failure::HangInBody, "fetching a chart of repository"),
        (archive, Failure::HalfOfABody, "chart web 1.0.0: "),
    ] {
        server.fail(path, Some(fails));
        let sources = Workbench::new().sources_with(|options, _| {
            options.lookup_timeout = SHORT;
            options.fetch_timeout = SHORT;
        });
        let text = failure(&sources, &source).await;
        assert!(
            text.contains(expected) && text.contains(&url) && !text.contains(HIDDEN),
            "{fails:?}: {text}"
        );
        server.fail(path, None);
    }
}

#[tokio::test]
async fn a_failure_of_another_server_is_told_with_its_name_and_who_led_there() {
    let (server, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    let gone = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        format!("http://{}", listener.local_addr().expect("it has one"))
    };
    server.repository("/moved", &[web("1.0.0")]).repository("/gone", &[web("1.0.0")]);
    server.redirect("/moved/web-1.0.0.tgz", &format!("{}/x.tgz?token={HIDDEN}", other.url()));
    server.redirect("/gone/web-1.0.0.tgz", &format!("{gone}/x.tgz?token={HIDDEN}"));
    server.repository_elsewhere("/named", &[web("1.0.0")], &format!("{}/", other.url()));
    let redirects = format!("to which {} redirects", server.url());
    for (path, fails, expected) in [
        (
            "/moved",
            Failure::Status(404),
            format!("chart web 1.0.0: {}, {redirects}, answered 404 Not Found", other.url()),
        ),
        ("/moved", Failure::Status(500), format!("{}, {redirects}, answered 500 ", other.url())),
        ("/moved", Failure::HalfOfABody, format!("chart web 1.0.0: {}, {redirects}: ", other.url())),
        ("/gone", Failure::Status(404), format!("chart web 1.0.0: {gone}, {redirects}: Connection refused")),
        ("/named", Failure::Status(404), format!("chart web 1.0.0: {} answered 404 Not Found", other.url())),
    ] {
        other.file("/x.tgz", web("1.0.0").pack()).fail("/", Some(fails));
        let source = chart(&format!("{}{path}", server.url()), "web", "1.0.0");
        let text = failure(&Workbench::new().sources(), &source).await;
        assert!(text.contains(&expected) && !text.contains(HIDDEN), "{path}: {text}");
        assert!(text.contains(&source.repo_url), "{text}");
    }
}

#[tokio::test]
async fn a_password_in_the_url_is_used_and_never_shown() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]).protect("/charts/", Access::Basic);
    let url = format!("http://user:pass@{}/charts", server.host());
    fetch(&Workbench::new().sources(), &chart(&url, "web", "1.0.0")).await.expect("it is fetched");
    let wrong = format!("http://user:hidden@{}/charts", server.host());
    let text = failure(&Workbench::new().sources(), &chart(&wrong, "web", "1.0.0")).await;
    assert!(text.contains("the user and password in the URL") && !text.contains("hidden"), "{text}");
    for registry in ["user:hidden@127.0.0.1:9/charts", "oci://user:hidden@127.0.0.1:9/charts"] {
        let text = failure(&Workbench::new().sources(), &chart(registry, "web", "1.0.0")).await;
        assert!(text.contains("127.0.0.1:9/charts") && !text.contains("hidden"), "{text}");
    }
}

#[tokio::test]
async fn an_archive_that_is_not_what_the_index_says_is_refused() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]).file("/charts/web-1.0.0.tgz", web("1.0.1").pack());
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    let text = failure(&Workbench::new().sources(), &source).await;
    assert!(text.contains("has the digest sha256:") && text.contains("and should have sha256:"), "{text}");
}

#[tokio::test]
async fn an_index_that_is_none_is_told_with_the_place() {
    let server = ChartServer::start(Transport::Plain);
    let source = chart(&server.url(), "web", "1.0.0");
    for (index, expected) in [
        ("", "it is empty"),
        ("entries: [a]\n", "entries: expected an object, found"),
        ("entries: {web: [{version: 1.0.0, urls: web.tgz}]}\n", "entries.web.urls: expected"),
        ("entries: {web: [\n", "line"),
        ("entries: {web: [{version: 1.0.0}]}\n", "the index names no http or https URL for it"),
        ("entries: {web: [{version: 1.0.0, urls: ['ftp://x/y.tgz']}]}\n", "names no http or https URL"),
    ] {
        server.file("/index.yaml", index);
        let text = failure(&Workbench::new().sources(), &source).await;
        assert!(text.contains(expected), "{index}: {text}");
    }
}

#[tokio::test]
async fn an_archive_that_was_changed_in_the_cache_is_refused_once_and_then_fetched_again() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]);
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    let whole = web("1.0.0").pack();
    for changed in [web("6.6.6").pack(), b"garbage".to_vec(), Vec::new(), whole[..whole.len() / 2].to_vec()] {
        let bench = Workbench::new();
        let revision = bench.sources().resolve_chart(&source).await.expect("it is fetched");
        assert_eq!(revision.revision(), "1.0.0");
        let archives = bench.path("cache/charts/archives");
        let mut files = std::fs::read_dir(archives).expect("a folder");
        let file = files.next().expect("an archive").expect("an entry");
        std::fs::write(file.path(), changed).expect("a file can be written");
        let text = failure(&bench.sources(), &source).await;
        assert!(text.contains("it was changed, or did not come whole"), "{text}");
        fetch(&bench.sources(), &source).await.expect("it is fetched again");
    }
}

#[tokio::test]
async fn what_was_never_fetched_is_not_there_without_the_network() {
    let sources = Workbench::new().sources_with(|_, request| request.network = Network::Offline);
    let text = failure(&sources, &chart("https://charts.example.org", "web", "^1")).await;
    assert!(text.contains("chart \"web\" version \"^1\" of repository https://charts.example.org"), "{text}");
    assert!(text.contains("the network must not be used"), "{text}");
}
