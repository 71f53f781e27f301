use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{Checksum, Gate};

/// Longer than any intended wait. Time is paused, so it costs nothing.
const LONG: Duration = Duration::from_hours(1);

fn checksum(number: u16) -> Checksum {
    let mut bytes = [0; 32];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    Checksum(bytes)
}

#[test]
fn checksum_is_64_lower_case_digits() {
    let good = "00ff".repeat(16);
    let mut bytes = [0; 32];
    bytes.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0xff);
    assert_eq!(Checksum::parse(&good), Some(Checksum(bytes)));
    let longer = format!("{good}00");
    let upper = good.to_uppercase();
    for bad in ["", "0", &good[1..], &good[2..], &longer, &upper, &"0g".repeat(32), &"é".repeat(32)] {
        assert_eq!(Checksum::parse(bad), None, "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_one_follower_unpacks() {
    let gate = Arc::new(Gate::default());
    let first = gate.enter(checksum(1)).await;
    let (mut second, mut third) = (Box::pin(gate.enter(checksum(1))), Box::pin(gate.enter(checksum(1))));
    let moment = Duration::from_millis(1);
    assert!(timeout(moment, &mut second).await.is_err() && timeout(moment, &mut third).await.is_err());
    drop(first);
    let second = timeout(moment, second).await.expect("it is the second's turn");
    assert!(second.lock.is_some());
    assert!(timeout(moment, &mut third).await.is_err(), "the third waits for the second");
    drop(second);
    drop(third.await);
    assert!(gate.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn followers_wait_only_for_an_upload_with_progress() {
    let gate = Arc::new(Gate::default());
    let first = gate.enter(checksum(1)).await;
    let beside = timeout(LONG, gate.enter(checksum(1))).await.expect("it does not wait for ever");
    assert!(beside.lock.is_none());
    let busy = async {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            first.progress().step();
        }
        drop(first);
    };
    let follow = gate.enter(checksum(1));
    let ((), follower) = tokio::join!(busy, follow);
    assert!(follower.lock.is_some(), "it waited until the first was done");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_slot_suspends_the_progress_check() {
    let gate = Arc::new(Gate::default());
    let first = gate.enter(checksum(1)).await;
    let excused = first.progress().excused();
    let mut follow = Box::pin(gate.enter(checksum(1)));
    assert!(timeout(LONG, &mut follow).await.is_err(), "it waits as long as the first does");
    drop(excused);
    let follower = timeout(LONG, follow).await.expect("the first has its place and does nothing");
    assert!(follower.lock.is_none());
}

#[tokio::test(start_paused = true)]
async fn other_checksums_do_not_wait() {
    let gate = Arc::new(Gate::default());
    let _first = gate.enter(checksum(1)).await;
    let other = timeout(Duration::from_millis(1), gate.enter(checksum(2))).await;
    assert!(other.expect("at once").lock.is_some());
}
