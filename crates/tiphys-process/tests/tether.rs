//! Tools of a process that is killed, and that a tool is what it is without a tether.

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

/// How long a test waits for what must happen.
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

fn told(dir: &Path, how: &str, program: &str, args: &[&str]) -> String {
    let output = parent(dir, how, program, args).output().expect("starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.strip_prefix("asked\n").expect("it says so").to_owned()
}

/// Waits until a process is gone.
fn gone(process: &impl std::os::fd::AsFd) -> bool {
    let timeout = Timespec::try_from(PATIENCE).expect("short");
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)).expect("polls") == 1
}

#[test]
fn a_tool_ends_with_a_process_that_is_killed() {
    let folder = TempDir::new().expect("a folder");
    let pipe = folder.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    let script = "trap '' TERM HUP INT; echo $$ >pipe; read -r never <pipe";
    let mut parent = parent(folder.path(), "tethered", "sh", &["-c", script]).spawn().expect("starts");
    let mut number = String::new();
    // It opens once the tool has opened its other end, and ends once that has closed it.
    File::open(&pipe).expect("opens").read_to_string(&mut number).expect("reads");
    let tool = Pid::from_raw(number.trim().parse().expect("a number")).expect("a process");
    let tool = pidfd_open(tool, PidfdFlags::empty()).expect("it runs");
    parent.kill().expect("it is ours");
    parent.wait().expect("it is ours");
    assert!(gone(&tool));
}

#[test]
fn a_tool_outlives_the_thread_that_asked_for_it() {
    let folder = TempDir::new().expect("a folder");
    let pipe = folder.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    let script = "echo >pipe; read -r line <pipe; echo \"$line\"";
    let mut parent = parent(folder.path(), "tethered", "sh", &["-c", script]);
    let mut parent = parent.stdin(Stdio::piped()).spawn().expect("starts");
    File::open(&pipe).expect("opens").read_to_end(&mut Vec::new()).expect("reads");
    drop(parent.stdin.take());
    let mut out = BufReader::new(parent.stdout.take().expect("a pipe"));
    let mut told = String::new();
    out.read_line(&mut told).expect("reads");
    // Open for reading, too, so that it opens though nobody is there.
    let mut pipe = File::options().read(true).write(true).open(&pipe).expect("opens");
    pipe.write_all(b"hello\n").expect("writes");
    out.read_to_string(&mut told).expect("reads");
    assert_eq!(told, "asked\nSome(0)\nhello\n");
    assert!(parent.wait().expect("it is ours").success());
}

#[test]
fn a_tool_is_the_same_with_a_tether_and_without() {
    let folder = TempDir::new().expect("a folder");
    let script = "tr '\\0' '|' </proc/$$/cmdline; echo; tr '\\0' '\\n' </proc/$$/environ; pwd; echo \"$0 $1\"
        readlink /proc/$$/exe; ls /proc/$$/fd
        [ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] && echo leads its group; echo err >&2; exit 3";
    let [direct, tethered] =
        ["direct", "tethered"].map(|how| told(folder.path(), how, "sh", &["-c", script, "name", ""]));
    assert_eq!(tethered, direct);
    assert!(direct.starts_with("Some(3)\nsh|-c|tr ") && direct.contains("leads its group\n"), "{direct}");
    let state = ["-E", "^(Sig(Blk|Ign|Cgt)|NoNewPrivs|Cap|Uid|Gid|Umask)", "/proc/self/status"];
    let [direct, tethered] = ["direct", "tethered"].map(|how| told(folder.path(), how, "grep", &state));
    assert_eq!(tethered, direct);
    let ignored = tethered.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).expect("it is told");
    let ignored = u64::from_str_radix(ignored, 16).expect("a number");
    assert_eq!(ignored & (1 << (Signal::PIPE.as_raw() - 1)), 0, "a broken pipe ends it");
}

#[test]
fn a_program_that_cannot_be_started_is_told_as_without_a_tether() {
    let folder = TempDir::new().expect("a folder");
    let files = [
        ("plain", "text", 0o755),
        ("closed", "#!/bin/sh\n", 0o644),
        ("without-interpreter", "#!/nonexistent\n", 0o755),
        ("empty", "", 0o755),
    ];
    for (name, text, mode) in files {
        fs::write(folder.path().join(name), text).expect("writes");
        fs::set_permissions(folder.path().join(name), Permissions::from_mode(mode)).expect("is ours");
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
        for how in ["direct", "tethered"] {
            assert_eq!(
                told(folder.path(), how, program, &[]),
                format!("cannot start {program}: {cause}\n"),
                "{how}"
            );
        }
    }
    // Only a tether speaks so.
    for script in [
        "exit 126",
        "printf '\\0tiphys cannot start it: 2' >&2; exit 126",
        "printf '\\0tiphys cannot start it: 0000000000000000 2' >&2; exit 126",
        "echo cannot >&2; exit 126",
    ] {
        let [direct, tethered] =
            ["direct", "tethered"].map(|how| told(folder.path(), how, "sh", &["-c", script]));
        assert_eq!(tethered, direct);
        assert!(direct.starts_with("Some(126)\n"), "{direct}");
    }
}

#[test]
fn a_tether_whose_parent_is_another_one_becomes_nothing() {
    let output = test_tool().args(["__tether", "1", "f00d", "/bin/echo", "echo", "hello"]).output();
    let output = output.expect("starts");
    assert_eq!(output.status.code(), Some(126));
    assert_eq!((output.stdout, output.stderr), (vec![], b"\0tiphys cannot start it: f00d 3".to_vec()));
}
