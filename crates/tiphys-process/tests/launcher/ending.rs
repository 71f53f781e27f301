//! The end of a run: all processes end and the view is removed.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tiphys_process::{Containment, Ended};
use tokio_util::sync::CancellationToken;

use super::support::{ALL_USERS, LIMITS, TestDir, User, alive, eventually, execute, mark, marked, shell};

/// A deadline within which a script reaches its last line even on a loaded machine.
const ENOUGH: Duration = Duration::from_secs(2);

/// Scripts whose processes do not end by themselves. Each calls `ready` when they are started.
const STUBBORN: [(&str, &str); 8] = [
    ("hangs", "ready; sleep 1000"),
    ("ignores SIGTERM", "trap '' TERM; (trap '' TERM; sleep 1000) & ready; while :; do sleep 1000; done"),
    ("is stopped", "sh -c 'kill -STOP $$' & ready; sleep 1000"),
    ("leaves the session", "setsid sh -c 'trap \"\" TERM; sleep 1000' & ready; sleep 1000"),
    (
        "is a daemon that keeps the pipes",
        "setsid sh -c 'setsid sh -c \"trap \\\"\\\" TERM; sleep 1000; sleep 1000\" & exit 0' & wait; ready; sleep 1000",
    ),
    ("stops its launcher", "kill -STOP $PPID; ready; trap '' TERM; sleep 1000"),
    (
        "forks for ever",
        "f() { while :; do (sleep 1000 &); (exec sh -c 'sleep 1000; true' &); done; }; f & f & sleep 0.05; ready; wait",
    ),
    (
        // Each process ends as soon as it has started the next one.
        "runs away",
        "export N='setsid sh -c \"trap true TERM; eval \\\"\\$N\\\"\" & exit 0'; eval \"$N\" & ready; sleep 1000",
    ),
];

#[tokio::test]
async fn cancelled_command_returns_and_no_process_survives() {
    for user in ALL_USERS {
        for (name, script) in STUBBORN {
            let dir = TestDir::new(user);
            let mark = mark(&dir);
            let ready = dir.path("ready");
            let script = format!("ready() {{ echo out; echo err >&2; : >{}; }}; {script}", ready.display());
            let mut run = dir.start(dir.overlay()).await;
            let cancel = CancellationToken::new();
            let (outcome, ()) = tokio::join!(run.execute(marked(&mark, &script), None, &cancel), async {
                eventually(name, || ready.exists()).await;
                cancel.cancel();
            });
            let outcome = outcome.expect("starts");
            assert_eq!(outcome.ended, Ended::Cancelled, "{user:?} {name}");
            assert_eq!(outcome.stdout, b"out\n", "{user:?} {name}");
            assert!(outcome.stderr.starts_with("err\n"), "{user:?} {name}: {}", outcome.stderr);
            run.finish().await.expect("finishes");
            assert_eq!(alive(&mark), Vec::<String>::new(), "{user:?} {name}");
            assert!(!dir.path("run").exists(), "{user:?} {name}");
        }
    }
}

#[tokio::test]
async fn deadline_applies_to_a_stopped_launcher() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.overlay()).await;
    let ppid = execute(&mut run, shell("echo $PPID")).await.expect("starts").stdout;
    let ppid: i32 = String::from_utf8_lossy(&ppid).trim().parse().expect("a number");
    kill_process(Pid::from_raw(ppid).expect("a process"), Signal::STOP).expect("signals");
    let status = || fs::read_to_string(format!("/proc/{ppid}/status")).expect("reads");
    eventually("it is stopped", || status().contains("State:	T")).await;
    // More than a pipe holds.
    let mut large = shell("true");
    large.env.extend((0..20).map(|number| (format!("N{number}"), "x".repeat(100_000))));
    let deadline = tokio::time::Instant::now() + Duration::from_millis(100);
    let outcome = run.execute(large, Some(deadline), &CancellationToken::new()).await.expect("is answered");
    assert_eq!(outcome.ended, Ended::DeadlineExceeded);
    run.finish().await.expect("finishes");
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn deadline_returns_the_output_so_far() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mark = mark(&dir);
        let mut run = dir.start(dir.overlay()).await;
        let started = Instant::now();
        let length = ENOUGH;
        let deadline = Some(tokio::time::Instant::now() + length);
        let script = "echo out; echo err >&2; trap '' TERM; sleep 1000; sleep 1000";
        let execution = run.execute(marked(&mark, script), deadline, &CancellationToken::new()).await;
        let (outcome, took) = (execution.expect("starts"), started.elapsed());
        assert_eq!(outcome.ended, Ended::DeadlineExceeded, "{user:?}");
        assert_eq!((outcome.stdout.as_slice(), outcome.stderr.as_str()), (b"out\n".as_slice(), "err\n"));
        assert!(took >= length && outcome.duration >= length, "{user:?}: {took:?}");
        assert!(!alive(&mark).is_empty() || user.switches_user(), "{user:?}: the grace is not waited for");
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new(), "{user:?}");
    }
}

#[tokio::test]
async fn background_processes_end_with_the_run() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mark = mark(&dir);
        let mut run = dir.start(dir.overlay()).await;
        let script = "sleep 1000 & setsid sleep 1000 & (trap '' TERM; sleep 1000) & \
                      setsid sh -c 'setsid sleep 1000 & exit 0'; exit 0";
        let outcome = execute(&mut run, marked(&mark, script)).await.expect("starts");
        assert_eq!(outcome.ended, Ended::Exited(0));
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new(), "{user:?}");
    }
}

#[tokio::test]
async fn process_can_clean_up_after_sigterm() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.direct()).await;
    // Cleans up in a way that would block or fail if its output were not read.
    let script = "trap 'head -c 1000000 /dev/zero; echo done >cleaned; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let cancel = CancellationToken::new();
    let execution = run.execute(shell(script), Some(tokio::time::Instant::now() + ENOUGH), &cancel);
    assert_eq!(execution.await.expect("starts").ended, Ended::DeadlineExceeded);
    run.finish().await.expect("finishes");
    assert_eq!(fs::read_to_string(dir.path("tree/cleaned")).expect("cleaned up"), "done\n");
}

#[tokio::test]
async fn run_ends_early_if_all_processes_exit() {
    let dir = TestDir::new(User::Caller);
    let limits = tiphys_process::Limits { grace: Duration::from_mins(5), ..LIMITS };
    let mut run = dir.launcher().start(dir.overlay(), limits).await.expect("starts");
    let outcome = execute(&mut run, shell("sleep 1000 & setsid sleep 1000 & exit 0")).await.expect("starts");
    assert_eq!(outcome.ended, Ended::Exited(0));
    let finished = tokio::time::timeout(Duration::from_secs(20), run.finish()).await;
    finished.expect("does not wait for the grace").expect("finishes");
}

#[tokio::test]
async fn stopped_process_is_continued_to_clean_up() {
    let dir = TestDir::new(User::Caller);
    let limits = tiphys_process::Limits { grace: Duration::from_secs(20), ..LIMITS };
    let mut run = dir.launcher().start(dir.direct(), limits).await.expect("starts");
    let script = "sh -c 'trap \"echo done >cleaned; exit 0\" TERM; : >there; kill -STOP $$' & \
                  while ! grep -q '^State:.T' /proc/$!/status; do sleep 0.01; done";
    assert_eq!(execute(&mut run, shell(script)).await.expect("starts").ended, Ended::Exited(0));
    run.finish().await.expect("finishes");
    assert_eq!(fs::read_to_string(dir.path("tree/cleaned")).expect("cleaned up"), "done\n");
}

#[tokio::test]
async fn dropped_run_ends_its_processes() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mark = mark(&dir);
        let mut run = dir.start(dir.overlay()).await;
        let outcome = execute(&mut run, marked(&mark, "trap '' TERM; setsid sleep 1000 & exit 0")).await;
        assert_eq!(outcome.expect("starts").ended, Ended::Exited(0));
        drop(run);
        eventually("the directory goes", || !dir.path("run").exists()).await;
        assert_eq!(alive(&mark), Vec::<String>::new(), "{user:?}: processes end before the view is removed");
    }
}

#[tokio::test]
async fn dropped_execution_ends_the_run() {
    let dir = TestDir::new(User::Caller);
    let mark = mark(&dir);
    let mut run = dir.start(dir.overlay()).await;
    let cancel = CancellationToken::new();
    let execution = run.execute(marked(&mark, "yes & sleep 1000"), None, &cancel);
    tokio::select! {
        outcome = execution => panic!("{outcome:?}"),
        () = eventually("the command runs", || alive(&mark).len() >= 2) => {}
    }
    let error = execute(&mut run, shell("true")).await.expect_err("the run has ended");
    assert_eq!(error.to_string(), "launcher: the run has ended");
    run.finish().await.expect("finishes");
    assert_eq!(alive(&mark), Vec::<String>::new());
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn portable_containment_ends_process_groups() {
    for overlay in [true, false] {
        let dir = TestDir::new(User::Caller);
        let mark = mark(&dir);
        let view = if overlay { dir.overlay() } else { dir.copy() };
        let started = dir.launcher().start_contained(view, LIMITS, Containment::ProcessGroups).await;
        let mut run = started.expect("starts");
        let outcome =
            execute(&mut run, marked(&mark, "sleep 1000 & (trap '' TERM; sleep 1000) & exit 7")).await;
        assert_eq!(outcome.expect("starts").ended, Ended::Exited(7));
        let outcome = execute(&mut run, marked(&mark, "kill -KILL $$")).await;
        assert_eq!(outcome.expect("starts").ended, Ended::Signalled(9));
        let deadline = tokio::time::Instant::now() + ENOUGH;
        let script = "trap '' TERM; sleep 1000 & echo ready; sleep 1000; sleep 1000";
        let outcome = run.execute(marked(&mark, script), Some(deadline), &CancellationToken::new()).await;
        let outcome = outcome.expect("starts");
        assert_eq!(
            (outcome.ended, outcome.stdout.as_slice()),
            (Ended::DeadlineExceeded, b"ready\n".as_slice())
        );
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new());
        assert!(!dir.path("run").exists());
    }
}

/// A parent of a run as a process in its own group.
fn parent(dir: &TestDir, script: &str) -> std::process::Child {
    let mut parent = Command::new(env!("CARGO_BIN_EXE_tiphys-test-parent"));
    parent.arg(dir.launcher_program()).arg(dir.path("tree")).arg(dir.path("run"));
    parent.args(["auto", &mark(dir), "sh", "-c", script]).stdin(Stdio::null()).process_group(0);
    parent.spawn().expect("starts")
}

#[tokio::test]
async fn killed_parent_ends_processes_and_view() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mark = mark(&dir);
        // Made here, where the owner can be set.
        dir.directory_at("run");
        let script = format!(
            "chmod 000 app; setsid sh -c 'trap \"\" TERM; sleep 1000' & yes >/dev/null & trap '' TERM; echo >{}/run/there; sleep 1000",
            dir.directory.path().display()
        );
        let mut parent = parent(&dir, &script);
        eventually("the command runs", || dir.path("run/there").exists()).await;
        parent.kill().expect("kills");
        parent.wait().expect("waits");
        eventually("the directory goes", || !dir.path("run").exists()).await;
        assert_eq!(alive(&mark), Vec::<String>::new(), "{user:?}: processes end before the view is removed");
    }
}

#[tokio::test]
async fn terminal_interrupt_reaches_only_the_parent() {
    let dir = TestDir::new(User::Caller);
    let log = dir.path("log").display().to_string();
    let script = format!(
        "trap 'echo INT >>{log}' INT; trap 'echo TERM >>{log}; exit 0' TERM; echo >{log}; while :; do sleep 0.01; done"
    );
    let mut parent = parent(&dir, &script);
    eventually("the command runs", || dir.path("log").exists()).await;
    let group = Pid::from_child(&parent);
    kill_process_group(group, Signal::INT).expect("signals");
    parent.wait().expect("waits");
    eventually("the directory goes", || !dir.path("run").exists()).await;
    assert_eq!(fs::read_to_string(&log).expect("reads"), "\nTERM\n");
}

#[tokio::test]
async fn launcher_ignores_signals_and_its_death_is_reported() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.overlay()).await;
    let ppid = execute(&mut run, shell("echo $PPID")).await.expect("starts").stdout;
    let ppid: i32 = String::from_utf8_lossy(&ppid).trim().parse().expect("a number");
    let launcher = Pid::from_raw(ppid).expect("a process");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        kill_process(launcher, signal).expect("signals");
    }
    let outcome =
        execute(&mut run, shell("kill -TERM $PPID; kill -INT $PPID; echo here")).await.expect("starts");
    assert_eq!(outcome.stdout, b"here\n");
    let error = execute(&mut run, shell("kill -KILL $PPID; echo there")).await.expect_err("no launcher");
    assert_eq!(error.to_string(), "launcher: died while a command ran");
    let error = run.finish().await.expect_err("no launcher");
    assert_eq!(error.to_string(), "launcher: died before it ended the run: signal: 9 (SIGKILL)");
    assert!(!dir.path("run").exists(), "the parent removes it");
}
