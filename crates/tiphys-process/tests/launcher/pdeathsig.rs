//! Tools end with their parent, and the wrapper does not change them.

#![cfg(target_os = "linux")]

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use tempfile::TempDir;

/// Maximum wait for an expected event.
const PATIENCE: Duration = Duration::from_mins(2);

#[expect(clippy::disallowed_methods, reason = "what is tested is a program")]
fn test_tool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tiphys-test-tool"))
}

fn parent(dir: &Path, how: &str, program: &str, args: &[&str]) -> Command {
    let mut command = test_tool();
    command.arg(how).arg(program).args(args).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

fn report(dir: &Path, how: &str, program: &str, args: &[&str]) -> String {
    let output = parent(dir, how, program, args).output().expect("starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.strip_prefix("started\n").expect("a report").to_owned()
}

/// Waits until a process ended.
fn gone(process: &impl std::os::fd::AsFd) -> bool {
    let timeout = Timespec::try_from(PATIENCE).expect("short");
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)).expect("polls") == 1
}

#[test]
fn tool_ends_when_its_parent_is_killed() {
    let directory = TempDir::new().expect("a directory");
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    let script = "trap '' TERM HUP INT; echo $$ >pipe; read -r never <pipe";
    let mut parent = parent(directory.path(), "wrapped", "sh", &["-c", script]).spawn().expect("starts");
    let mut number = String::new();
    // Opens after the tool opened the other end; reading ends after the tool closed it.
    File::open(&pipe).expect("opens").read_to_string(&mut number).expect("reads");
    let tool = Pid::from_raw(number.trim().parse().expect("a number")).expect("a process");
    let tool = pidfd_open(tool, PidfdFlags::empty()).expect("it runs");
    parent.kill().expect("it is ours");
    parent.wait().expect("it is ours");
    assert!(gone(&tool));
}

#[test]
fn tool_outlives_the_thread_that_started_it() {
    let directory = TempDir::new().expect("a directory");
    let pipe = directory.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    let script = "echo >pipe; read -r line <pipe; echo \"$line\"";
    let mut parent = parent(directory.path(), "wrapped", "sh", &["-c", script]);
    let mut parent = parent.stdin(Stdio::piped()).spawn().expect("starts");
    File::open(&pipe).expect("opens").read_to_end(&mut Vec::new()).expect("reads");
    drop(parent.stdin.take());
    let mut out = BufReader::new(parent.stdout.take().expect("a pipe"));
    let mut output = String::new();
    out.read_line(&mut output).expect("reads");
    // Also open for reading, so that it opens without a reader.
    let mut pipe = File::options().read(true).write(true).open(&pipe).expect("opens");
    pipe.write_all(b"hello\n").expect("writes");
    out.read_to_string(&mut output).expect("reads");
    assert_eq!(output, "started\nSome(0)\nhello\n");
    assert!(parent.wait().expect("it is ours").success());
}

#[test]
fn wrapper_does_not_change_the_tool() {
    let directory = TempDir::new().expect("a directory");
    let script = "tr '\\0' '|' </proc/$$/cmdline; echo; tr '\\0' '\\n' </proc/$$/environ; pwd; echo \"$0 $1\"
        readlink /proc/$$/exe; ls /proc/$$/fd
        [ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] && echo leads its group; echo err >&2; exit 3";
    let [direct, wrapped] =
        ["direct", "wrapped"].map(|how| report(directory.path(), how, "sh", &["-c", script, "name", ""]));
    assert_eq!(wrapped, direct);
    assert!(direct.starts_with("Some(3)\nsh|-c|tr ") && direct.contains("leads its group\n"), "{direct}");
    let state = ["-E", "^(Sig(Blk|Ign|Cgt)|NoNewPrivs|Cap|Uid|Gid|Umask)", "/proc/self/status"];
    let [direct, wrapped] = ["direct", "wrapped"].map(|how| report(directory.path(), how, "grep", &state));
    assert_eq!(wrapped, direct);
    let ignored = wrapped.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).expect("is listed");
    let ignored = u64::from_str_radix(ignored, 16).expect("a number");
    assert_eq!(ignored & (1 << (Signal::PIPE.as_raw() - 1)), 0, "a broken pipe ends it");
}

#[test]
fn wrapper_reports_start_errors_like_a_direct_start() {
    let directory = TempDir::new().expect("a directory");
    let files = [
        ("plain", "text", 0o755),
        ("closed", "#!/bin/sh\n", 0o644),
        ("without-interpreter", "#!/nonexistent\n", 0o755),
        ("empty", "", 0o755),
    ];
    for (name, text, mode) in files {
        fs::write(directory.path().join(name), text).expect("writes");
        fs::set_permissions(directory.path().join(name), Permissions::from_mode(mode)).expect("is ours");
    }
    let cases = [
        ("no-such-program", "executable file not found in $PATH"),
        ("/nonexistent/program", "No such file or directory (os error 2)"),
        ("./plain", "Exec format error (os error 8)"),
        ("./empty", "Exec format error (os error 8)"),
        ("./closed", "Permission denied (os error 13)"),
        ("./without-interpreter", "No such file or directory (os error 2)"),
        ("/", "Permission denied (os error 13)"),
    ];
    for (program, cause) in cases {
        for how in ["direct", "wrapped"] {
            assert_eq!(
                report(directory.path(), how, program, &[]),
                format!("cannot start {program}: {cause}\n"),
                "{how}"
            );
        }
    }
    // Only the wrapper with the right token reports such a failure.
    for script in [
        "exit 126",
        "printf '\\0tiphys cannot start it: 2' >&2; exit 126",
        "printf '\\0tiphys cannot start it: 0000000000000000 2' >&2; exit 126",
        "echo cannot >&2; exit 126",
    ] {
        let [direct, wrapped] =
            ["direct", "wrapped"].map(|how| report(directory.path(), how, "sh", &["-c", script]));
        assert_eq!(wrapped, direct);
        assert!(direct.starts_with("Some(126)\n"), "{direct}");
    }
}

#[test]
fn wrapper_with_another_parent_executes_nothing() {
    let output = test_tool().args(["__pdeathsig", "1", "f00d", "/bin/echo", "echo", "hello"]).output();
    let output = output.expect("starts");
    assert_eq!(output.status.code(), Some(126));
    assert_eq!((output.stdout, output.stderr), (vec![], b"\0tiphys cannot start it: f00d 3".to_vec()));
}
