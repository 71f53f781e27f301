use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::observation::{Observation, may_take};
use super::{micro_time, seconds, with_spec};

/// A Lease with a version, a holder and a duration.
fn lease(version: &str, holder: &str, duration: Option<u64>) -> Value {
    let spec = json!({"holderIdentity": holder, "leaseDurationSeconds": duration});
    json!({"metadata": {"resourceVersion": version}, "spec": spec})
}

#[test]
fn lease_is_free_after_its_duration_without_a_change() {
    let nine = |version, holder| lease(version, holder, Some(9));
    // The duration of the candidate is 5 seconds.
    let five = || lease("1", "a", None);
    // Each read has a time in seconds, a Lease, and whether it may be taken.
    let cases = [
        ("released", vec![(0, nine("1", ""), true)]),
        ("no holder", vec![(0, json!({"metadata": {"resourceVersion": "1"}}), true)]),
        (
            "unchanged",
            vec![(0, nine("1", "a"), false), (8, nine("1", "a"), false), (9, nine("1", "a"), true)],
        ),
        (
            "renewed",
            vec![(0, nine("1", "a"), false), (8, nine("2", "a"), false), (16, nine("2", "a"), false)],
        ),
        (
            "renewed once",
            vec![(0, nine("1", "a"), false), (8, nine("2", "a"), false), (17, nine("2", "a"), true)],
        ),
        ("taken by another", vec![(0, nine("1", "a"), false), (9, nine("2", "b"), false)]),
        ("released later", vec![(0, nine("1", "a"), false), (1, nine("2", ""), true)]),
        // A missing Lease.
        (
            "deleted",
            vec![
                (0, nine("1", "a"), false),
                (1, Value::Null, false),
                (9, Value::Null, false),
                (10, Value::Null, true),
            ],
        ),
        (
            "created again",
            vec![(0, nine("1", "a"), false), (1, Value::Null, false), (2, nine("2", "b"), false)],
        ),
        ("deleted after its release", vec![(0, nine("1", ""), true), (1, Value::Null, true)]),
        ("without duration", vec![(0, five(), false), (4, five(), false), (5, five(), true)]),
    ];
    let begin = Instant::now();
    for (name, reads) in cases {
        let mut observed: Option<Observation> = None;
        for (time, lease, expected) in reads {
            let now = begin + Duration::from_secs(time);
            let found = match &observed {
                Some(observed) if lease.is_null() => Observation::missing(observed, now),
                observed => Observation::new(&lease, observed.as_ref(), Duration::from_secs(5), now),
            };
            assert_eq!(may_take(&found, now), expected, "{name} at {time}");
            observed = Some(found);
        }
    }
}

#[test]
fn new_holder_is_reported_once() {
    let mut observed: Option<Observation> = None;
    for (holder, expected) in [("a", true), ("a", false), ("", false), ("b", true), ("a", true)] {
        let found =
            Observation::new(&lease("1", holder, None), observed.as_ref(), Duration::ZERO, Instant::now());
        assert_eq!(found.is_new_holder, expected, "{holder}");
        observed = Some(found);
    }
}

#[test]
fn times_have_six_fractional_digits() {
    let cases = [
        (0, "2026-09-21T14:13:20.000000Z"),
        (1, "2026-09-21T14:13:20.000000Z"),
        (1_000, "2026-09-21T14:13:20.000001Z"),
        (120_000_000, "2026-09-21T14:13:20.120000Z"),
    ];
    for (nanoseconds, expected) in cases {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_790_000_000, nanoseconds);
        assert_eq!(micro_time(time), expected);
    }
}

#[test]
fn durations_are_rounded_up_to_seconds() {
    for (milliseconds, expected) in [(0, 1), (200, 1), (1000, 1), (1001, 2), (15_000, 15)] {
        assert_eq!(seconds(Duration::from_millis(milliseconds)), expected);
    }
}

#[test]
fn other_fields_of_a_lease_are_retained() {
    let changes = json!({"holderIdentity": "b"});
    for (spec, expected) in [
        (json!({"strategy": "x", "holderIdentity": "a"}), json!({"strategy": "x", "holderIdentity": "b"})),
        (Value::Null, json!({"holderIdentity": "b"})),
        (json!("malformed"), json!({"holderIdentity": "b"})),
    ] {
        let lease = json!({"metadata": {"labels": {"l": "v"}}, "spec": spec});
        let expected = json!({"metadata": {"labels": {"l": "v"}}, "spec": expected});
        assert_eq!(with_spec(lease, changes.clone()), expected);
    }
}
