use super::*;

fn set(name: &str) -> ObjectName {
    ObjectName { namespace: "argocd".to_owned(), name: name.to_owned() }
}

#[test]
fn sets_are_reconciled_once_in_the_order_in_which_they_are_due() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut queue = Queue::default();
    assert_eq!(queue.next(at(0)), Next::Idle);
    queue.add(&set("b"), Need::Compare, at(0));
    queue.add(&set("a"), Need::Compare, at(1));
    queue.add(&set("b"), Need::Compare, at(2));
    assert_eq!(queue.next(at(3)), Next::Reconcile(set("b")));
    assert_eq!(queue.next(at(3)), Next::Reconcile(set("a")));
    assert_eq!((queue.next(at(3)), queue.len(at(3))), (Next::Idle, 2));
    // A change during the reconcile makes it due again, at once and not only after the timer.
    queue.add(&set("a"), Need::Compare, at(4));
    assert_eq!(queue.next(at(4)), Next::Idle);
    queue.done(&set("a"), Ended::Succeeded(Some(Duration::from_mins(1))), at(5));
    assert_eq!(queue.next(at(5)), Next::Reconcile(set("a")));
    queue.done(&set("a"), Ended::Succeeded(Some(Duration::from_mins(1))), at(6));
    assert_eq!((queue.next(at(7)), queue.len(at(7))), (Next::Wait(at(60_006)), 1));
    // A change before the timer replaces it.
    queue.add(&set("a"), Need::Compare, at(8));
    assert_eq!(queue.next(at(8)), Next::Reconcile(set("a")));
    queue.done(&set("a"), Ended::Gone, at(9));
    assert_eq!(queue.next(at(70_000)), Next::Idle);
}

#[test]
fn failures_are_repeated_after_doubling_pauses() {
    let start = Instant::now();
    let mut queue = Queue::default();
    queue.add(&set("a"), Need::Compare, start);
    let (mut now, mut pauses) = (start, Vec::new());
    for _ in 0..13 {
        assert_eq!(queue.next(now), Next::Reconcile(set("a")));
        // Its own write to an Application must not shorten the pause.
        queue.add(&set("a"), Need::Compare, now);
        queue.done(&set("a"), Ended::Failed, now);
        let Next::Wait(at) = queue.next(now) else { panic!("it waits") };
        pauses.push((at - now).as_millis());
        now = at;
    }
    assert_eq!(
        pauses,
        [200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 102_400, 180_000, 180_000, 180_000]
    );
    assert_eq!(queue.next(now), Next::Reconcile(set("a")));
    queue.done(&set("a"), Ended::Succeeded(None), now);
    queue.add(&set("a"), Need::Compare, now);
    assert_eq!(queue.next(now), Next::Reconcile(set("a")));
    queue.done(&set("a"), Ended::Failed, now);
    assert_eq!(queue.next(now), Next::Wait(now + FIRST_PAUSE));
}

#[test]
fn change_of_inputs_during_a_failing_reconcile_does_not_wait() {
    let now = Instant::now();
    let mut queue = Queue::default();
    queue.add(&set("a"), Need::Generate, now);
    assert_eq!(queue.next(now), Next::Reconcile(set("a")));
    queue.add(&set("a"), Need::Generate, now);
    queue.add(&set("a"), Need::Compare, now);
    queue.done(&set("a"), Ended::Failed, now);
    assert_eq!(queue.next(now), Next::Reconcile(set("a")));
}
