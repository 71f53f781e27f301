//! Runs a tool in the working directory and prints its result, for tests that kill the parent of a tool.
//!
//! Arguments: `wrapped` or `direct`, the program, its arguments.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use tiphys_process::{Tool, pdeathsig_main};
use tokio::time::timeout;

#[expect(clippy::print_stdout, reason = "a test reads it")]
fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|how| how != "direct")
        && let Some(code) = pdeathsig_main(&arguments)
    {
        return Ok(ExitCode::from(code));
    }
    let [_, _, program, rest @ ..] = &arguments[..] else { return Err("too few arguments".into()) };
    let tool = Tool {
        program: PathBuf::from(program),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "b c".into())],
        timeout: Duration::from_mins(1),
        stdout_bytes_max: 1 << 20,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut call = Box::pin(tool.run(rest, Path::new("."), None));
    // The thread that starts the tool ends, at the end of standard input, before the tool does.
    let started = thread::scope(|scope| {
        let start = || {
            let polled = runtime.block_on(async { timeout(Duration::ZERO, &mut call).await });
            drop(io::copy(&mut io::stdin(), &mut io::sink()));
            polled
        };
        scope.spawn(start).join()
    });
    println!("started");
    let ended = match started.map_err(|_panic| "the thread failed")? {
        Ok(ended) => ended,
        Err(_still_runs) => runtime.block_on(call),
    };
    match ended {
        Ok(output) => {
            print!("{:?}\n{}{}", output.code, String::from_utf8_lossy(&output.stdout), output.stderr);
        }
        Err(error) => println!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default()),
    }
    Ok(ExitCode::SUCCESS)
}
