//! Real processes, since a tool is nothing else.

use std::fs;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;

/// A timeout by which a script has come to its last line, on a machine that has much else to do, too.
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
async fn a_tool_gets_its_arguments_folder_input_and_environment_and_nothing_else() {
    let folder = TempDir::new().expect("a folder");
    let dir = folder.path().canonicalize().expect("is there");
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
    assert_eq!(
        (nothing.code, nothing.stdout),
        (None, vec![]),
        "no input is an empty one; a signal is no code"
    );
}

#[tokio::test]
async fn much_input_and_output_at_once_do_not_block_each_other() {
    let input = vec![b'x'; 1_000_000];
    let output = tool("cat").run(&[], Path::new("/"), Some(input.clone())).await.expect("starts");
    assert!(output.stdout == input);
    let unread = tool("true").run(&[], Path::new("/"), Some(input)).await.expect("starts");
    assert_eq!(unread.code, Some(0), "input need not be read");
}

#[tokio::test]
async fn output_is_bounded_and_errors_keep_both_ends() {
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
async fn what_cannot_be_started_says_why() {
    let cases = [
        ("no-such-tool", "/", "executable file not found in $PATH"),
        ("/no/such/tool", "/", "No such file or directory (os error 2)"),
        ("sh", "/no/such/folder", "working directory /no/such/folder is not there"),
    ];
    for (program, dir, expected) in cases {
        let error = tool(program).run(&[], Path::new(dir), None).await.expect_err("cannot start");
        assert_eq!(error.to_string(), format!("cannot start {program}"));
        let source = std::error::Error::source(&error).expect("a source");
        assert_eq!(source.to_string(), expected);
    }
}

/// Whether a process still runs; one that ended but was not waited for does not.
fn runs(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).expect("a process number");
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + Duration::from_mins(2);
    let mut again = tokio::time::interval(Duration::from_millis(2));
    while !holds() {
        assert!(Instant::now() < give_up_at, "{what}: not within two minutes");
        again.tick().await;
    }
}

#[tokio::test]
async fn at_the_timeout_the_group_may_remove_its_locks_and_is_ended() {
    let folder = TempDir::new().expect("a folder");
    let mut slow = tool("sh");
    slow.timeout = ENOUGH;
    let script = "touch lock; trap 'rm lock; exit 1' TERM; sleep 1000 & echo $! >child; wait";
    let started = Instant::now();
    let error = slow.run(&args(&["-c", script]), folder.path(), None).await.expect_err("takes too long");
    assert_eq!(error.to_string(), "sh did not end within 2s");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(!folder.path().join("lock").exists());
    until("the child ends", || !runs(&folder.path().join("child"))).await;

    let script = "trap '' TERM; sleep 1000 & echo $! >child; echo $$ >parent; wait; sleep 1000";
    slow.run(&args(&["-c", script]), folder.path(), None).await.expect_err("takes too long");
    for name in ["child", "parent"] {
        until(name, || !runs(&folder.path().join(name))).await;
    }
}

#[tokio::test]
async fn a_dropped_call_ends_the_group() {
    let folder = TempDir::new().expect("a folder");
    let sh = tool("sh");
    let args = args(&["-c", "sleep 1000 & echo $! >child; mv child there; wait"]);
    let there = folder.path().join("there");
    {
        let call = sh.run(&args, folder.path(), None);
        tokio::select! {
            output = call => panic!("{output:?}"),
            () = until("it runs", || there.exists()) => {}
        }
    }
    until("the child ends", || !runs(&there)).await;
}

#[tokio::test]
async fn a_descendant_that_keeps_the_pipes_is_not_waited_for() {
    let folder = TempDir::new().expect("a folder");
    let script = "head -c 65536 /dev/zero; echo err >&2; setsid sleep 1000 & echo $! >child";
    let output = tool("sh").run(&args(&["-c", script]), folder.path(), None).await.expect("does not wait");
    assert_eq!((output.code, output.stdout.len(), output.stderr.as_str()), (Some(0), 65536, "err\n"));
    let child = fs::read_to_string(folder.path().join("child")).expect("a number");
    let child = Pid::from_raw(child.trim().parse().expect("a number")).expect("a process");
    rustix::process::kill_process(child, Signal::KILL).expect("it was left alone");
}
