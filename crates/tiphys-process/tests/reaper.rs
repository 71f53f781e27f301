//! Orphans are reaped, and no exit status is lost. One test only, because it makes the whole process a child subreaper.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use tempfile::TempDir;
use tiphys_process::{CommandSpec, Ended, Launcher, Limits, PrivateView, Run, Tool, View, reap_orphans};
use tiphys_testkit::wait::eventually;
use tokio_util::sync::CancellationToken;

/// Orphans of the launcher that is killed.
const ORPHANS: usize = 5;

/// Launchers and tools that end while the orphans do.
const OTHERS: u8 = 40;

fn children() -> Vec<i32> {
    let threads = fs::read_dir("/proc/self/task").expect("/proc").flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_ascii_whitespace().flat_map(str::parse).collect::<Vec<_>>()).collect()
}

async fn start(directory: &Path, name: &str) -> Run {
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_tiphys-launcher"));
    let limits = Limits { stdout_bytes_max: 1000, stderr_bytes_max: 1000, grace: Duration::from_millis(100) };
    let how = PrivateView::Auto;
    let view = View::private(directory.join("tree"), directory.join(name), how);
    launcher.start(view, limits).await.expect("starts")
}

async fn printed(run: &mut Run, script: &str) -> Result<(Ended, String), String> {
    let command = CommandSpec {
        argv: ["sh", "-c", script].map(ToOwned::to_owned).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        dir: "".into(),
    };
    let outcome = run.execute(command, None, &CancellationToken::new()).await;
    let outcome = outcome.map_err(|error| error.to_string())?;
    Ok((outcome.ended, String::from_utf8(outcome.stdout).expect("UTF-8")))
}

async fn one_of_the_others(directory: &Path, number: u8) {
    let mut run = start(directory, &format!("run-{number}")).await;
    let ended = printed(&mut run, &format!("exit {number}")).await.expect("starts");
    assert_eq!(ended, (Ended::Exited(number.into()), String::new()));
    // Fails if the launcher's exit status was taken.
    run.finish().await.expect("finishes");
    let tool = Tool {
        program: "/bin/sh".into(),
        env: vec![],
        timeout: Duration::from_secs(20),
        stdout_bytes_max: 0,
    };
    let output = tool.run(&["-c".into(), format!("exit {number}").into()], directory, None).await;
    assert_eq!(output.expect("starts").code, Some(number.into()));
}

async fn orphans_end_among_others(directory: &Path) {
    let mut run = start(directory, "run").await;
    let script = format!(
        "for i in $(seq {ORPHANS}); do setsid sleep 1000 >/dev/null 2>&1 & echo $!; done; echo $PPID"
    );
    let (_, text) = printed(&mut run, &script).await.expect("starts");
    let mut processes: Vec<i32> = text.lines().map(|line| line.parse().expect("a number")).collect();
    let launcher = processes.pop().expect("the launcher");
    assert_eq!(processes.len(), ORPHANS);
    let kill = |process: i32| kill_process(Pid::from_raw(process).expect("a process"), Signal::KILL);
    kill(launcher).expect("signals");
    eventually("the orphans become ours", || processes.iter().all(|orphan| children().contains(orphan)))
        .await;
    let others =
        futures_util::future::join_all((0..OTHERS).map(|number| one_of_the_others(directory, number)));
    let orphans = async {
        let mut pause = tokio::time::interval(Duration::from_millis(20));
        for orphan in &processes {
            pause.tick().await;
            kill(*orphan).expect("it was not reaped before it ended");
        }
    };
    tokio::join!(others, orphans);
    let error = run.finish().await.expect_err("no launcher");
    assert_eq!(error.to_string(), "launcher: died before it ended the run: signal: 9 (SIGKILL)");
    // The runtime waits for the launcher of a dropped run.
    drop(start(directory, "dropped").await);
    eventually("no child is left", || children().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orphans_are_reaped_and_no_exit_status_is_lost() {
    let directory = TempDir::new().expect("a directory");
    fs::create_dir(directory.path().join("tree")).expect("mkdir");
    set_child_subreaper(Some(getpid())).expect("a subreaper");
    tokio::select! {
        ended = reap_orphans() => panic!("{ended:?}"),
        () = orphans_end_among_others(directory.path()) => {}
    }
}
