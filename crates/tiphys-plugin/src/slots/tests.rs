use std::sync::Mutex;

use super::*;
use crate::error::Phase;
use crate::observer::{CommandEnd, Unobserved};

const LATER: Deadline = Deadline::After(Duration::from_secs(1));

fn slots(runs_max: usize, waiting_max: usize, wait_max: Duration) -> Arc<Slots> {
    Slots::new(SlotLimits { runs_max, waiting_max, wait_max })
}

async fn take(slots: &Slots) -> Result<Slot, String> {
    slots.take(LATER, &CancellationToken::new(), &Unobserved).await.map_err(|error| error.to_string())
}

/// Waits until all other tasks wait: paused time advances only then.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn slots_are_assigned_in_request_order() {
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
        // A new request does not take a released slot before waiting ones.
        wait(4).await;
    };
    tokio::join!(wait(1), wait(2), wait(3), newcomer);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3, 4]);
    assert_eq!((slots.running(), slots.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn full_queue_refuses_with_limit_and_option() {
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
        "busy: all slots for plugin runs (1, limit jobs) are taken and 1 wait already (limit plugin-queue-max): try again later"
    );
}

#[tokio::test(start_paused = true)]
async fn queue_of_size_zero_refuses_at_once() {
    let slots = slots(2, 0, Duration::from_secs(5));
    let _both = (take(&slots).await.unwrap(), take(&slots).await.unwrap());
    assert!(take(&slots).await.is_err());
    assert_eq!(slots.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn run_that_waits_too_long_is_refused() {
    let slots = slots(1, 10, Duration::from_millis(1500));
    let _first = take(&slots).await.unwrap();
    let began = Instant::now();
    assert_eq!(
        take(&slots).await.unwrap_err(),
        "busy: all slots for plugin runs (1, limit jobs) are taken and none became free within 1.5s (limit plugin-queue-wait): try again later"
    );
    assert_eq!((began.elapsed(), slots.waiting()), (Duration::from_millis(1500), 0));
}

#[tokio::test(start_paused = true)]
async fn only_a_fixed_deadline_ends_the_wait() {
    let slots = slots(1, 10, Duration::from_mins(1));
    let first = take(&slots).await.unwrap();
    let cancel = CancellationToken::new();
    let at = Deadline::At(Instant::now() + Duration::from_secs(2));
    let late = slots.take(at, &cancel, &Unobserved).await.unwrap_err();
    assert!(matches!(late, PluginError::DeadlineInQueue { .. }), "{late:?}");
    assert_eq!(
        late.to_string(),
        "the deadline passed after 2s in the queue: only 1 plugin runs may run at once (limit jobs)"
    );
    // The second of this deadline begins when the commands start.
    let (second, ()) = tokio::join!(take(&slots), async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(first);
    });
    assert!(second.is_ok());
}

#[tokio::test(start_paused = true)]
async fn cancelled_run_leaves_the_queue() {
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
async fn observer_gets_waits_and_refusals() {
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
