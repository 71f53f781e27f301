//! Commands that may mount, as in a privileged container: the content of their mounts is not removed.

use std::fs;
use std::process::Command;

use super::orphans::run;
use super::support::{TestDir, User};

/// A namespace in which the commands have the right to mount.
const PRIVILEGED: [&str; 3] = ["unshare", "--map-root-user", "--mount"];

/// Mounts directories and a file of the same device in the view and next to it.
const MOUNTS: &str = "
    set -e
    precious=$MARK/precious
    mkdir m 'a b' ../beside
    : >f
    mount --bind $precious m
    mount --bind $precious m/deep
    mount --bind $precious 'a b'
    mount --bind $precious/file f
    mount --bind $precious ../beside
";

#[test]
fn content_mounted_by_a_command_survives_the_run() {
    let [program, arguments @ ..] = PRIVILEGED;
    if !Command::new(program).args(arguments).arg("true").status().expect("unshare is installed").success() {
        return; // Mounting is not permitted here.
    }
    for how in ["auto", "copy"] {
        for (name, end, expected) in [
            ("ends", "exit 0", "Exited(0)\nfinished\nchildren: 0\n"),
            ("still uses it", "cd m; sleep 1000 & exit 0", "Exited(0)\nfinished\nchildren: 0\n"),
            (
                "kills the launcher",
                "kill -KILL $LAUNCHER; exit 0",
                "launcher: died while a command ran\n\
                 launcher: died before it ended the run: signal: 9 (SIGKILL)\nchildren: 0\n",
            ),
        ] {
            let dir = TestDir::new(User::Caller);
            dir.directory_at("precious");
            dir.directory_at("precious/deep");
            dir.file("precious/file", "kept\n");
            dir.file("precious/deep/file", "kept\n");
            let output = run(&dir, &PRIVILEGED, how, &format!("{MOUNTS}\n{end}"));
            for file in ["precious/file", "precious/deep/file"] {
                assert_eq!(
                    fs::read_to_string(dir.path(file)).ok().as_deref(),
                    Some("kept\n"),
                    "{how} {name}: {file}"
                );
            }
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{how} {name}: {output:?}");
            assert!(!dir.path("run").exists(), "{how} {name}: everything is unmounted");
        }
    }
}
