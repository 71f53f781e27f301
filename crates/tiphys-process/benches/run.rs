//! Measures the overhead of a run: `cargo bench -p tiphys-process -- [DIRECTORY]`, preferably on a memory file system.

#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tiphys_process::{CommandSpec, Launcher, Limits, PrivateView, Shielded, Tool, View};
use tokio_util::sync::CancellationToken;

/// Files of the measured tree, in directories of [`FILES_PER_FOLDER`].
const FILES: usize = 10_000;
const FILES_PER_FOLDER: usize = 20;
const FILE_BYTES: usize = 2_500;
const ROUNDS: usize = 51;

fn make_tree(top: &Path) {
    for number in 0..FILES {
        let directory =
            top.join(format!("group-{}/app-{}", number / FILES_PER_FOLDER % 20, number / FILES_PER_FOLDER));
        if number % FILES_PER_FOLDER == 0 {
            fs::create_dir_all(&directory).expect("mkdir");
        }
        fs::write(directory.join(format!("file-{number}.yaml")), vec![b'x'; FILE_BYTES]).expect("writes");
    }
}

/// Minimum and median in milliseconds. The minimum is least affected by other load.
fn figures(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |index: usize| times.get(index).copied().unwrap_or_default().as_secs_f64() * 1e3;
    format!("{:.2}/{:.2}", at(0), at(times.len() / 2))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let parent = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let parent = parent.map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let directory = tempfile::TempDir::new_in(parent).expect("a directory");
    let tree = directory.path().join("tree");
    make_tree(&tree);
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_tiphys-launcher"));
    let limits = Limits { stdout_bytes_max: 1000, stderr_bytes_max: 1000, grace: Duration::from_secs(5) };
    let run_dir = directory.path().join("runs/1");
    fs::create_dir(directory.path().join("runs")).expect("mkdir");
    let views = [
        ("direct", View::Direct { dir: tree.clone() }),
        ("overlay", View::private(tree.clone(), run_dir.clone(), PrivateView::Auto)),
        (
            "hiding",
            View::Private {
                lower: tree.clone(),
                others: vec![],
                run_dir: run_dir.clone(),
                how: PrivateView::Auto,
                shielded: Shielded {
                    hidden: vec![tree.clone(), directory.path().join("runs")],
                    read_only: vec![],
                },
            },
        ),
        ("copy", View::private(tree.clone(), run_dir.clone(), PrivateView::Copy)),
    ];
    println!(
        "{FILES} files of {FILE_BYTES} bytes; minimum/median of {ROUNDS} runs of /bin/true, in milliseconds"
    );
    println!("{:10} {:>16} {:>16} {:>16} {:>16}", "view", "start", "execute", "finish", "sum");
    for (name, view) in views {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            let mut run = launcher.start(view.clone(), limits).await.expect("starts");
            let started = Instant::now();
            let command = CommandSpec { argv: vec!["/bin/true".into()], env: vec![], dir: "".into() };
            run.execute(command, None, &CancellationToken::new()).await.expect("starts");
            let executed = Instant::now();
            run.finish().await.expect("finishes");
            let finished = Instant::now();
            for (times, time) in times.iter_mut().zip([
                started - begin,
                executed - started,
                finished - executed,
                finished - begin,
            ]) {
                times.push(time);
            }
        }
        let [start, execute, finish, sum] = times.map(figures);
        println!("{name:10} {start:>16} {execute:>16} {finish:>16} {sum:>16}");
    }
    let tool = Tool {
        program: "git".into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        timeout: Duration::from_secs(10),
        stdout_bytes_max: 1000,
    };
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        tool.run(&["--version".into()], directory.path(), None).await.expect("git is there");
        times.push(begin.elapsed());
    }
    println!("{:10} {:>16}", "git", figures(times));
}
