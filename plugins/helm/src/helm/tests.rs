//! Versions, invalid programs, and formats of messages.

use std::fs;
use std::time::Duration;

use tiphys_helm_values::HelmVersion as Rules;

use super::{Helm, HelmVersion, KnownHelm, go_duration, rules_beside};
use crate::home::Home;
use crate::host::Host;
use crate::redaction::Redactor;
use crate::settings::Settings;

#[test]
fn version_may_lack_the_patch_number() {
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
fn engine_has_the_rules_of_some_versions() {
    let (three, four) = (Some(Rules::V3), Some(Rules::V4));
    let cases = [
        ("v4.3.1", four),
        ("v4.3.9", four),
        ("v4.4.0", None),
        ("v3.22.0", three),
        ("v3.22.4", three),
        ("v3.21.4", None),
        ("v3.23.0", None),
    ];
    for (text, expected) in cases {
        let known = KnownHelm::Version(HelmVersion::parse(text).unwrap());
        assert_eq!(known.builtin_rules().ok(), expected, "{text}");
    }
}

#[test]
fn rules_beside_a_helm_depend_on_version_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let (program, script) = (folder.path().join("helm"), folder.path().join("helm-script"));
    fs::copy(fs::canonicalize("/bin/sh").unwrap(), &program).unwrap();
    fs::write(&script, "#!/bin/sh\n").unwrap();
    assert_eq!(rules_beside(&program, "v4.3.1\n"), Ok("4.3"));
    assert_eq!(rules_beside(&program, "v3.22.0+g0a1b2c3"), Ok("3.22"));
    let is_older = |reason: &str| reason.contains("is not Helm 3.22");
    assert!(rules_beside(&program, "v3.21.4").is_err_and(is_older));
    assert!(rules_beside(&script, "v4.3.1").is_err_and(|reason| reason.contains("script")));
}

#[test]
fn durations_are_formatted_as_go_does() {
    let cases = [(1, "1s"), (60, "1m0s"), (90, "1m30s"), (3600, "1h0m0s"), (3725, "1h2m5s")];
    for (seconds, expected) in cases {
        assert_eq!(go_duration(Duration::from_secs(seconds)), expected);
    }
}

/// A shell with the name helm runs the file `version` of its directory as a script.
#[test]
fn version_of_a_replaced_program_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let shell = fs::canonicalize("/bin/sh").unwrap();
    let (program, newer) = (folder.path().join("helm"), folder.path().join("newer"));
    for path in [&program, &newer] {
        fs::copy(&shell, path).unwrap();
    }
    let variables = [("TIPHYS_HELM", program.to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
    let host = Host::for_test(folder.path(), &variables);
    let settings = Settings::read(&host).unwrap();
    for (script, recorded) in [
        (format!("mv {} {}\necho v4.3.1\n", newer.display(), program.display()), 0),
        ("echo v4.3.2\n".to_owned(), 1),
    ] {
        let home = Home::in_a_test(folder.path()).unwrap();
        home.write("version", script.as_bytes()).unwrap();
        let helm = Helm::new(&host, &settings, &home, Redactor::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let version = runtime.block_on(helm.ask_version(&home)).unwrap();
        assert!(version.text.starts_with("v4.3."), "{version:?}");
        assert_eq!(fs::read_dir(home.versions().unwrap()).unwrap().count(), recorded, "{script}");
    }
}
