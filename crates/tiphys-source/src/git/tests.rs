use std::ffi::OsString;

use super::failure::{Failure, classify};
use super::{base_environment, shown, version_of};
use crate::{Secret, UserSettings};

fn pairs(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    list.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn git_gets_a_short_environment_in_which_nothing_prompts() {
    let given = pairs(&[
        ("PATH", "/bin"),
        ("HOME", "/home/me"),
        ("https_proxy", "http://p"),
        ("NO_PROXY", "h"),
        ("SSL_CERT_FILE", "/ca"),
        ("GIT_DIR", "/elsewhere"),
        ("GIT_SSH_COMMAND", "evil"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("LANG", "de_DE"),
    ]);
    let passed = [
        ("PATH", "/bin"),
        ("HOME", "/home/me"),
        ("https_proxy", "http://p"),
        ("NO_PROXY", "h"),
        ("SSL_CERT_FILE", "/ca"),
        ("GIT_SSL_CAINFO", "/ca"),
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", ""),
        ("GCM_INTERACTIVE", "never"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];
    let own = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];
    assert_eq!(base_environment(&given, UserSettings::Honoured), pairs(&passed));
    assert_eq!(base_environment(&given, UserSettings::Ignored), pairs(&[&passed[..], &own].concat()));
}

#[test]
fn what_git_says_is_shown_without_secrets() {
    let said = "remote: x\n\nfatal: s3cret in 'https://u:pw@h/x' https://u:pw@h/y";
    assert_eq!(
        shown(said, &[Secret::new("s3cret")]),
        "remote: x; fatal: *** in 'https://u:***@h/x' https://u:***@h/y"
    );
    assert_eq!(shown(" \n", &[]), "git said nothing");
    assert_eq!(
        shown("fatal: no\nTo allow it, call:\n\n\tgit x\n", &[]),
        "fatal: no; To allow it, call: git x"
    );
}

#[test]
fn messages_of_git_are_told_apart() {
    for (said, expected) in [
        ("fatal: Authentication failed for 'https://h/x/'", Failure::Credentials),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled", Failure::Credentials),
        (
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            Failure::Credentials,
        ),
        ("Host key verification failed.", Failure::Credentials),
        (
            "fatal: unable to access 'https://h/x/': The requested URL returned error: 403",
            Failure::Credentials,
        ),
        ("remote: Repository not found.\nfatal: repository 'https://h/x/' not found", Failure::Repository),
        ("fatal: '/x' does not appear to be a git repository", Failure::Repository),
        (
            "fatal: unable to access 'https://h/x/': The requested URL returned error: 301",
            Failure::Repository,
        ),
        ("fatal: unable to access 'https://h/x/': Could not resolve host: h", Failure::Network),
        ("ssh: connect to host h port 22: Connection refused", Failure::Network),
        ("fatal: remote error: upload-pack: not our ref 0123", Failure::Revision),
        ("error: Server does not allow request for unadvertised object 0123", Failure::Revision),
        ("fatal: dumb http transport does not support shallow capabilities", Failure::Revision),
        ("fatal: the remote end hung up unexpectedly", Failure::Other),
    ] {
        assert_eq!(classify(said), expected, "{said}");
    }
}

#[test]
fn versions_compare_by_number() {
    assert!(version_of("2.39.5 (Apple Git-154)") > version_of("2.31"));
    assert!(version_of("2.31.0.windows.1") >= version_of("2.31"));
    assert!(version_of("2.9.5") < version_of("2.31"));
    assert!(version_of("nonsense") < version_of("2.31"));
}
