//! Many runs in one process leave nothing in it. One test only: it counts what belongs to the whole process.

use std::fs;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tiphys_process::{CommandSpec, Ended, Launcher, Limits, PrivateView, Shielded, Tool, View};
use tokio_util::sync::CancellationToken;

const RUNS: usize = 100;

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

/// Children of this process, those that ended but were not waited for included.
fn children() -> usize {
    let threads = fs::read_dir("/proc/self/task").expect("/proc").flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.map(|list| list.split_ascii_whitespace().count()).sum()
}

async fn one_run(number: usize, folder: &TempDir) {
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_tiphys-launcher"));
    let lower = folder.path().join("tree");
    let run_dir = folder.path().join(format!("run-{number}"));
    let limits = Limits { stdout_bytes_max: 1000, stderr_bytes_max: 1000, grace: Duration::from_millis(100) };
    let how = if number.is_multiple_of(3) { PrivateView::Copy } else { PrivateView::Auto };
    let view =
        View::Private { lower, others: vec![], run_dir: run_dir.clone(), how, shielded: Shielded::default() };
    let mut run = launcher.start(view, limits).await.expect("starts");
    let script = format!("sleep 1000 & echo {number} >file; cat file; exit {number}");
    let command = CommandSpec {
        argv: vec!["sh".into(), "-c".into(), script],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        dir: "".into(),
    };
    let outcome = run.execute(command, None, &CancellationToken::new()).await.expect("starts");
    assert_eq!(outcome.stdout, format!("{number}\n").as_bytes());
    assert_eq!(outcome.ended, Ended::Exited(i32::try_from(number).expect("small")));
    if !number.is_multiple_of(5) {
        run.finish().await.expect("finishes");
        assert!(!run_dir.exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_runs_at_once_leave_no_process_no_descriptor_and_no_folder() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("tree")).expect("mkdir");
    // The runtime opens descriptors of its own for the first process.
    one_run(1, &folder).await;
    let before = descriptors();

    futures_util::future::join_all((0..RUNS).map(|number| one_run(number, &folder))).await;
    let tool = Tool {
        program: "/bin/true".into(),
        env: vec![],
        timeout: Duration::from_secs(20),
        stdout_bytes_max: 0,
    };
    for _ in 0..10 {
        assert_eq!(tool.run(&[], folder.path(), None).await.expect("starts").code, Some(0));
        drop(tool.run(&[], folder.path(), None));
    }

    // Dropped runs end by themselves.
    let give_up_at = Instant::now() + Duration::from_mins(2);
    let mut again = tokio::time::interval(Duration::from_millis(2));
    loop {
        let folders = fs::read_dir(folder.path()).expect("lists").count();
        let left = (children(), descriptors(), folders);
        if left == (0, before, 1) {
            break;
        }
        assert!(
            Instant::now() < give_up_at,
            "(children, descriptors, folders) are {left:?}, not {:?}",
            (0, before, 1)
        );
        again.tick().await;
    }
}
