//! Calls that nobody waits for any more: what they began is ended, and counts until it has.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tiphys_plugin::{Deadline, SlotLimits, Slots};
use tiphys_process::Launcher;
use tokio::time::Instant;

use crate::world::{World, generated, request};

/// A world with one place for runs, and the places.
fn with_one_place(launcher: Option<fn(&Path) -> PathBuf>) -> (World, Arc<Slots>) {
    let slots = Slots::new(SlotLimits::patient(1));
    let world = World::adjusted(|folder, settings| {
        settings.slots = Arc::clone(&slots);
        if let Some(launcher) = launcher {
            settings.launcher = Launcher::new(launcher(folder));
        }
    });
    (world, slots)
}

/// A program beside the fifo `go` that is a launcher as soon as somebody writes to the fifo. Another process writes it: one that this
/// process has open for writing could not be executed while another test starts something.
fn launcher_that_waits(folder: &Path) -> PathBuf {
    let program = folder.join("launcher");
    let script = "mkfifo \"$1/go\" && printf '#!/bin/sh\\nread -r go <%s/go\\nexec %s \"$@\"\\n' \"$1\" \"$2\" >\"$1/launcher\" \
                  && chmod 755 \"$1/launcher\"";
    #[expect(clippy::disallowed_methods, reason = "the test needs a program that nobody here has open")]
    let mut shell = std::process::Command::new("sh");
    let made = shell.args(["-c", script, "sh"]).arg(folder).arg(tiphys_testkit::launcher::program()).status();
    assert!(made.expect("sh starts").success());
    program
}

#[tokio::test]
async fn a_call_that_is_dropped_keeps_its_place_and_its_folder_until_its_processes_are_gone() {
    let (world, slots) = with_one_place(None);
    let tree = world.tree(&[("app/x", "")]);
    let started = world.dir.path().join("started");
    let script = format!("trap \"\" TERM; touch {}; while :; do sleep 1000; done", started.display());
    let plugin = world.plugin("p", &format!("  generate: {{command: [sh, -c, '{script}']}}"));
    let request = request(&tree);
    tokio::select! {
        result = generated(&plugin, &request) => panic!("{result:?}"),
        // The condition is a file that the plugin makes; looking at it again needs no pause of its own.
        () = async { while !started.exists() { tokio::task::yield_now().await; } } => {}
    }
    assert_eq!(slots.running(), 1, "it is being ended");
    assert_eq!(world.run_folders().len(), 1, "and has its folder");
    assert_eq!(world.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
}

#[tokio::test]
async fn the_next_call_waits_until_a_dropped_one_has_ended() {
    let (world, slots) = with_one_place(None);
    let tree = world.tree(&[("app/x", "")]);
    let [started, ended] = ["started", "ended"].map(|name| world.dir.path().join(name));
    // The shell takes its time and makes the file by itself: whatever it starts while it is being ended is asked to end, too.
    let script = format!(
        "trap \"i=0; while [ \\$i -lt 20000 ]; do i=\\$((i+1)); done; : >{}; exit\" TERM; \
         touch {}; while :; do sleep 0.01; done",
        ended.display(),
        started.display()
    );
    let dropped = world.plugin("p", &format!("  generate: {{command: [sh, -c, '{script}']}}"));
    let next = format!("  generate: {{command: [sh, -c, 'test -e {} && echo kind: Next']}}", ended.display());
    let next = world.plugin("q", &next);
    let request = request(&tree);
    tokio::select! {
        result = generated(&dropped, &request) => panic!("{result:?}"),
        () = async { while !started.exists() { tokio::task::yield_now().await; } } => {}
    }
    assert_eq!(generated(&next, &request).await, Ok(vec![r#"{"kind":"Next"}"#.to_owned()]));
    assert_eq!(world.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
}

#[tokio::test]
async fn a_run_that_begins_too_slowly_is_answered_at_the_deadline_and_ended_when_it_has_begun() {
    let (world, slots) = with_one_place(Some(launcher_that_waits));
    let tree = world.tree(&[("app/x", "")]);
    let ran = world.dir.path().join("ran");
    let plugin = world.plugin(
        "p",
        &format!("  init: {{command: [touch, {}]}}\n  generate: {{command: ['true']}}", ran.display()),
    );
    let mut request = request(&tree);
    request.deadline = Deadline::At(Instant::now() + Duration::from_millis(100));
    let error = generated(&plugin, &request).await.unwrap_err();
    assert_eq!(error, format!("init: `touch {}` did not end within its deadline", ran.display()));
    assert_eq!((slots.running(), world.run_folders().len()), (1, 1), "it still begins");
    std::fs::write(world.dir.path().join("go"), "go\n").unwrap();
    assert_eq!(world.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
    assert!(!ran.exists(), "nothing ran");
}

#[tokio::test]
async fn a_run_that_begins_slowly_is_cancelled_at_once() {
    let (world, slots) = with_one_place(Some(launcher_that_waits));
    let tree = world.tree(&[("app/x", "")]);
    let plugin = world.plugin("p", "  generate: {command: ['true']}");
    let request = request(&tree);
    let cancel = async {
        while slots.running() == 0 {
            tokio::task::yield_now().await;
        }
        request.cancel.cancel();
    };
    let (result, ()) = tokio::join!(generated(&plugin, &request), cancel);
    assert_eq!(result, Err("cancelled".to_owned()));
    assert_eq!(slots.running(), 1, "it still begins");
    std::fs::write(world.dir.path().join("go"), "go\n").unwrap();
    assert_eq!(world.left_behind().await, Vec::<String>::new());
    assert_eq!(slots.running(), 0);
}
