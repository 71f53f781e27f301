use std::cell::Cell;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::{ACCEPTED_MAX, Jobs, NotDone, RUNNING_MAX};

#[tokio::test]
async fn work_beyond_the_limits_waits_or_is_refused() {
    thread_local!(static RUNNING: Cell<usize> = const { Cell::new(0) });
    let (jobs, runner) = Jobs::new(CancellationToken::new());
    let work = async |_| {
        RUNNING.set(RUNNING.get() + 1);
        let running = RUNNING.get();
        tokio::task::yield_now().await;
        RUNNING.set(RUNNING.get() - 1);
        running
    };
    let mut accepted: Vec<_> = (0..ACCEPTED_MAX).map(|_| Box::pin(jobs.run("a/b", work))).collect();
    for one in &mut accepted {
        assert_eq!(one.now_or_never(), None);
    }
    assert_eq!(jobs.run("a/b", work).await, Err(NotDone::Busy));
    assert_eq!(jobs.stages().follow().borrow().len(), ACCEPTED_MAX);
    let all = join_all(accepted);
    let running = runner.run();
    tokio::pin!(running);
    let results = tokio::select! {
        results = all => results,
        () = &mut running => panic!("the queue is open"),
    };
    assert!(jobs.stages().follow().borrow().is_empty());
    let most = results.into_iter().map(|result| result.expect("it is done")).max();
    assert_eq!(most, Some(RUNNING_MAX));
}
