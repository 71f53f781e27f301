use rustix::process::{Pid, getpid};

use super::{is_lost, scan, start_time};
use crate::descendants::{Stat, stat};
use crate::orphans::StartTime;

fn process(started: u64, session: Option<i32>) -> Stat {
    Stat { parent: Some(getpid()), session: session.and_then(Pid::from_raw), started }
}

#[test]
fn lost_process_is_younger_and_in_another_session() {
    let own = process(10, Some(i32::MAX));
    // The session leader has exited.
    let elsewhere = Some(i32::MAX - 1);
    for (orphan, expected) in [
        (process(100, elsewhere), true),
        (process(101, elsewhere), true),
        (process(99, elsewhere), false),
        (process(100, Some(i32::MAX)), false),
        (process(100, None), true),
    ] {
        assert_eq!(is_lost(&orphan, StartTime(100), &own), expected, "{orphan:?}");
    }
    // The leader of the own session is outside this container.
    let outside = process(10, None);
    assert!(!is_lost(&process(100, None), StartTime(100), &outside));
    assert!(is_lost(&process(100, elsewhere), StartTime(100), &outside));
}

#[test]
fn session_from_outside_the_container_is_not_lost() {
    let own = process(10, Some(i32::MAX));
    // The parent of process 1 is outside, as that of a shell that an administrator starts in a container.
    assert_eq!(stat(Pid::INIT).expect("exists").parent, None);
    assert!(!is_lost(&process(100, Some(1)), StartTime(100), &own));
}

#[test]
fn children_of_the_own_session_are_not_lost() {
    #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
    let mut sleep = std::process::Command::new("sleep").arg("1000").spawn().expect("starts");
    let lost = scan(StartTime(0));
    assert!(lost.running.is_empty() && !lost.any_ended);
    assert!(start_time(Pid::from_child(&sleep)) >= start_time(getpid()));
    sleep.kill().expect("kills");
    let lost = scan(StartTime(0));
    assert!(!lost.any_ended, "it is not reaped");
    sleep.wait().expect("waits");
    assert_eq!(start_time(Pid::from_raw(i32::MAX).expect("a number")), None);
}
