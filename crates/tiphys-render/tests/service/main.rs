//! One render service, many requests: branches move, credentials change, clones are deleted, requests are cancelled.

mod request;
mod world;

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tiphys_render::RenderError;
use tokio::time::Instant;

use request::request;
use world::{World, push, with_password};

const HOUR: Duration = Duration::from_hours(1);

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("the pipe can be made");
}

#[tokio::test]
async fn request_sees_a_branch_as_fresh_as_it_asks_for() {
    let world = World::new();
    let repository = world.repository("first");
    let render = async |age| world.render(&repository, request(age)).await.expect("it renders");
    assert_eq!(render(Duration::ZERO).await, "first");
    push(&repository, "second");
    assert_eq!(render(HOUR).await, "first", "a look-up of this hour is accepted");
    assert_eq!(render(Duration::ZERO).await, "second");
    assert_eq!(render(HOUR).await, "second");
    assert_eq!(world.calls("ls-remote"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_share_look_up_and_fetch() {
    let world = World::new();
    let repository = world.repository("value");
    let values = join_all((0..8).map(|_| world.render(&repository, request(HOUR)))).await;
    for value in values {
        assert_eq!(value.expect("it renders"), "value");
    }
    assert_eq!((world.calls("ls-remote"), world.calls("fetch")), (1, 1));
}

#[tokio::test]
async fn credentials_of_one_request_do_not_serve_another() {
    let world = World::new();
    let repository = world.repository("value");
    for (password, fetches) in [("one", 1), ("one", 1), ("two", 2), ("one", 2)] {
        let request = with_password(request(HOUR), &repository.url(), password);
        assert_eq!(world.render(&repository, request).await.expect("it renders"), "value");
        assert_eq!(
            world.calls("fetch"),
            fetches,
            "{password}: a clone belongs to the credentials that fetched it"
        );
    }
    assert_eq!(world.render(&repository, request(HOUR)).await.expect("it renders"), "value");
    assert_eq!(world.calls("fetch"), 3, "without credentials");
}

#[tokio::test]
async fn deleted_clone_is_fetched_again() {
    let world = World::new();
    let repository = world.repository("first");
    assert_eq!(world.render(&repository, request(HOUR)).await.expect("it renders"), "first");
    fs::remove_dir_all(world.path("cache/git")).expect("the clones can be removed");
    assert_eq!(world.render(&repository, request(HOUR)).await.expect("it renders"), "first");
    fs::remove_dir_all(world.path("cache")).expect("the cache can be removed");
    push(&repository, "second");
    assert_eq!(world.render(&repository, request(Duration::ZERO)).await.expect("it renders"), "second");
}

#[tokio::test]
async fn cancelled_request_leaves_the_service_usable() {
    let world = World::new();
    let repository = world.repository("value");
    let gate = world.path("gate");
    make_pipe(&gate);
    let cancelled = request(Duration::ZERO);
    let (cancel, opened) = (cancelled.cancel.clone(), gate.clone());
    let rendering = world.render(&repository, cancelled);
    // The pipe can be opened once git waits for it.
    let waiting = tokio::task::spawn_blocking(move || OpenOptions::new().write(true).open(opened));
    let mut rendering = std::pin::pin!(rendering);
    let pipe = tokio::select! {
        _ = &mut rendering => panic!("git waits"),
        pipe = waiting => pipe.expect("a thread").expect("the pipe"),
    };
    cancel.cancel();
    let error = rendering.await.expect_err("it is cancelled");
    assert!(matches!(error, RenderError::Source(_)), "{error}");
    drop(pipe);
    fs::remove_file(&gate).expect("the gate goes");
    assert_eq!(world.render(&repository, request(Duration::ZERO)).await.expect("it renders"), "value");
}

#[tokio::test]
async fn request_fails_at_its_deadline() {
    let world = World::new();
    let repository = world.repository("value");
    let mut late = request(Duration::ZERO);
    late.deadline = Some(Instant::now());
    make_pipe(&world.path("gate"));
    let error = world.render(&repository, late).await.expect_err("the deadline passes");
    assert!(matches!(error, RenderError::DeadlineExceeded), "{error}");
}
