//! Starts a run and one command in it, for tests that kill the parent of a launcher, or the launcher. Prints the results of the command and
//! of the run, and the number of remaining children.
//!
//! Arguments: launcher, read-only tree, run directory, `copy` or `auto`, value of `TIPHYS_TEST_MARK`, command.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts::SIGINT;
use signal_hook::flag::register_conditional_default;
use tiphys_process::{CommandSpec, Launcher, Limits, PrivateView, View, adopt_orphans};
use tokio_util::sync::CancellationToken;

#[expect(clippy::print_stdout, reason = "a test reads it")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // It may be ignored if the tests were started by nohup or as a background job.
    register_conditional_default(SIGINT, Arc::new(AtomicBool::new(true)))?;
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("too few arguments");
    let launcher = Launcher::new(next()?);
    let (lower, run_dir) = (next()?, next()?);
    let how = if next()? == "copy" { PrivateView::Copy } else { PrivateView::Auto };
    let view = View::private(lower, run_dir, how);
    let mark = next()?;
    let limits = Limits { stdout_bytes_max: 1024, stderr_bytes_max: 1024, grace: Duration::from_millis(300) };
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned()), ("TIPHYS_TEST_MARK".to_owned(), mark)];
    adopt_orphans()?;
    let mut run = launcher.start(view, limits).await?;
    let command = CommandSpec { argv: arguments.collect(), env, dir: "".into() };
    match run.execute(command, None, &CancellationToken::new()).await {
        Ok(outcome) => println!("{:?}", outcome.ended),
        Err(error) => println!("{error}"),
    }
    match run.finish().await {
        Ok(()) => println!("finished"),
        Err(error) => println!("{error}"),
    }
    let children = std::fs::read_to_string("/proc/thread-self/children")?;
    println!("children: {}", children.split_ascii_whitespace().count());
    Ok(())
}
