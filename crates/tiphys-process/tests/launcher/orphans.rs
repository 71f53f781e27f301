//! Commands that kill their launcher: this process's own parent is one of the tests' programs, which adopts orphans.

use std::fs;
use std::process::{Command, Output, Stdio};

use super::support::{EVERYONE, Place, Who, is_root, mark};

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

pub(super) fn run(place: &Place, wrapper: &[&str], how: &str, script: &str) -> Output {
    place.folder_at("run");
    let mark = mark(place);
    let script = format!("MARK={mark} LAUNCHER=$PPID\n{script}");
    let mut words = wrapper.to_vec();
    words.push(env!("CARGO_BIN_EXE_tiphys-test-parent"));
    let (first, rest) = words.split_first().expect("a program");
    let mut parent = Command::new(first);
    parent.args(rest).arg(place.launcher_program()).arg(place.path("tree")).arg(place.path("run"));
    parent.args([how, &mark]).args(["sh", "-c", &script]).stdin(Stdio::null()).output().expect("starts")
}

const EXPECTED: &str = "launcher: died while a command ran\n\
                        launcher: died before it had ended the run: signal: 9 (SIGKILL)\n\
                        children: 0\n";

#[test]
fn who_kills_its_launcher_is_ended_with_all_that_it_left() {
    for who in EVERYONE {
        for (name, script) in ORPHANS {
            let place = Place::new(who);
            let output = run(&place, &[], "auto", script);
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
        let output = run(&place, &first_process, "auto", script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{name}: {output:?}");
        assert!(!place.path("run").exists(), "{name}");
    }
}

#[test]
fn what_a_launcher_without_descriptors_cannot_find_is_ended_all_the_same() {
    for who in EVERYONE {
        for how in ["auto", "copy"] {
            let place = Place::new(who);
            // As many as it has in any case, and as it polls.
            let script = "setsid env -i sh -c \"trap '' TERM; sleep 1000; : $MARK\" & \
                          prlimit --pid $LAUNCHER --nofile=5:5; exit 0";
            let output = run(&place, &[], how, script);
            assert_eq!(left(&mark(&place)), Vec::<String>::new(), "{who:?} {how}");
            let text = String::from_utf8_lossy(&output.stdout);
            let end =
                "Exited(0)\nlauncher: the launcher was left without descriptors, by which it finds processes";
            assert!(text.starts_with(end) && text.ends_with("children: 0\n"), "{who:?} {how}: {text}");
            assert!(!place.path("run").exists(), "{who:?} {how}");
        }
    }
}

/// Says in the launcher's name that all has ended, wherever its pipe can be opened: at its own end, or at the parent's, which the frame is for.
const FORGED: &str = r#"
    setsid env -i sh -c "trap '' TERM; sleep 1000; : $MARK" >/dev/null 2>&1 &
    parent=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$LAUNCHER/status)
    for pipe in $(find /proc/$parent/fd -lname 'pipe:*' -perm 500) /proc/$LAUNCHER/fd/1; do
        printf 'g\010\0\0\0\0\0\0\0\0\0\0\0' >$pipe && said=yes
    done
"#;

#[test]
fn a_launchers_last_word_is_not_believed_unless_it_exits_by_itself() {
    for (name, end) in [("killed", "kill -KILL $LAUNCHER"), ("stopped", "kill -STOP $LAUNCHER")] {
        let place = Place::new(Who::Caller);
        // The command is over for the parent as soon as it is told of an end that was not asked for.
        let output = run(&place, &[], "copy", &format!("{FORGED}[ $said ] || exit 9\n{end}; sleep 1000"));
        assert_eq!(left(&mark(&place)), Vec::<String>::new(), "{name}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("spoke out of turn"), "{name}: {output:?}");
        // Whether the parent asks the launcher for its end before the command gets to harming it is a matter of time.
        let ended = text.contains("died before it had ended the run: signal: 9 (SIGKILL)");
        assert!(ended || text.contains("\nfinished\n"), "{name}: {output:?}");
        assert!(text.ends_with("children: 0\n"), "{name}: {output:?}");
        assert!(!place.path("run").exists(), "{name}");
    }
}

#[test]
fn a_launcher_is_closed_to_commands_of_its_user() {
    for who in EVERYONE {
        if is_root() && !who.is_nobody() {
            continue; // May trace everybody.
        }
        for how in ["auto", "copy"] {
            let place = Place::new(who);
            let script = "for file in fd/0 fd/1 environ mem cwd/. root/.; do
                              if (: </proc/$LAUNCHER/$file) 2>/dev/null; then exit 9; fi; done; exit 0";
            let output = run(&place, &[], how, script);
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "Exited(0)\nfinished\nchildren: 0\n",
                "{who:?} {how}: {output:?}"
            );
        }
    }
}
