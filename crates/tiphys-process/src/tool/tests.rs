use std::fs;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tiphys_testkit::wait::eventually;

use super::*;

/// A timeout within which a script reaches its last line even on a loaded machine.
const ENOUGH: Duration = Duration::from_secs(2);

fn tool(program: &str) -> Tool {
    Tool {
        program: program.into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        timeout: Duration::from_secs(20),
        stdout_bytes_max: 1024 * 1024,
    }
}

fn args(args: &[&str]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

async fn shell(script: &str) -> Result<ToolOutput, ToolError> {
    tool("sh").run(&args(&["-c", script]), Path::new("/"), None).await
}

#[tokio::test]
async fn tool_gets_exactly_its_arguments_input_and_environment() {
    let directory = TempDir::new().expect("a directory");
    let dir = directory.path().canonicalize().expect("exists");
    let script = "printf '%s|' \"$0\" \"$1\"; pwd; cat; env | grep -v ^PWD= | sort; echo err >&2; exit 3";
    let mut tool = tool("sh");
    tool.env.push(("A".into(), "1".into()));
    tool.env.push(("A".into(), "2".into()));
    let output =
        tool.run(&args(&["-c", script, "a b", ""]), &dir, Some(b"input\n".to_vec())).await.expect("starts");
    let expected = format!("a b||{}\ninput\nA=2\nPATH=/usr/bin:/bin\n", dir.display());
    assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), expected);
    assert_eq!((output.code, output.stderr.as_str()), (Some(3), "err\n"));
    let nothing = shell("cat; kill -KILL $$").await.expect("starts");
    assert_eq!((nothing.code, nothing.stdout), (None, vec![]), "input is empty; no exit code after a signal");
}

#[tokio::test]
async fn large_input_and_output_do_not_deadlock() {
    let input = vec![b'x'; 1_000_000];
    let output = tool("cat").run(&[], Path::new("/"), Some(input.clone())).await.expect("starts");
    assert!(output.stdout == input);
    let unread = tool("true").run(&[], Path::new("/"), Some(input)).await.expect("starts");
    assert_eq!(unread.code, Some(0), "input need not be read");
}

#[tokio::test]
async fn stdout_is_limited_and_stderr_keeps_both_ends() {
    let error = shell("sleep 1000 & head -c 1048577 /dev/zero; sleep 1000").await.expect_err("too much");
    assert_eq!(error.to_string(), "sh printed more than 1048576 bytes");
    let output =
        shell("head -c 1048576 /dev/zero; echo first >&2; head -c 1000000 /dev/zero >&2; echo last >&2")
            .await;
    let output = output.expect("starts");
    assert_eq!(output.stdout.len(), 1_048_576);
    assert!(output.stderr.starts_with("first\n") && output.stderr.ends_with("last\n"));
    let left_out = 1_000_000 + "first\nlast\n".len() - STDERR_BYTES_MAX;
    assert!(output.stderr.contains(&format!("[… {left_out} bytes left out …]")));
}

#[tokio::test]
async fn failure_to_start_names_the_reason() {
    let cases = [
        ("no-such-tool", "/", "executable file not found in $PATH"),
        ("/no/such/tool", "/", "No such file or directory (os error 2)"),
        ("sh", "/no/such/directory", "working directory /no/such/directory does not exist"),
    ];
    for (program, dir, expected) in cases {
        let error = tool(program).run(&[], Path::new(dir), None).await.expect_err("cannot start");
        assert_eq!(error.to_string(), format!("cannot start {program}"));
        let source = std::error::Error::source(&error).expect("a source");
        assert_eq!(source.to_string(), expected);
    }
}

/// Whether a process runs and is not a zombie.
fn runs(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).expect("a process number");
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
}

#[tokio::test]
async fn timeout_terminates_then_kills_the_group() {
    let directory = TempDir::new().expect("a directory");
    let mut slow = tool("sh");
    slow.timeout = ENOUGH;
    let script = "touch lock; trap 'rm lock; exit 1' TERM; sleep 1000 & echo $! >child; wait";
    let started = Instant::now();
    let error = slow.run(&args(&["-c", script]), directory.path(), None).await.expect_err("takes too long");
    assert_eq!(error.to_string(), "sh did not end within 2s");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(!directory.path().join("lock").exists());
    eventually("the child ends", || !runs(&directory.path().join("child"))).await;

    let script = "trap '' TERM; sleep 1000 & echo $! >child; echo $$ >parent; wait; sleep 1000";
    slow.run(&args(&["-c", script]), directory.path(), None).await.expect_err("takes too long");
    for name in ["child", "parent"] {
        eventually(name, || !runs(&directory.path().join(name))).await;
    }
}

#[tokio::test]
async fn dropping_the_call_ends_the_group() {
    let directory = TempDir::new().expect("a directory");
    let sh = tool("sh");
    let args = args(&["-c", "sleep 1000 & echo $! >child; mv child there; wait"]);
    let there = directory.path().join("there");
    {
        let call = sh.run(&args, directory.path(), None);
        tokio::select! {
            output = call => panic!("{output:?}"),
            () = eventually("it runs", || there.exists()) => {}
        }
    }
    eventually("the child ends", || !runs(&there)).await;
}

#[tokio::test]
async fn descendant_that_keeps_the_pipes_is_not_waited_for() {
    let directory = TempDir::new().expect("a directory");
    let script = "head -c 65536 /dev/zero; echo err >&2; setsid sleep 1000 & echo $! >child";
    let output = tool("sh").run(&args(&["-c", script]), directory.path(), None).await.expect("does not wait");
    assert_eq!((output.code, output.stdout.len(), output.stderr.as_str()), (Some(0), 65536, "err\n"));
    let child = fs::read_to_string(directory.path().join("child")).expect("a number");
    let child = Pid::from_raw(child.trim().parse().expect("a number")).expect("a process");
    rustix::process::kill_process(child, Signal::KILL).expect("it was left alone");
}
