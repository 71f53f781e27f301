//! Versions, and helm's output for indexes.

use super::{index_failure, is_exact, shown_command};

#[test]
fn exact_version_has_three_numbers() {
    for version in ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+build.5", "0.0.0-a+b"] {
        assert!(is_exact(version), "{version}");
    }
    for version in [
        "",
        "1",
        "1.2",
        "1.x.3",
        "^1.2.3",
        "1.2.3 - 2.0.0",
        "1.2.3 || 2.0.0",
        ">=1.2.3",
        "1..3",
        "1.2.3-rc,2",
    ] {
        assert!(!is_exact(version), "{version}");
    }
}

#[test]
fn cause_of_missing_index_is_read_from_stdout() {
    let stdout = "Hang tight while we grab the latest from your chart repositories...\n\
                  ...Successfully got an update from the \"b\" chart repository\n\
                  ...Unable to get an update from the \"repository-0\" chart repository (https://a.example.com/x):\n\
                  \tfailed to fetch https://a.example.com/x/index.yaml : 401 Unauthorized\nUpdate Complete.\n";
    let cause = "failed to fetch https://a.example.com/x/index.yaml : 401 Unauthorized";
    assert_eq!(index_failure(stdout, "https://a.example.com/x").as_deref(), Some(cause));
    assert_eq!(index_failure(stdout, "https://a.example.com"), None);
}

#[test]
fn certificates_are_omitted_from_the_shown_command() {
    let arguments = ["dependency", "build", "--insecure-skip-tls-verify", "--ca-file", "/tmp/x/ca.pem"]
        .map(str::to_owned);
    assert_eq!(shown_command(&arguments), "helm dependency build --insecure-skip-tls-verify");
}
