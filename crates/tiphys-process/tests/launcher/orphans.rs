//! Commands that kill their launcher: this process's own parent is one of the tests' programs, which adopts orphans.

use std::fs;
use std::process::{Command, Output, Stdio};

use super::support::{EVERYONE, Place, Who, mark};

/// What is left of a command's processes when its launcher is gone; `$MARK` is in the arguments of those without an environment, `$LAUNCHER`
/// is the launcher.
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
        // Each process ends as soon as it has started the next one, and so never is one's child for long.
        "runs away",
        "export N='setsid sh -c \"trap true TERM; eval \\\"\\$N\\\"\" & exit 0'; eval \"$N\" & sleep 0.02; kill -KILL $LAUNCHER; sleep 1000",
    ),
];

/// Processes that live, other than those of other users if this is not root, with the mark in their environment or arguments.
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

fn run(place: &Place, wrapper: &[&str], script: &str) -> Output {
    place.folder_at("run");
    let mark = mark(place);
    let script = format!("MARK={mark} LAUNCHER=$PPID\n{script}");
    let mut words = wrapper.to_vec();
    words.push(env!("CARGO_BIN_EXE_tiphys-test-parent"));
    let (first, rest) = words.split_first().expect("a program");
    let mut parent = Command::new(first);
    parent.args(rest).arg(place.launcher_program()).arg(place.path("tree")).arg(place.path("run")).arg(mark);
    parent.args(["sh", "-c", &script]).stdin(Stdio::null()).output().expect("starts")
}

const EXPECTED: &str = "launcher: died while a command ran\n\
                        launcher: died before it had ended the run: signal: 9 (SIGKILL)\n\
                        children: 0\n";

#[test]
fn who_kills_its_launcher_is_ended_with_all_that_it_left() {
    for who in EVERYONE {
        for (name, script) in ORPHANS {
            let place = Place::new(who);
            let output = run(&place, &[], script);
            assert_eq!(left(&mark(&place)), Vec::<String>::new(), "{who:?} {name}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{who:?} {name}: {output:?}");
            assert!(!place.path("run").exists(), "{who:?} {name}: nobody is left who could write to it");
        }
    }
}

#[test]
fn the_first_process_of_a_container_ends_what_a_killed_launcher_lost() {
    // The same number twice, since an unprivileged user needs a user namespace for it, in which the user stays who it is.
    let first_process = ["unshare", "--map-current-user", "--pid", "--fork", "--mount-proc"];
    for (name, script) in ORPHANS {
        let place = Place::new(Who::Caller);
        let output = run(&place, &first_process, script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{name}: {output:?}");
        assert!(!place.path("run").exists(), "{name}");
    }
}
