use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::oneshot;

use super::Once;

#[tokio::test]
async fn concurrent_callers_share_one_computation() {
    for result in [Ok("yes"), Err("no")] {
        let (once, calls) = (Once::<_, _, &str>::default(), AtomicUsize::new(0));
        let call = || async {
            let compute = || async {
                calls.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                result
            };
            once.get("key", compute).await.map_err(|error| *error)
        };
        assert_eq!(tokio::join!(call(), call(), call()), (result, result, result));
        assert_eq!(calls.into_inner(), 1);
    }
}

#[tokio::test]
async fn callers_of_different_keys_do_not_wait_for_each_other() {
    let once = Once::<_, _, ()>::default();
    let (release, released) = oneshot::channel::<()>();
    let slow = once.get("slow", || async {
        released.await.expect("it is released");
        Ok("late")
    });
    let quick = async {
        assert_eq!(once.get("quick", || async { Ok("soon") }).await, Ok("soon"));
        release.send(()).expect("the slow one waits");
    };
    let (slow, ()) = tokio::join!(slow, quick);
    assert_eq!(slow, Ok("late"));
    assert_eq!(once.get("slow", || async { Err(()) }).await, Ok("late"));
}

#[tokio::test]
async fn another_caller_computes_if_one_is_cancelled() {
    let once = Once::<_, &str, ()>::default();
    let mut cancelled = Box::pin(once.get("key", std::future::pending));
    assert!(poll_once(&mut cancelled).await.is_none());
    drop(cancelled);
    assert_eq!(once.get("key", || async { Ok("done") }).await, Ok("done"));
}

/// Polls a future once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = std::future::ready(()) => None,
    }
}
