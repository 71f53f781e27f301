//! Requests of one service share look-ups of indexes, tags and digests.

use std::time::Duration;

use tiphys_source::{ChartSource, SourceRequest, SourceService};
use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};
use tokio::task::JoinSet;

use crate::charts::workbench::{Workbench, chain, chart, fetch, log_in, web, with};

const HOUR: Duration = Duration::from_hours(1);

/// A server, and look-ups of it: the path that is requested, and the source.
fn served() -> (ChartServer, [(&'static str, ChartSource); 3]) {
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]);
    for prefix in ["charts", "artefacts"] {
        server.images(prefix, &[web("1.0.0")]);
    }
    let of_registry = |repository: String, name, revision| {
        with(chart(&repository, name, revision), |access| access.insecure_oci_force_http = true)
    };
    let host = server.host();
    let sources = [
        ("/charts/index.yaml", chart(&format!("{}/charts", server.url()), "web", "^1")),
        ("/v2/charts/web/tags/list", of_registry(format!("{host}/charts"), "web", "^1")),
        (
            "/v2/artefacts/web/manifests/1.0.0",
            of_registry(format!("oci://{host}/artefacts/web"), "", "1.0.0"),
        ),
    ];
    (server, sources)
}

async fn resolve(service: &SourceService, source: &ChartSource, lookup_age_max: Duration) {
    let sources = service.request(SourceRequest { lookup_age_max, ..SourceRequest::default() });
    assert_eq!(fetch(&sources, source).await.expect("it is fetched").1, "1.0.0");
}

#[tokio::test]
async fn lookup_is_repeated_if_it_is_too_old_for_a_request() {
    let (server, sources) = served();
    for (path, source) in sources {
        let bench = Workbench::new();
        let service = bench.service(|_| {});
        for (age_max, calls) in [(HOUR, 1), (HOUR, 1), (Duration::ZERO, 2), (HOUR, 2)] {
            resolve(&service, &source, age_max).await;
            assert_eq!(server.count(path), calls, "{path} {age_max:?}");
        }
    }
}

#[tokio::test]
async fn lookup_is_not_shared_between_credentials() {
    let (server, sources) = served();
    for (path, source) in sources {
        let bench = Workbench::new();
        let service = bench.service(|_| {});
        let other = with(with(source.clone(), log_in), |access| access.username.push('2'));
        for (number, source) in [source.clone(), with(source, log_in), other].iter().enumerate() {
            for _ in 0..2 {
                resolve(&service, source, HOUR).await;
                assert_eq!(server.count(path), number + 1, "{path}");
            }
        }
    }
}

/// Returns the results of 8 requests that begin before the first look-up.
async fn resolve_at_once(service: &SourceService, source: &ChartSource) -> Vec<Result<String, String>> {
    let requests: Vec<_> = (0..8).map(|_| service.request(SourceRequest::default())).collect();
    let mut tasks = JoinSet::new();
    for sources in requests {
        let source = source.clone();
        tasks.spawn(async move {
            fetch(&sources, &source).await.map(|(_, says)| says).map_err(|error| chain(&error))
        });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_share_a_lookup_and_its_error() {
    let (server, sources) = served();
    for (path, source) in sources {
        let bench = Workbench::new();
        let service = bench.service(|options| options.lookup_timeout = Duration::from_secs(1));
        server.fail(path, Some(Failure::Hang));
        for found in resolve_at_once(&service, &source).await {
            let error = found.expect_err("the server does not respond");
            assert!(error.contains("did not end within 1s"), "{error}");
        }
        assert_eq!(server.count(path), 1, "{path}");
        server.fail(path, None);
        for found in resolve_at_once(&service, &source).await {
            assert_eq!(found.expect("it is fetched"), "1.0.0");
        }
        assert_eq!(server.count(path), 2, "{path}");
    }
}
