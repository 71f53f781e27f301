//! Runs a tool in the working directory, for tests that kill who started one. Tells what came of it.
//!
//! Arguments: `tethered` or `direct`, and the program with its arguments.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use tiphys_process::{Tool, tether_main};
use tokio::time::timeout;

#[expect(clippy::print_stdout, reason = "a test reads it")]
fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|how| how != "direct")
        && let Some(code) = tether_main(&arguments)
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
    // The thread that asks for the tool ends before the tool does, when standard input ends.
    let asked = thread::scope(|scope| {
        let ask = || {
            let looked = runtime.block_on(async { timeout(Duration::ZERO, &mut call).await });
            drop(io::copy(&mut io::stdin(), &mut io::sink()));
            looked
        };
        scope.spawn(ask).join()
    });
    println!("asked");
    let ended = match asked.map_err(|_panic| "the thread failed")? {
        Ok(ended) => ended,
        Err(_goes_on) => runtime.block_on(call),
    };
    match ended {
        Ok(output) => {
            print!("{:?}\n{}{}", output.code, String::from_utf8_lossy(&output.stdout), output.stderr);
        }
        Err(error) => println!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default()),
    }
    Ok(ExitCode::SUCCESS)
}
