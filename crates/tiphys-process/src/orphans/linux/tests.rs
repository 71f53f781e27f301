use rustix::process::{Pid, getpid};

use super::{is_lost, look, started};
use crate::launcher::{Stat, stat};
use crate::orphans::Started;

fn process(started: u64, session: Option<i32>) -> Stat {
    Stat { parent: Some(getpid()), session: session.and_then(Pid::from_raw), started }
}

#[test]
fn a_lost_process_is_no_older_than_its_launcher_and_of_another_session() {
    let own = process(10, Some(i32::MAX));
    // No process has the number, as where a session's first one is gone.
    let elsewhere = Some(i32::MAX - 1);
    for (orphan, expected) in [
        (process(100, elsewhere), true),
        (process(101, elsewhere), true),
        (process(99, elsewhere), false),
        (process(100, Some(i32::MAX)), false),
        (process(100, None), true),
    ] {
        assert_eq!(is_lost(&orphan, Started(100), &own), expected, "{orphan:?}");
    }
    // As where the first process of our session is outside of this container.
    let outside = process(10, None);
    assert!(!is_lost(&process(100, None), Started(100), &outside));
    assert!(is_lost(&process(100, elsewhere), Started(100), &outside));
}

#[test]
fn a_session_that_began_outside_of_this_container_is_not_of_a_run() {
    let own = process(10, Some(i32::MAX));
    // Process 1 has its parent outside, as a shell has that a person starts in a container.
    assert_eq!(stat(Pid::INIT).expect("there is one").parent, None);
    assert!(!is_lost(&process(100, Some(1)), Started(100), &own));
}

#[test]
fn children_of_our_own_session_are_never_taken_for_lost() {
    #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().expect("starts");
    let lost = look(Started(0));
    assert!(lost.living.is_empty() && !lost.any_ended);
    assert!(started(Pid::from_child(&stranger)) >= started(getpid()));
    stranger.kill().expect("kills");
    let lost = look(Started(0));
    assert!(!lost.any_ended, "it is left to who waits for it");
    stranger.wait().expect("waits");
    assert_eq!(started(Pid::from_raw(i32::MAX).expect("a number")), None);
}
