//! Many runs in one process leak nothing. One test only, because it counts resources of the whole process.

use std::fs;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tiphys_process::{CommandSpec, Ended, Launcher, Limits, PrivateView, Tool, View};
use tokio_util::sync::CancellationToken;

const RUNS: usize = 100;

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

/// Children of this process, zombies included.
fn children() -> usize {
    let threads = fs::read_dir("/proc/self/task").expect("/proc").flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.map(|list| list.split_ascii_whitespace().count()).sum()
}

async fn one_run(number: usize, directory: &TempDir) {
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_tiphys-launcher"));
    let lower = directory.path().join("tree");
    let run_dir = directory.path().join(format!("run-{number}"));
    let limits = Limits { stdout_bytes_max: 1000, stderr_bytes_max: 1000, grace: Duration::from_millis(100) };
    let how = if number.is_multiple_of(3) { PrivateView::Copy } else { PrivateView::Auto };
    let view = View::private(lower, run_dir.clone(), how);
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
async fn hundred_concurrent_runs_leak_nothing() {
    let directory = TempDir::new().expect("a directory");
    fs::create_dir(directory.path().join("tree")).expect("mkdir");
    // The runtime opens descriptors of its own for the first process.
    one_run(1, &directory).await;
    let before = descriptors();

    futures_util::future::join_all((0..RUNS).map(|number| one_run(number, &directory))).await;
    let tool = Tool {
        program: "/bin/true".into(),
        env: vec![],
        timeout: Duration::from_secs(20),
        stdout_bytes_max: 0,
    };
    for _ in 0..10 {
        assert_eq!(tool.run(&[], directory.path(), None).await.expect("starts").code, Some(0));
        drop(tool.run(&[], directory.path(), None));
    }

    // Dropped runs end by themselves.
    let give_up_at = Instant::now() + Duration::from_mins(2);
    let mut again = tokio::time::interval(Duration::from_millis(2));
    loop {
        let directories = fs::read_dir(directory.path()).expect("lists").count();
        let left = (children(), descriptors(), directories);
        if left == (0, before, 1) {
            break;
        }
        assert!(
            Instant::now() < give_up_at,
            "(children, descriptors, directories) are {left:?}, not {:?}",
            (0, before, 1)
        );
        again.tick().await;
    }
}
