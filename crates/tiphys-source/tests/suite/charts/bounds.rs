//! Limits on data from servers: the maximum is accepted, one more is refused, and the error names the option.

use tiphys_source::{ChartLimits, ChartSource, CopyOrigin, LocalCopy, SourceRequest};
use tiphys_testkit::chart_server::{ChartServer, Transport};

use crate::charts::workbench::{Workbench, chart, failure, fetch, web, with};

/// Fetches with the bound, and with one less.
async fn at_the_bound(
    source: &ChartSource,
    bound: u64,
    set: impl Fn(&mut ChartLimits, u64),
    change: impl Fn(&mut SourceRequest),
) -> String {
    let (just, over) = (Workbench::new(), Workbench::new());
    let sources = |bench: &Workbench, bound| {
        bench.sources_with(|options, request| {
            set(&mut options.chart_limits, bound);
            change(request);
        })
    };
    let found = fetch(&sources(&just, bound), source).await.expect("it may be as large");
    assert_eq!(found.1, "1.0.0");
    failure(&sources(&over, bound - 1), source).await
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("it is small")
}

#[tokio::test]
async fn an_index_has_a_bound() {
    let server = ChartServer::start(Transport::Plain);
    let index = "entries: {web: [{version: 1.0.0, urls: [web.tgz]}]}";
    server.file("/index.yaml", index).file("/web.tgz", web("1.0.0").pack());
    let bound = size(index.as_bytes());
    let source = chart(&server.url(), "web", "1.0.0");
    let text = at_the_bound(&source, bound, |limits, bound| limits.index_bytes_max = bound, |_| {}).await;
    let (url, max) = (server.url(), bound - 1);
    let expected =
        format!("index.yaml of repository {url} has more than {max} bytes: limit chart-index-bytes-max");
    assert_eq!(text, expected);
}

#[tokio::test]
async fn an_archive_has_a_bound_wherever_it_comes_from() {
    let set = |limits: &mut ChartLimits, bound| limits.archive_bytes_max = bound;
    let (server, archive) = (ChartServer::start(Transport::Plain), web("1.0.0").pack());
    server.repository("/charts", &[web("1.0.0")]);
    server.images("charts", &[web("1.0.0")]);
    let (url, bound) = (format!("{}/charts", server.url()), size(&archive));
    let of_registry = with(chart(&format!("{}/charts", server.host()), "web", "1.0.0"), |access| {
        access.insecure_oci_force_http = true;
    });
    let bench = Workbench::new();
    let dir = bench.path("folder");
    std::fs::create_dir(&dir).expect("a folder can be made");
    std::fs::write(dir.join(web("1.0.0").archive_name()), archive).expect("a file can be written");
    let stands = |request: &mut SourceRequest| {
        request.copies = vec![LocalCopy {
            url: Some("https://charts.example.org".into()),
            revision: None,
            dir: dir.clone(),
            origin: CopyOrigin::Caller,
        }];
    };
    let of_folder = chart("https://charts.example.org", "web", "1.0.0");
    for text in [
        at_the_bound(&chart(&url, "web", "1.0.0"), bound, set, |_| {}).await,
        at_the_bound(&of_registry, bound, set, |_| {}).await,
        at_the_bound(&of_folder, bound, set, stands).await,
    ] {
        let expected = format!("has more than {} bytes: limit chart-bytes-max", bound - 1);
        assert!(text.contains(&expected), "{text}");
    }

    fetch(&bench.sources(), &chart(&url, "web", "1.0.0")).await.expect("it is fetched");
    // The other store has no tree of it.
    let emptied = Workbench::new();
    std::fs::rename(bench.path("cache"), emptied.path("cache")).expect("a folder can be moved");
    let lowered = emptied.sources_with(|options, _| options.chart_limits.archive_bytes_max = bound - 1);
    let text = failure(&lowered, &chart(&url, "web", "1.0.0")).await;
    assert!(
        text.starts_with("the cached archive of repository ") && text.contains("limit chart-bytes-max"),
        "{text}"
    );
}

#[tokio::test]
async fn answers_of_a_registry_and_their_tags_have_bounds() {
    /// More than the manifest has.
    const PAGE_BYTES: usize = 4096;
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &[web("1.0.0")]);
    let page = format!("{:PAGE_BYTES$}", r#"{"tags": ["0.9.0", "1.0.0"]}"#);
    server.file("/v2/charts/web/tags/list", page.clone());
    let source = with(chart(&format!("{}/charts", server.host()), "web", ">=0.1"), |access| {
        access.insecure_oci_force_http = true;
    });
    let bound = size(page.as_bytes());
    let text = at_the_bound(&source, bound, |limits, bound| limits.answer_bytes_max = bound, |_| {}).await;
    let repository = &source.repo_url;
    let expected = format!(
        "the list of its tags of repository {repository} has more than {} bytes: limit registry-answer-bytes-max",
        bound - 1
    );
    assert_eq!(text, expected);
    let text = at_the_bound(&source, 2, |limits, bound| limits.tags_max = bound, |_| {}).await;
    assert!(text.ends_with("has more than 1 tags: limit registry-tags-max"), "{text}");
}

#[tokio::test]
async fn the_pages_of_tags_have_a_bound_and_stay_on_one_server() {
    let (server, other) = (ChartServer::start(Transport::Plain), ChartServer::start(Transport::Plain));
    server.images("charts", &[web("1.0.0")]);
    let list = "/v2/charts/web/tags/list";
    server.page(list, r#"{"tags": ["0.9.0"]}"#, "/v2/charts/web/tags/second");
    server.file("/v2/charts/web/tags/second", r#"{"tags": ["1.0.0"]}"#);
    let source = with(chart(&format!("{}/charts", server.host()), "web", ">=0.1"), |access| {
        access.insecure_oci_force_http = true;
    });
    let text = at_the_bound(&source, 2, |limits, bound| limits.tag_pages_max = bound, |_| {}).await;
    let repository = &source.repo_url;
    let expected = format!(
        "the list of its tags of repository {repository} has more than 1 pages: limit registry-tag-pages-max"
    );
    assert_eq!(text, expected);

    let next = format!("{}/v2/charts/web/tags/list", other.url());
    server.page(list, r#"{"tags": ["0.9.0"]}"#, &next);
    let text = failure(&Workbench::new().sources(), &source).await;
    let expected = format!(
        "the list of its tags of repository {repository} cannot be used: its next page is on another server, {next}"
    );
    assert_eq!(text, expected);
    assert_eq!(other.requests(), []);
}
