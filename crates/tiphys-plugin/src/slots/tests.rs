use std::sync::Mutex;

use super::*;
use crate::observer::{CommandEnd, Unobserved};
use crate::plugin::Phase;

const LATER: Deadline = Deadline::After(Duration::from_secs(1));

fn slots(runs_max: usize, waiting_max: usize, wait_max: Duration) -> Arc<Slots> {
    Slots::new(SlotLimits { runs_max, waiting_max, wait_max })
}

async fn take(slots: &Slots) -> Result<Slot, String> {
    slots.take(LATER, &CancellationToken::new(), &Unobserved).await.map_err(|error| error.to_string())
}

/// Lets everything that can go on do so.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn places_are_given_in_the_order_in_which_they_were_asked_for() {
    let slots = slots(1, 10, Duration::MAX);
    let first = take(&slots).await.unwrap();
    let order = Mutex::new(Vec::new());
    let wait = async |number: usize| {
        let slot = take(&slots).await.unwrap();
        order.lock().unwrap().push(number);
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(slot);
    };
    let newcomer = async {
        settle().await;
        assert_eq!((slots.running(), slots.waiting()), (1, 3));
        drop(first);
        // One that comes as a place is given back does not get it before those that wait.
        wait(4).await;
    };
    tokio::join!(wait(1), wait(2), wait(3), newcomer);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3, 4]);
    assert_eq!((slots.running(), slots.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn one_more_than_may_wait_is_refused_at_once_with_the_bound_and_its_option() {
    let slots = slots(1, 1, Duration::from_secs(5));
    let first = take(&slots).await.unwrap();
    let (second, third) = tokio::join!(take(&slots), async {
        settle().await;
        let third = take(&slots).await;
        drop(first);
        third
    });
    assert!(second.is_ok(), "it waited its turn");
    assert_eq!(
        third.unwrap_err(),
        "busy: all places for plugin runs (1, limit jobs) are taken and 1 wait already (limit plugin-queue-max): try again later"
    );
}

#[tokio::test(start_paused = true)]
async fn no_place_to_wait_in_is_a_refusal_as_soon_as_all_are_taken() {
    let slots = slots(2, 0, Duration::from_secs(5));
    let _both = (take(&slots).await.unwrap(), take(&slots).await.unwrap());
    assert!(take(&slots).await.is_err());
    assert_eq!(slots.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn who_has_waited_too_long_is_refused_and_waits_no_more() {
    let slots = slots(1, 10, Duration::from_millis(1500));
    let _first = take(&slots).await.unwrap();
    let began = Instant::now();
    assert_eq!(
        take(&slots).await.unwrap_err(),
        "busy: all places for plugin runs (1, limit jobs) are taken and none became free within 1.5s (limit plugin-queue-wait): try again later"
    );
    assert_eq!((began.elapsed(), slots.waiting()), (Duration::from_millis(1500), 0));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_runs_already_ends_the_waiting_and_another_does_not() {
    let slots = slots(1, 10, Duration::from_mins(1));
    let first = take(&slots).await.unwrap();
    let cancel = CancellationToken::new();
    let at = Deadline::At(Instant::now() + Duration::from_secs(2));
    let late = slots.take(at, &cancel, &Unobserved).await.unwrap_err();
    assert!(matches!(late, PluginError::DeadlineInQueue { .. }), "{late:?}");
    assert_eq!(
        late.to_string(),
        "the deadline passed after 2s in the queue: only 1 plugin runs may be under way at once (limit jobs)"
    );
    // This one's second begins when its commands start.
    let (second, ()) = tokio::join!(take(&slots), async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(first);
    });
    assert!(second.is_ok());
}

#[tokio::test(start_paused = true)]
async fn who_is_cancelled_waits_no_more_and_leaves_its_place_to_others() {
    let slots = slots(1, 10, Duration::MAX);
    let first = take(&slots).await.unwrap();
    let cancel = CancellationToken::new();
    let (cancelled, next, ()) = tokio::join!(slots.take(LATER, &cancel, &Unobserved), take(&slots), async {
        settle().await;
        cancel.cancel();
        settle().await;
        assert_eq!(slots.waiting(), 1);
        drop(first);
    });
    assert!(matches!(cancelled, Err(PluginError::Cancelled)));
    assert!(next.is_ok());
}

#[derive(Debug, Default)]
struct Counting(Mutex<Vec<String>>);

impl Observer for Counting {
    fn command_ended(&self, _phase: Phase, _took: Duration, _ended: CommandEnd) {}
    fn output_parsed(&self, _took: Duration) {}
    fn waited(&self, took: Duration) {
        self.0.lock().unwrap().push(format!("waited {took:?}"));
    }
    fn refused(&self) {
        self.0.lock().unwrap().push("refused".to_owned());
    }
}

#[tokio::test(start_paused = true)]
async fn the_observer_is_told_of_waiting_and_of_refusals() {
    let slots = slots(1, 1, Duration::from_secs(3));
    let counting = Counting::default();
    let cancel = CancellationToken::new();
    let first = slots.take(LATER, &cancel, &counting).await.unwrap();
    assert!(slots.take(LATER, &cancel, &counting).await.is_err());
    let (second, ()) = tokio::join!(slots.take(LATER, &cancel, &counting), async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(first);
    });
    assert!(second.is_ok());
    assert_eq!(*counting.0.lock().unwrap(), ["waited 0ns", "refused", "waited 2s"]);
}
