//! Many readers and writers of one cache.

use std::sync::Arc;

use tiphys_testkit::git::{Repository, listing};
use tokio::task::JoinSet;

use crate::sources::workbench::{Workbench, render, whole};

fn history(bench: &Workbench, commits: usize) -> (Repository, Vec<String>) {
    let repository = bench.repository("remote");
    let ids = (0..commits)
        .map(|number| {
            repository.write("a.yaml", &format!("version {number}"));
            for file in 0..20 {
                repository.write(&format!("d/f{file}.yaml"), &format!("{file} of {number}"));
            }
            repository.commit(&format!("commit {number}"))
        })
        .collect();
    (repository, ids)
}

async fn check(sources: Arc<tiphys_source::Sources>, url: String, commit: String, number: usize) {
    let (resolved, tree) = render(&sources, &url, &commit, &whole()).await.expect("the commit is there");
    assert_eq!(resolved.revision(), commit);
    let files = listing(tree.root());
    assert_eq!(files.len(), 21);
    assert_eq!(files[0], format!("a.yaml: version {number}"));
    assert_eq!(files[1], format!("d/f0.yaml: 0 of {number}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn revisions_are_read_while_others_are_fetched() {
    let bench = Workbench::new();
    let (repository, commits) = history(&bench, 9);
    let sources = Arc::new(bench.sources());
    // Half of the revisions are there; the other half is fetched while those are read.
    for (number, commit) in commits.iter().enumerate().take(4) {
        check(Arc::clone(&sources), repository.url(), commit.clone(), number).await;
    }
    let sources = Arc::new(bench.sources());
    let mut tasks = JoinSet::new();
    for (number, commit) in commits.iter().enumerate() {
        tasks.spawn(check(Arc::clone(&sources), repository.url(), commit.clone(), number));
    }
    assert_eq!(tasks.join_all().await.len(), 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commands_on_one_cache_wait_for_each_others_fetches() {
    let bench = Workbench::new();
    let (repository, commits) = history(&bench, 6);
    let mut tasks = JoinSet::new();
    for (number, commit) in commits.iter().enumerate() {
        // Sources of their own: nothing but the cache's lock is between them, as between processes.
        tasks.spawn(check(Arc::new(bench.sources()), repository.url(), commit.clone(), number));
        tasks.spawn(check(Arc::new(bench.sources()), repository.url(), commit.clone(), number));
    }
    assert_eq!(tasks.join_all().await.len(), 12);
}
