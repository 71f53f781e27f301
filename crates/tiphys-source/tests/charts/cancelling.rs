//! A cancelled download leaves nothing behind, and the next caller repeats it.

use std::fs;

use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};

use crate::workbench::{Workbench, chart, fetch, pair, web};

#[tokio::test]
async fn cancelled_download_leaves_no_file_and_can_be_repeated() {
    let (bench, server) = (Workbench::new(), ChartServer::start(Transport::Plain));
    server.repository("/charts", &[web("1.0.0")]);
    server.fail("/charts/web-1.0.0.tgz", Some(Failure::HangInBody));
    let archives = bench.path("cache/charts/archives");
    let sizes = || -> Vec<u64> {
        let files = fs::read_dir(&archives).into_iter().flatten().flatten();
        files.map(|file| file.metadata().map_or(0, |found| found.len())).collect()
    };
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    let sources = bench.sources();
    let has_begun = async {
        while sizes().iter().all(|&size| size == 0) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        found = fetch(&sources, &source) => panic!("the server does not send the whole archive: {found:?}"),
        () = has_begun => {}
    }
    assert!(sizes().is_empty());
    server.fail("/charts/web-1.0.0.tgz", None);
    let found = fetch(&sources, &source).await.expect("it is downloaded");
    assert_eq!(found, pair("1.0.0", "1.0.0"));
    assert_eq!((server.count("/charts/index.yaml"), server.count("/charts/web-1.0.0.tgz")), (1, 2));
}

#[tokio::test]
async fn another_caller_continues_if_one_is_cancelled() {
    let (bench, server) = (Workbench::new(), ChartServer::start(Transport::Plain));
    server.repository("/charts", &[web("1.0.0")]);
    server.fail("/charts/index.yaml", Some(Failure::Hang));
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    let sources = bench.sources();
    let has_begun = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let mut waiting = Box::pin(fetch(&sources, &source));
    tokio::select! {
        // The first one sends the request.
        biased;
        found = fetch(&sources, &source) => panic!("the server does not respond: {found:?}"),
        found = &mut waiting => panic!("the server does not respond: {found:?}"),
        () = has_begun => {}
    }
    server.fail("/charts/index.yaml", None);
    assert_eq!(waiting.await.expect("it is downloaded"), pair("1.0.0", "1.0.0"));
}
