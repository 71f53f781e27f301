//! Commands that kill their launcher. A test program that adopts orphans is the parent.

use std::fs;
use std::process::{Command, Output, Stdio};

use super::support::{ALL_USERS, TestDir, User, is_root, mark};

/// Scripts that kill their launcher. `$MARK` is in the arguments of processes without an environment, `$LAUNCHER` is the launcher.
const ORPHANS: [(&str, &str); 8] = [
    ("only goes on", "kill -KILL $LAUNCHER; sleep 1000; true"),
    ("ends itself, too", "sleep 1000 & kill -KILL $LAUNCHER"),
    ("ignores SIGTERM", "trap '' TERM; sleep 1000 & kill -KILL $LAUNCHER; sleep 1000; sleep 1000"),
    (
        "leaves the session and its environment",
        "setsid env -i sh -c \"trap '' TERM; sleep 1000; : $MARK\" & kill -KILL $LAUNCHER; exit 0",
    ),
    (
        "is a daemon",
        "setsid sh -c 'setsid sh -c \"sleep 1000; true\" & exit 0' & wait; kill -KILL $LAUNCHER; exit 0",
    ),
    ("is stopped", "sh -c 'kill -STOP $$; sleep 1000' & kill -KILL $LAUNCHER; kill -STOP $$"),
    (
        "forks for ever",
        "f() { while :; do (sleep 1000 &); (exec setsid sh -c 'sleep 1000; true' &); done; }; f & f & sleep 0.05; kill -KILL $LAUNCHER; wait",
    ),
    (
        // Each process exits after starting the next one, so none is a child for long.
        "runs away",
        "export N='setsid sh -c \"trap true TERM; eval \\\"\\$N\\\"\" & exit 0'; eval \"$N\" & sleep 0.02; kill -KILL $LAUNCHER; sleep 1000",
    ),
];

/// Running processes with the mark in their environment or arguments; those of other users only for root.
fn left(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let marked = processes.filter(|process| {
        ["environ", "cmdline"].iter().any(|file| {
            let text = fs::read(process.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(mark)
        })
    });
    marked.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

pub(super) fn run(dir: &TestDir, wrapper: &[&str], how: &str, script: &str) -> Output {
    dir.directory_at("run");
    let mark = mark(dir);
    let script = format!("MARK={mark} LAUNCHER=$PPID\n{script}");
    let mut words = wrapper.to_vec();
    words.push(env!("CARGO_BIN_EXE_tiphys-test-parent"));
    let (first, rest) = words.split_first().expect("a program");
    let mut parent = Command::new(first);
    parent.args(rest).arg(dir.launcher_program()).arg(dir.path("tree")).arg(dir.path("run"));
    parent.args([how, &mark]).args(["sh", "-c", &script]).stdin(Stdio::null()).output().expect("starts")
}

const EXPECTED: &str = "launcher: died while a command ran\n\
                        launcher: died before it ended the run: signal: 9 (SIGKILL)\n\
                        children: 0\n";

#[test]
fn processes_of_a_killed_launcher_are_ended() {
    for user in ALL_USERS {
        for (name, script) in ORPHANS {
            let dir = TestDir::new(user);
            let output = run(&dir, &[], "auto", script);
            assert_eq!(left(&mark(&dir)), Vec::<String>::new(), "{user:?} {name}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{user:?} {name}: {output:?}");
            assert!(!dir.path("run").exists(), "{user:?} {name}: no process is left that writes to it");
        }
    }
}

#[test]
fn process_1_ends_processes_of_a_killed_launcher() {
    // An unprivileged user needs a user namespace for a PID namespace. The user ID stays the same in it.
    let first_process = ["unshare", "--map-current-user", "--pid", "--fork", "--mount-proc"];
    for (name, script) in ORPHANS {
        let dir = TestDir::new(User::Caller);
        let output = run(&dir, &first_process, "auto", script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{name}: {output:?}");
        assert!(!dir.path("run").exists(), "{name}");
    }
}

#[test]
fn launcher_without_descriptors_still_ends_its_processes() {
    for user in ALL_USERS {
        for how in ["auto", "copy"] {
            let dir = TestDir::new(user);
            // The number of descriptors that it has open, and that it polls.
            let script = "setsid env -i sh -c \"trap '' TERM; sleep 1000; : $MARK\" & \
                          prlimit --pid $LAUNCHER --nofile=5:5; exit 0";
            let output = run(&dir, &[], how, script);
            assert_eq!(left(&mark(&dir)), Vec::<String>::new(), "{user:?} {how}");
            let text = String::from_utf8_lossy(&output.stdout);
            let end = "Exited(0)\nlauncher: the launcher has no free file descriptors, so it cannot find the processes of the run";
            assert!(text.starts_with(end) && text.ends_with("children: 0\n"), "{user:?} {how}: {text}");
            assert!(!dir.path("run").exists(), "{user:?} {how}");
        }
    }
}

/// Forges the event that everything has ended, wherever the launcher's pipe can be opened: at its own end or at the parent's.
const FORGED: &str = r#"
    setsid env -i sh -c "trap '' TERM; sleep 1000; : $MARK" >/dev/null 2>&1 &
    parent=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$LAUNCHER/status)
    for pipe in $(find /proc/$parent/fd -lname 'pipe:*' -perm 500) /proc/$LAUNCHER/fd/1; do
        printf '\002\0\0\0\005\0' >$pipe && said=yes
    done
"#;

#[test]
fn forged_last_event_is_not_trusted() {
    for (name, end) in [("killed", "kill -KILL $LAUNCHER"), ("stopped", "kill -STOP $LAUNCHER")] {
        let dir = TestDir::new(User::Caller);
        // The parent stops waiting for the command when it gets an unexpected event.
        let output = run(&dir, &[], "copy", &format!("{FORGED}[ $said ] || exit 9\n{end}; sleep 1000"));
        assert_eq!(left(&mark(&dir)), Vec::<String>::new(), "{name}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("sent an unexpected message"), "{name}: {output:?}");
        // Either the parent closes the pipe first or the command harms the launcher first.
        let ended = text.contains("died before it ended the run: signal: 9 (SIGKILL)");
        assert!(ended || text.contains("\nfinished\n"), "{name}: {output:?}");
        assert!(text.ends_with("children: 0\n"), "{name}: {output:?}");
        assert!(!dir.path("run").exists(), "{name}");
    }
}

#[test]
fn commands_cannot_access_their_launcher() {
    for user in ALL_USERS {
        if is_root() && !user.switches_user() {
            continue; // May trace all processes.
        }
        for how in ["auto", "copy"] {
            let dir = TestDir::new(user);
            let script = "for file in fd/0 fd/1 environ mem cwd/. root/.; do
                              if (: </proc/$LAUNCHER/$file) 2>/dev/null; then exit 9; fi; done; exit 0";
            let output = run(&dir, &[], how, script);
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "Exited(0)\nfinished\nchildren: 0\n",
                "{user:?} {how}: {output:?}"
            );
        }
    }
}
