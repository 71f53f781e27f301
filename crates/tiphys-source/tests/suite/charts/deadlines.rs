//! How long a chart may take as a whole, and that what does not answer is waited for once.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use tiphys_model::access::{RepositoryAccess, Secret};
use tiphys_source::{Network, SourceOptions, SourceRequest};
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use crate::charts::workbench::{Workbench, chart, failure, fetch, pair, web, with};

/// An answer that takes so long is in time, and two of them are not.
const LATE: Duration = Duration::from_millis(1200);

/// The bound that one of them is within.
const BOUND: Duration = Duration::from_secs(2);

/// More than any test waits.
const LONG: Duration = Duration::from_mins(1);

fn bounded(lookup: Duration, fetch: Duration) -> impl FnOnce(&mut SourceOptions, &mut SourceRequest) {
    move |options, _| {
        options.lookup_timeout = lookup;
        options.fetch_timeout = fetch;
    }
}

fn plain(access: &mut RepositoryAccess) {
    access.insecure_oci_force_http = true;
}

#[tokio::test]
async fn the_hops_of_one_question_have_one_deadline_which_is_told_with_its_option() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/there", &[web("1.0.0")]);
    for (from, to) in [("/charts/index.yaml", "/next/index.yaml"), ("/next/index.yaml", "/there/index.yaml")]
    {
        server.redirect(from, &(server.url() + to)).fail(from, Some(Failure::Late(LATE)));
    }
    let url = format!("{}/charts", server.url());
    let sources = Workbench::new().sources_with(bounded(BOUND, LONG));
    assert_eq!(
        failure(&sources, &chart(&url, "web", "1.0.0")).await,
        format!("looking up charts of repository {url} did not end within 2s: limit lookup-timeout")
    );
}

#[tokio::test]
async fn all_that_is_asked_for_one_chart_has_one_deadline() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]);
    server.images("charts", &[web("1.0.0")]);
    for path in ["/charts/", "/v2/charts/web/tags/", "/v2/charts/web/manifests/", "/v2/charts/web/blobs/"] {
        server.fail(path, Some(Failure::Late(LATE)));
    }
    let of_registry = |wanted| with(chart(&format!("{}/charts", server.host()), "web", wanted), plain);
    for (source, action) in [
        (chart(&format!("{}/charts", server.url()), "web", "1.0.0"), "fetching a chart of"),
        (of_registry("1.0.0"), "fetching a chart of"),
        (of_registry("^1"), "looking up charts of"),
    ] {
        let sources = Workbench::new().sources_with(bounded(LONG, BOUND));
        let url = &source.repo_url;
        assert_eq!(
            failure(&sources, &source).await,
            format!("{action} repository {url} did not end within 2s: limit fetch-timeout")
        );
        let bench = Workbench::new();
        let sources = bench.sources_with(bounded(BOUND, LONG));
        assert_eq!(fetch(&sources, &source).await.expect("it is fetched"), pair("1.0.0", "1.0.0"));
    }
}

#[tokio::test]
async fn a_repository_that_does_not_answer_is_waited_for_once_and_its_error_told_to_all() {
    // All at once: each waits for as long as the bound is.
    tokio::join!(
        is_waited_for_once("/charts/", Failure::Hang),
        is_waited_for_once("/charts/", Failure::HangInBody),
        is_waited_for_once("/v2/", Failure::Hang),
        is_waited_for_once("/v2/", Failure::HangInBody),
    );
}

async fn is_waited_for_once(prefix: &str, fails: Failure) {
    let server = ChartServer::start(Transport::Plain);
    server.file("/charts/index.yaml", "entries: {}").file("/v2/charts/web/tags/list", "{\"tags\": []}");
    server.fail(prefix, Some(fails));
    let source = |name: &str| match prefix {
        "/v2/" => with(chart(&format!("{}/charts", server.host()), name, "^1"), plain),
        _ => chart(&format!("{}/charts", server.url()), name, "^1"),
    };
    let sources = Workbench::new().sources_with(bounded(BOUND, LONG));
    let first = failure(&sources, &source("web")).await;
    assert!(first.ends_with("did not end within 2s: limit lookup-timeout"), "{first}");
    let asked = server.requests().len();
    for name in ["web", "api"] {
        assert_eq!(failure(&sources, &source(name)).await, first, "{fails:?}");
    }
    assert_eq!((asked, server.requests().len()), (1, 1), "{fails:?} {prefix}");
}

#[tokio::test]
async fn one_repository_that_does_not_answer_is_not_held_against_another() {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]);
    server.fail("/dead/", Some(Failure::Hang));
    let bench = Workbench::new();
    let sources = bench.sources_with(bounded(BOUND, LONG));
    let text = failure(&sources, &chart(&format!("{}/dead", server.url()), "web", "1.0.0")).await;
    assert!(text.contains("did not end"), "{text}");
    let other = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    assert_eq!(fetch(&sources, &other).await.expect("it is fetched"), pair("1.0.0", "1.0.0"));
}

#[tokio::test]
async fn a_repository_whose_index_cannot_be_used_is_asked_once_and_its_error_told_to_all() {
    let server = ChartServer::start(Transport::Plain);
    server.file("/charts/index.yaml", "entries: [a]");
    let url = format!("{}/charts", server.url());
    let sources = Workbench::new().sources();
    let first = failure(&sources, &chart(&url, "web", "1.0.0")).await;
    assert_eq!(failure(&sources, &chart(&url, "api", "^2")).await, first);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn without_the_network_no_client_is_made() {
    let bench = Workbench::new();
    // No client can be made of these.
    let source = with(chart("https://charts.example.org", "web", "1.0.0"), |access| {
        "no certificate".clone_into(&mut access.ca_data);
        access.tls_client_cert_key = Secret::new("no key");
    });
    let offline = bench.sources_with(|_, request| request.network = Network::Offline);
    assert!(failure(&offline, &source).await.contains("the network must not be used"));
    let online = Workbench::new().sources();
    assert!(failure(&online, &source).await.contains("holds no certificate"));
}

#[tokio::test]
async fn connecting_has_a_bound_of_its_own_and_a_server_that_does_not_connect_is_tried_once() {
    // The system accepts connections, and TLS never starts.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = format!("https://{}", silent.local_addr().expect("it has one"));
    let sources = Workbench::new().sources_with(|options, request| {
        bounded(LONG, LONG)(options, request);
        options.connect_timeout = BOUND;
    });
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]);
    let told = |repository: &str| format!("connecting to repository {repository} did not end within 2s");
    let urls = ["/one", "/other"].map(|path| format!("{address}{path}"));
    let [one, other] = urls.each_ref().map(|url| chart(url, "web", "1.0.0"));
    let failures = tokio::join!(failure(&sources, &one), failure(&sources, &other));
    let expected = urls.each_ref().map(|url| told(url) + ": limit connect-timeout");
    assert_eq!(failures, expected.into());
    server.redirect("/charts/web-1.0.0.tgz", &format!("{address}/web.tgz"));
    let url = format!("{}/charts", server.url());
    let waited = format!("it waited for {address}, to which {} redirects", server.url());
    let expected = format!("{}: {waited}: limit connect-timeout", told(&url));
    assert_eq!(failure(&sources, &chart(&url, "web", "1.0.0")).await, expected);
    silent.set_nonblocking(true).expect("it is ours");
    assert!(silent.accept().is_ok() && silent.accept().is_err(), "one connection for all");
}
