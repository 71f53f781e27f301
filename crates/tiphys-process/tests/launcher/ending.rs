//! The end of a run: every process goes, whatever it does, and so does the view.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tiphys_process::{Containment, Ended};
use tokio_util::sync::CancellationToken;

use super::support::{EVERYONE, LIMITS, Place, Who, alive, eventually, execute, mark, marked, shell};

/// A deadline by which a script has come to its last line, on a machine that has much else to do, too.
const ENOUGH: Duration = Duration::from_secs(2);

/// Scripts whose processes do not go by themselves; each calls `ready` when its processes are there.
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
async fn a_cancelled_command_is_answered_at_once_and_nothing_survives_the_end() {
    for who in EVERYONE {
        for (name, script) in STUBBORN {
            let place = Place::new(who);
            let mark = mark(&place);
            let ready = place.path("ready");
            let script = format!("ready() {{ echo out; echo err >&2; : >{}; }}; {script}", ready.display());
            let mut run = place.start(place.overlay()).await;
            let cancel = CancellationToken::new();
            let (outcome, ()) = tokio::join!(run.execute(marked(&mark, &script), None, &cancel), async {
                eventually(name, || ready.exists()).await;
                cancel.cancel();
            });
            let outcome = outcome.expect("starts");
            assert_eq!(outcome.ended, Ended::Cancelled, "{who:?} {name}");
            assert_eq!(outcome.stdout, b"out\n", "{who:?} {name}");
            assert!(outcome.stderr.starts_with("err\n"), "{who:?} {name}: {}", outcome.stderr);
            run.finish().await.expect("finishes");
            assert_eq!(alive(&mark), Vec::<String>::new(), "{who:?} {name}");
            assert!(!place.path("run").exists(), "{who:?} {name}");
        }
    }
}

#[tokio::test]
async fn a_command_that_a_stopped_launcher_does_not_read_is_given_up_at_the_deadline() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.overlay()).await;
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
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn at_the_deadline_the_answer_comes_with_what_was_printed() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mark = mark(&place);
        let mut run = place.start(place.overlay()).await;
        let started = Instant::now();
        let length = ENOUGH;
        let deadline = Some(tokio::time::Instant::now() + length);
        let script = "echo out; echo err >&2; trap '' TERM; sleep 1000; sleep 1000";
        let execution = run.execute(marked(&mark, script), deadline, &CancellationToken::new()).await;
        let (outcome, took) = (execution.expect("starts"), started.elapsed());
        assert_eq!(outcome.ended, Ended::DeadlineExceeded, "{who:?}");
        assert_eq!((outcome.stdout.as_slice(), outcome.stderr.as_str()), (b"out\n".as_slice(), "err\n"));
        assert!(took >= length && outcome.duration >= length, "{who:?}: {took:?}");
        assert!(!alive(&mark).is_empty() || who.is_nobody(), "{who:?}: the grace is not waited for");
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new(), "{who:?}");
    }
}

#[tokio::test]
async fn what_a_successful_command_left_is_ended_with_the_run() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mark = mark(&place);
        let mut run = place.start(place.overlay()).await;
        let script = "sleep 1000 & setsid sleep 1000 & (trap '' TERM; sleep 1000) & \
                      setsid sh -c 'setsid sleep 1000 & exit 0'; exit 0";
        let outcome = execute(&mut run, marked(&mark, script)).await.expect("starts");
        assert_eq!(outcome.ended, Ended::Exited(0));
        run.finish().await.expect("finishes");
        assert_eq!(alive(&mark), Vec::<String>::new(), "{who:?}");
    }
}

#[tokio::test]
async fn a_process_may_clean_up_when_it_is_asked_to_end() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.direct()).await;
    // Cleans up where its output would block or fail if nobody read it any more.
    let script = "trap 'head -c 1000000 /dev/zero; echo done >cleaned; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let cancel = CancellationToken::new();
    let execution = run.execute(shell(script), Some(tokio::time::Instant::now() + ENOUGH), &cancel);
    assert_eq!(execution.await.expect("starts").ended, Ended::DeadlineExceeded);
    run.finish().await.expect("finishes");
    assert_eq!(fs::read_to_string(place.path("tree/cleaned")).expect("cleaned up"), "done\n");
}

#[tokio::test]
async fn a_run_ends_before_the_grace_is_over_if_everybody_goes() {
    let place = Place::new(Who::Caller);
    let limits = tiphys_process::Limits { grace: Duration::from_mins(5), ..LIMITS };
    let mut run = place.launcher().start(place.overlay(), limits).await.expect("starts");
    let outcome = execute(&mut run, shell("sleep 1000 & setsid sleep 1000 & exit 0")).await.expect("starts");
    assert_eq!(outcome.ended, Ended::Exited(0));
    let finished = tokio::time::timeout(Duration::from_secs(20), run.finish()).await;
    finished.expect("does not wait for the grace").expect("finishes");
}

#[tokio::test]
async fn a_stopped_process_is_continued_to_clean_up() {
    let place = Place::new(Who::Caller);
    let limits = tiphys_process::Limits { grace: Duration::from_secs(20), ..LIMITS };
    let mut run = place.launcher().start(place.direct(), limits).await.expect("starts");
    let script = "sh -c 'trap \"echo done >cleaned; exit 0\" TERM; : >there; kill -STOP $$' & \
                  while ! grep -q '^State:.T' /proc/$!/status; do sleep 0.01; done";
    assert_eq!(execute(&mut run, shell(script)).await.expect("starts").ended, Ended::Exited(0));
    run.finish().await.expect("finishes");
    assert_eq!(fs::read_to_string(place.path("tree/cleaned")).expect("cleaned up"), "done\n");
}

#[tokio::test]
async fn a_dropped_run_ends_by_itself() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mark = mark(&place);
        let mut run = place.start(place.overlay()).await;
        let outcome = execute(&mut run, marked(&mark, "trap '' TERM; setsid sleep 1000 & exit 0")).await;
        assert_eq!(outcome.expect("starts").ended, Ended::Exited(0));
        drop(run);
        eventually("the folder goes", || !place.path("run").exists()).await;
        assert_eq!(alive(&mark), Vec::<String>::new(), "{who:?}: processes go before the view");
    }
}

#[tokio::test]
async fn a_dropped_execution_ends_the_run() {
    let place = Place::new(Who::Caller);
    let mark = mark(&place);
    let mut run = place.start(place.overlay()).await;
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
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn the_portable_way_ends_the_process_groups_of_the_commands() {
    for overlay in [true, false] {
        let place = Place::new(Who::Caller);
        let mark = mark(&place);
        let view = if overlay { place.overlay() } else { place.copy() };
        let started = place.launcher().start_contained(view, LIMITS, Containment::ProcessGroups).await;
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
        assert!(!place.path("run").exists());
    }
}

/// A parent of a run in a process of its own, in a group of its own.
fn parent(place: &Place, script: &str) -> std::process::Child {
    let mut parent = Command::new(env!("CARGO_BIN_EXE_tiphys-test-parent"));
    parent.arg(place.launcher_program()).arg(place.path("tree")).arg(place.path("run"));
    parent.args(["auto", &mark(place), "sh", "-c", script]).stdin(Stdio::null()).process_group(0);
    parent.spawn().expect("starts")
}

#[tokio::test]
async fn when_the_parent_is_killed_processes_and_view_go() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mark = mark(&place);
        // Made here, where the owner can be set.
        place.folder_at("run");
        let script = format!(
            "chmod 000 app; setsid sh -c 'trap \"\" TERM; sleep 1000' & yes >/dev/null & trap '' TERM; echo >{}/run/there; sleep 1000",
            place.folder.path().display()
        );
        let mut parent = parent(&place, &script);
        eventually("the command runs", || place.path("run/there").exists()).await;
        parent.kill().expect("kills");
        parent.wait().expect("waits");
        eventually("the folder goes", || !place.path("run").exists()).await;
        assert_eq!(alive(&mark), Vec::<String>::new(), "{who:?}: processes go before the view");
    }
}

#[tokio::test]
async fn an_interrupt_from_the_terminal_is_for_the_parent_only() {
    let place = Place::new(Who::Caller);
    let told = place.path("told").display().to_string();
    let script = format!(
        "trap 'echo INT >>{told}' INT; trap 'echo TERM >>{told}; exit 0' TERM; echo >{told}; while :; do sleep 0.01; done"
    );
    let mut parent = parent(&place, &script);
    eventually("the command runs", || place.path("told").exists()).await;
    let group = Pid::from_child(&parent);
    kill_process_group(group, Signal::INT).expect("signals");
    parent.wait().expect("waits");
    eventually("the folder goes", || !place.path("run").exists()).await;
    assert_eq!(fs::read_to_string(&told).expect("reads"), "\nTERM\n");
}

#[tokio::test]
async fn signals_to_the_launcher_are_left_to_the_parent_and_its_death_is_told() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.overlay()).await;
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
    assert_eq!(error.to_string(), "launcher: died before it had ended the run: signal: 9 (SIGKILL)");
    assert!(!place.path("run").exists(), "the parent removes it");
}
