//! A cancelled download leaves nothing behind, and the next caller repeats it.

use std::fs;
use std::sync::Arc;

use tiphys_testkit::chart_server::{ChartServer, Failure, Transport};
use tiphys_testkit::wait::until;
use tokio::task::spawn_blocking;

use crate::charts::workbench::{Workbench, chart, fetch, pair, web};

#[tokio::test]
async fn cancelled_download_leaves_no_file_and_can_be_repeated() {
    let (bench, server) = (Workbench::new(), ChartServer::start(Transport::Plain));
    server.repository("/charts", &[web("1.0.0")]);
    server.fail("/charts/web-1.0.0.tgz", Some(Failure::HangInBody));
    let archives = bench.path("cache/charts/archives");
    let sizes = move || -> Vec<u64> {
        let files = fs::read_dir(&archives).into_iter().flatten().flatten();
        files.map(|file| file.metadata().map_or(0, |found| found.len())).collect()
    };
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    let sources = bench.sources();
    let watched = sizes.clone();
    let has_begun = spawn_blocking(move || until(|| watched().iter().find(|&&size| size > 0).copied()));
    tokio::select! {
        found = fetch(&sources, &source) => panic!("the server does not send the whole archive: {found:?}"),
        _ = has_begun => {}
    }
    assert!(sizes().is_empty());
    server.fail("/charts/web-1.0.0.tgz", None);
    let found = fetch(&sources, &source).await.expect("it is downloaded");
    assert_eq!(found, pair("1.0.0", "1.0.0"));
    assert_eq!((server.count("/charts/index.yaml"), server.count("/charts/web-1.0.0.tgz")), (1, 2));
}

#[tokio::test]
async fn another_caller_continues_if_one_is_cancelled() {
    let (bench, server) = (Workbench::new(), Arc::new(ChartServer::start(Transport::Plain)));
    server.repository("/charts", &[web("1.0.0")]);
    server.fail("/charts/index.yaml", Some(Failure::Hang));
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    let sources = bench.sources();
    let asked = Arc::clone(&server);
    let has_begun = spawn_blocking(move || asked.wait_for("/charts/index.yaml"));
    let mut waiting = Box::pin(fetch(&sources, &source));
    tokio::select! {
        // The first one sends the request.
        biased;
        found = fetch(&sources, &source) => panic!("the server does not respond: {found:?}"),
        found = &mut waiting => panic!("the server does not respond: {found:?}"),
        _ = has_begun => {}
    }
    server.fail("/charts/index.yaml", None);
    assert_eq!(waiting.await.expect("it is downloaded"), pair("1.0.0", "1.0.0"));
}
