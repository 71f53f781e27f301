//! Launchers that are started before they are needed.

use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tiphys_process::Launcher;

use super::support::{LIMITS, Place, Who, eventually, output};

/// A place with a launcher that tells when it is started.
struct Noted {
    place: Place,
    launcher: Launcher,
}

impl Noted {
    fn new(spares_max: usize) -> Self {
        let place = Place::new(Who::Caller);
        let launcher = Launcher::warm(place.noted_launcher(), spares_max);
        Self { place, launcher }
    }

    fn started(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.place.path("started")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    async fn have_started(&self, count: usize) -> Vec<i32> {
        eventually("launchers start", || self.started().len() >= count).await;
        self.started()
    }

    fn run_dir(&self) -> PathBuf {
        self.place.path("run")
    }

    /// The launcher of one run, as its commands see it.
    async fn launcher_of_a_run(&self) -> i32 {
        let mut run = self.launcher.start(self.place.overlay(), LIMITS).await.expect("starts");
        let launcher = output(&mut run, "echo $PPID").await.trim().parse().expect("a number");
        run.finish().await.expect("finishes");
        assert!(!self.run_dir().exists());
        launcher
    }
}

fn lives(process: i32) -> bool {
    Pid::from_raw(process).is_some_and(|process| test_kill_process(process).is_ok())
}

#[tokio::test]
async fn a_run_takes_the_launcher_that_waits_and_another_one_waits_when_it_has_ended() {
    let noted = Noted::new(1);
    noted.launcher.prepare();
    assert_eq!(noted.have_started(1).await.len(), 1);
    let first = noted.launcher_of_a_run().await;
    let second = noted.launcher_of_a_run().await;
    assert_eq!(noted.have_started(3).await.get(..2), Some([first, second].as_slice()));
}

#[tokio::test]
async fn no_more_wait_than_may() {
    for (spares_max, expected) in [(0, 0), (1, 1), (2, 2)] {
        let noted = Noted::new(spares_max);
        for _ in 0..4 {
            noted.launcher.prepare();
        }
        assert_eq!(noted.have_started(expected).await.len(), expected);
        // One more than wait, started for the run itself, tells that no other was on its way.
        let own = Launcher::new(noted.place.noted_launcher());
        let run = own.start(noted.place.direct(), LIMITS).await.expect("starts");
        run.finish().await.expect("finishes");
        assert_eq!(noted.started().len(), expected + 1);
    }
}

#[tokio::test]
async fn a_launcher_that_died_while_it_waited_is_not_used() {
    let noted = Noted::new(1);
    noted.launcher.prepare();
    let spare = noted.have_started(1).await[0];
    kill_process(Pid::from_raw(spare).expect("a process"), Signal::KILL).expect("signals");
    let zombie = || fs::read_to_string(format!("/proc/{spare}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    eventually("it dies", zombie).await;
    assert_ne!(noted.launcher_of_a_run().await, spare);
}

#[test]
fn no_more_wait_than_may_when_many_runs_end_at_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let noted = Noted::new(2);
        let together = Barrier::new(16);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _runtime = runtime.enter();
                    together.wait();
                    noted.launcher.prepare();
                });
            }
        });
        noted.have_started(2).await;
        // One more than wait, started for the run itself, tells that no other was on its way.
        let own = Launcher::new(noted.place.noted_launcher());
        let run = own.start(noted.place.direct(), LIMITS).await.expect("starts");
        run.finish().await.expect("finishes");
        assert_eq!(noted.started().len(), 3);
    });
}

#[tokio::test]
async fn a_launcher_that_waited_and_dies_as_it_is_taken_is_replaced_and_a_new_one_is_not() {
    let place = Place::new(Who::Caller);
    let launcher = Launcher::warm(place.dying_launcher(), 1);
    let noted = Noted { place, launcher };
    noted.launcher.prepare();
    let spare = noted.have_started(1).await[0];
    assert_ne!(noted.launcher_of_a_run().await, spare);
    let place = Place::new(Who::Caller);
    let error = Launcher::new(place.dying_launcher()).start(place.overlay(), LIMITS).await.expect_err("dies");
    assert_eq!(error.to_string(), "launcher: died while it was set up");
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn a_launcher_that_waits_ends_when_nobody_can_use_it_any_more() {
    let noted = Noted::new(1);
    noted.launcher.prepare();
    let spare = noted.have_started(1).await[0];
    assert!(lives(spare));
    let Noted { place: _place, launcher } = noted;
    drop(launcher);
    eventually("it ends", || {
        !lives(spare)
            || fs::read_to_string(format!("/proc/{spare}/stat")).is_ok_and(|stat| stat.contains(") Z "))
    })
    .await;
}
