//! Spare launchers, which are started in advance.

use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tiphys_process::Launcher;

use super::support::{LIMITS, TestDir, User, eventually, output};

/// A test directory with a launcher that logs its starts.
struct Logged {
    dir: TestDir,
    launcher: Launcher,
}

impl Logged {
    fn new(spares_max: usize) -> Self {
        let dir = TestDir::new(User::Caller);
        let launcher = Launcher::warm(dir.logged_launcher(), spares_max);
        Self { dir, launcher }
    }

    fn started(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.dir.path("started")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    async fn have_started(&self, count: usize) -> Vec<i32> {
        eventually("launchers start", || self.started().len() >= count).await;
        self.started()
    }

    fn run_dir(&self) -> PathBuf {
        self.dir.path("run")
    }

    /// Returns the PID of the launcher of one run, as its commands see it.
    async fn launcher_of_a_run(&self) -> i32 {
        let mut run = self.launcher.start(self.dir.overlay(), LIMITS).await.expect("starts");
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
async fn run_takes_a_spare_launcher_and_starts_the_next() {
    let logged = Logged::new(1);
    logged.launcher.prepare();
    assert_eq!(logged.have_started(1).await.len(), 1);
    let first = logged.launcher_of_a_run().await;
    let second = logged.launcher_of_a_run().await;
    assert_eq!(logged.have_started(3).await.get(..2), Some([first, second].as_slice()));
}

#[tokio::test]
async fn spare_launchers_are_limited() {
    for (spares_max, expected) in [(0, 0), (1, 1), (2, 2)] {
        let logged = Logged::new(spares_max);
        for _ in 0..4 {
            logged.launcher.prepare();
        }
        assert_eq!(logged.have_started(expected).await.len(), expected);
        // The launcher of this run would be logged after an additional spare.
        let own = Launcher::new(logged.dir.logged_launcher());
        let run = own.start(logged.dir.direct(), LIMITS).await.expect("starts");
        run.finish().await.expect("finishes");
        assert_eq!(logged.started().len(), expected + 1);
    }
}

#[tokio::test]
async fn dead_spare_launcher_is_not_used() {
    let logged = Logged::new(1);
    logged.launcher.prepare();
    let spare = logged.have_started(1).await[0];
    kill_process(Pid::from_raw(spare).expect("a process"), Signal::KILL).expect("signals");
    let zombie = || fs::read_to_string(format!("/proc/{spare}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    eventually("it dies", zombie).await;
    assert_ne!(logged.launcher_of_a_run().await, spare);
}

#[test]
fn spare_launchers_are_limited_for_concurrent_runs() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let logged = Logged::new(2);
        let together = Barrier::new(16);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _runtime = runtime.enter();
                    together.wait();
                    logged.launcher.prepare();
                });
            }
        });
        logged.have_started(2).await;
        // The launcher of this run would be logged after an additional spare.
        let own = Launcher::new(logged.dir.logged_launcher());
        let run = own.start(logged.dir.direct(), LIMITS).await.expect("starts");
        run.finish().await.expect("finishes");
        assert_eq!(logged.started().len(), 3);
    });
}

#[tokio::test]
async fn spare_that_dies_when_taken_is_replaced_once() {
    let dir = TestDir::new(User::Caller);
    let launcher = Launcher::warm(dir.dying_launcher(), 1);
    let logged = Logged { dir, launcher };
    logged.launcher.prepare();
    let spare = logged.have_started(1).await[0];
    assert_ne!(logged.launcher_of_a_run().await, spare);
    let dir = TestDir::new(User::Caller);
    let error = Launcher::new(dir.dying_launcher()).start(dir.overlay(), LIMITS).await.expect_err("dies");
    assert_eq!(error.to_string(), "launcher: died while it was set up");
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn spare_launcher_ends_when_its_owner_is_dropped() {
    let logged = Logged::new(1);
    logged.launcher.prepare();
    let spare = logged.have_started(1).await[0];
    assert!(lives(spare));
    let Logged { dir: _dir, launcher } = logged;
    drop(launcher);
    eventually("it ends", || {
        !lives(spare)
            || fs::read_to_string(format!("/proc/{spare}/stat")).is_ok_and(|stat| stat.contains(") Z "))
    })
    .await;
}
