//! Versions, programs that are none, and how texts put it.

use std::fs;
use std::time::Duration;

use super::{Helm, HelmVersion, go_duration};
use crate::home::Home;
use crate::host::Host;
use crate::settings::Settings;
use crate::shown::Cleaner;

#[test]
fn a_version_needs_no_patch_part() {
    let cases = [
        ("v4.3.1", Some((4, 3, true))),
        ("v4.3", Some((4, 3, true))),
        ("v3.21.4+g0a1b2c3", Some((3, 21, true))),
        ("v3.20.0", Some((3, 20, true))),
        ("v3.19.9", Some((3, 19, false))),
        ("v2.17.0", Some((2, 17, false))),
        ("v5.0.0", Some((5, 0, false))),
        ("v4.3.0-rc.1", Some((4, 3, true))),
        ("v4.12.0", Some((4, 12, true))),
        ("v4.2.4", Some((4, 2, false))),
        ("v4.0", Some((4, 0, false))),
        ("4.3.1", None),
        ("v4", None),
        ("v4.x", None),
        ("v4.3.x", None),
        ("", None),
    ];
    for (text, expected) in cases {
        let parsed = HelmVersion::parse(text);
        let found = parsed.map(|version| (version.major, version.minor, version.is_supported()));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn durations_are_written_as_go_does() {
    let cases = [(1, "1s"), (60, "1m0s"), (90, "1m30s"), (3600, "1h0m0s"), (3725, "1h2m5s")];
    for (seconds, expected) in cases {
        assert_eq!(go_duration(Duration::from_secs(seconds)), expected);
    }
}

/// A shell by the name of helm takes the file `version` of its folder for a script.
#[test]
fn the_answer_of_a_program_that_was_replaced_meanwhile_is_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let shell = fs::canonicalize("/bin/sh").unwrap();
    let (program, newer) = (folder.path().join("helm"), folder.path().join("newer"));
    for path in [&program, &newer] {
        fs::copy(&shell, path).unwrap();
    }
    let variables = [("TIPHYS_HELM", program.to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
    let host = Host::made_up(folder.path(), &variables);
    let settings = Settings::read(&host).unwrap();
    for (script, remembered) in [
        (format!("mv {} {}\necho v4.3.1\n", newer.display(), program.display()), 0),
        ("echo v4.3.2\n".to_owned(), 1),
    ] {
        let home = Home::in_a_test(folder.path()).unwrap();
        home.write("version", script.as_bytes()).unwrap();
        let helm = Helm::new(&host, &settings, &home, Cleaner::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let version = runtime.block_on(helm.ask_version(&home)).unwrap();
        assert!(version.text.starts_with("v4.3."), "{version:?}");
        assert_eq!(fs::read_dir(home.versions().unwrap()).unwrap().count(), remembered, "{script}");
    }
}
