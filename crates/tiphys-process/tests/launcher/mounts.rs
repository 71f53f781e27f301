//! Commands that may mount, as those of a privileged container: what they mounted is not the run's to remove.

use std::fs;
use std::process::Command;

use super::orphans::run;
use super::support::{Place, Who};

/// A namespace in which the commands have the right to mount.
const PRIVILEGED: [&str; 3] = ["unshare", "--map-root-user", "--mount"];

/// Mounts folders and a file of the same device into the view and beside it.
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
fn what_a_command_has_mounted_outlives_its_run() {
    let [program, arguments @ ..] = PRIVILEGED;
    if !Command::new(program).args(arguments).arg("true").status().expect("unshare is there").success() {
        return; // Nobody can mount here.
    }
    for how in ["auto", "copy"] {
        for (name, end, expected) in [
            ("ends", "exit 0", "Exited(0)\nfinished\nchildren: 0\n"),
            ("still uses it", "cd m; sleep 1000 & exit 0", "Exited(0)\nfinished\nchildren: 0\n"),
            (
                "kills the launcher",
                "kill -KILL $LAUNCHER; exit 0",
                "launcher: died while a command ran\n\
                 launcher: died before it had ended the run: signal: 9 (SIGKILL)\nchildren: 0\n",
            ),
        ] {
            let place = Place::new(Who::Caller);
            place.folder_at("precious");
            place.folder_at("precious/deep");
            place.file("precious/file", "kept\n");
            place.file("precious/deep/file", "kept\n");
            let output = run(&place, &PRIVILEGED, how, &format!("{MOUNTS}\n{end}"));
            for file in ["precious/file", "precious/deep/file"] {
                assert_eq!(
                    fs::read_to_string(place.path(file)).ok().as_deref(),
                    Some("kept\n"),
                    "{how} {name}: {file}"
                );
            }
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{how} {name}: {output:?}");
            assert!(!place.path("run").exists(), "{how} {name}: nothing is mounted any more");
        }
    }
}
