use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Process, called_program};

fn host(arguments: &[&str], variables: &[(&str, &str)]) -> Process {
    Process::for_tests(arguments, variables)
}

#[test]
fn program_name_or_variable_selects_the_plugin_server() {
    type Case = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static [&'static str]);
    let cases: [Case; 5] = [
        (&["tiphys", "render"], &[], &["tiphys", "render"]),
        (&["/var/run/argocd/argocd-cmp-server"], &[], &["/var/run/argocd/argocd-cmp-server", "cmp-server"]),
        (
            &["argocd-cmp-server", "--loglevel", "info"],
            &[],
            &["argocd-cmp-server", "cmp-server", "--loglevel", "info"],
        ),
        (&["anything"], &[("ARGOCD_BINARY_NAME", "argocd-cmp-server")], &["anything", "cmp-server"]),
        (&["argocd-cmp-server"], &[("ARGOCD_BINARY_NAME", "tiphys")], &["argocd-cmp-server"]),
    ];
    for (given, variables, expected) in cases {
        assert_eq!(
            host(given, variables).arguments(),
            expected.iter().map(OsString::from).collect::<Vec<_>>(),
            "{given:?}"
        );
    }
}

#[test]
fn no_color_disables_styles_unless_empty() {
    assert!(host(&[], &[]).stderr_is_styled());
    assert!(host(&[], &[("NO_COLOR", "")]).stderr_is_styled());
    assert!(!host(&[], &[("NO_COLOR", "1")]).stderr_is_styled());
    let on_terminal = |variables: &[(&str, &str)]| Process { stdout_terminal: true, ..host(&[], variables) };
    assert!(!host(&[], &[]).stdout_is_styled(), "stdout is not a terminal");
    assert!(on_terminal(&[("TERM", "xterm")]).stdout_is_styled());
    assert!(on_terminal(&[("NO_COLOR", "")]).stdout_is_styled());
    assert!(!on_terminal(&[("NO_COLOR", "1")]).stdout_is_styled());
    assert!(!on_terminal(&[("TERM", "dumb")]).stdout_is_styled());
}

#[test]
fn without_proc_the_program_is_found_by_its_first_argument() {
    let cases = [
        ("/var/run/tiphys/argocd-cmp-server", Some("/var/run/tiphys/argocd-cmp-server")),
        ("./tiphys", Some("/current/./tiphys")),
        ("bin/tiphys", Some("/current/bin/tiphys")),
        ("tiphys", Some("/current/tools/tiphys")),
        ("other", Some("/usr/bin/other")),
        ("gone", None),
        ("/gone/tiphys", None),
        ("", None),
    ];
    let files = [
        "/var/run/tiphys/argocd-cmp-server",
        "/current/./tiphys",
        "/current/bin/tiphys",
        "/current/tools/tiphys",
        "/current/other",
        "/usr/bin/other",
        "/usr/bin/tiphys",
    ];
    for (called, expected) in cases {
        let found = called_program(
            Path::new(called),
            Path::new("/current"),
            ["tools", "/usr/bin"].map(PathBuf::from),
            |file| files.iter().any(|known| file.as_os_str() == *known),
        );
        assert_eq!(found, expected.map(PathBuf::from), "{called:?}");
    }
}

#[test]
fn a_variable_selects_gits_askpass_program() {
    let askpass = [("ARGOCD_BINARY_NAME", "argocd-git-ask-pass")];
    let question = "Username for 'https://git.example.org': ";
    for name in ["argocd", "tiphys", "/var/run/tiphys/argocd-cmp-server"] {
        assert_eq!(
            host(&[name, question], &askpass).askpass_questions(),
            Some(vec![question.to_owned()]),
            "{name}"
        );
    }
    assert_eq!(host(&["argocd"], &askpass).askpass_questions(), Some(vec![]));
    assert_eq!(host(&["argocd", question], &[]).askpass_questions(), None);
    assert_eq!(host(&["argocd", question], &[("ARGOCD_BINARY_NAME", "argocd")]).askpass_questions(), None);
}
