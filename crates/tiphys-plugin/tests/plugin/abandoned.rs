//! Calls whose caller is gone: their runs are ended, and keep their slot until then.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tiphys_plugin::{Deadline, SlotLimits, Slots};
use tiphys_process::Launcher;
use tiphys_testkit::wait::eventually;
use tokio::time::Instant;

use crate::fixture::{Fixture, generated, request};

/// A fixture with one slot for runs, and the slots.
fn with_one_slot(launcher: Option<fn(&Path) -> PathBuf>) -> (Fixture, Arc<Slots>) {
    let slots = Slots::new(SlotLimits::patient(1));
    let fixture = Fixture::adjusted(|directory, settings| {
        settings.slots = Arc::clone(&slots);
        if let Some(launcher) = launcher {
            settings.launcher = Launcher::new(launcher(directory));
        }
    });
    (fixture, slots)
}

/// A program that becomes a launcher after a write to the fifo `go` next to it. Another process writes the program: a program that this
/// process has open for writing could not be executed while another test starts a process.
fn launcher_that_waits(directory: &Path) -> PathBuf {
    let program = directory.join("launcher");
    let script = "mkfifo \"$1/go\" && printf '#!/bin/sh\\nread -r go <%s/go\\nexec %s \"$@\"\\n' \"$1\" \"$2\" >\"$1/launcher\" \
                  && chmod 755 \"$1/launcher\"";
    #[expect(clippy::disallowed_methods, reason = "the program must not be open in this process")]
    let mut shell = std::process::Command::new("sh");
    let made =
        shell.args(["-c", script, "sh"]).arg(directory).arg(tiphys_testkit::launcher::program()).status();
    assert!(made.expect("sh starts").success());
    program
}

#[tokio::test]
async fn dropped_call_keeps_its_slot_until_its_processes_end() {
    let (fixture, slots) = with_one_slot(None);
    let tree = fixture.tree(&[("app/x", "")]);
    let started = fixture.dir.path().join("started");
    let script = format!("trap \"\" TERM; touch {}; while :; do sleep 1000; done", started.display());
    let plugin = fixture.plugin("p", &format!("  generate: {{command: [sh, -c, '{script}']}}"));
    let request = request(&tree);
    tokio::select! {
        result = generated(&plugin, &request) => panic!("{result:?}"),
        () = eventually("the command starts", || started.exists()) => {}
    }
    assert_eq!(slots.running(), 1, "it is being ended");
    assert_eq!(fixture.run_directories().len(), 1, "and has its directory");
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
}

#[tokio::test]
async fn next_call_waits_for_the_end_of_a_dropped_one() {
    let (fixture, slots) = with_one_slot(None);
    let tree = fixture.tree(&[("app/x", "")]);
    let [started, ended] = ["started", "ended"].map(|name| fixture.dir.path().join(name));
    // The shell is slow, and creates the file without a child process, because children are terminated, too.
    let script = format!(
        "trap \"i=0; while [ \\$i -lt 20000 ]; do i=\\$((i+1)); done; : >{}; exit\" TERM; \
         touch {}; while :; do sleep 0.01; done",
        ended.display(),
        started.display()
    );
    let dropped = fixture.plugin("p", &format!("  generate: {{command: [sh, -c, '{script}']}}"));
    let next = format!("  generate: {{command: [sh, -c, 'test -e {} && echo kind: Next']}}", ended.display());
    let next = fixture.plugin("q", &next);
    let request = request(&tree);
    tokio::select! {
        result = generated(&dropped, &request) => panic!("{result:?}"),
        () = eventually("the command starts", || started.exists()) => {}
    }
    assert_eq!(generated(&next, &request).await, Ok(vec![r#"{"kind":"Next"}"#.to_owned()]));
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
}

#[tokio::test]
async fn slow_start_is_answered_at_the_deadline_and_ended() {
    let (fixture, slots) = with_one_slot(Some(launcher_that_waits));
    let tree = fixture.tree(&[("app/x", "")]);
    let ran = fixture.dir.path().join("ran");
    let plugin = fixture.plugin(
        "p",
        &format!("  init: {{command: [touch, {}]}}\n  generate: {{command: ['true']}}", ran.display()),
    );
    let mut request = request(&tree);
    request.deadline = Deadline::At(Instant::now() + Duration::from_millis(100));
    let error = generated(&plugin, &request).await.unwrap_err();
    assert_eq!(error, format!("init: `touch {}` did not end within its deadline", ran.display()));
    assert_eq!((slots.running(), fixture.run_directories().len()), (1, 1), "it still begins");
    std::fs::write(fixture.dir.path().join("go"), "go\n").unwrap();
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
    assert!(!ran.exists(), "nothing ran");
}

#[tokio::test]
async fn slow_start_can_be_cancelled() {
    let (fixture, slots) = with_one_slot(Some(launcher_that_waits));
    let tree = fixture.tree(&[("app/x", "")]);
    let plugin = fixture.plugin("p", "  generate: {command: ['true']}");
    let request = request(&tree);
    let cancel = async {
        eventually("the run begins", || slots.running() > 0).await;
        request.cancel.cancel();
    };
    let (result, ()) = tokio::join!(generated(&plugin, &request), cancel);
    assert_eq!(result, Err("cancelled".to_owned()));
    assert_eq!(slots.running(), 1, "it still begins");
    std::fs::write(fixture.dir.path().join("go"), "go\n").unwrap();
    assert_eq!(fixture.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
}
