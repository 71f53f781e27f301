use std::cmp::Ordering;

use super::{VERSION_BYTES_MAX, Version, VersionError};

#[test]
fn versions_may_be_partial_and_start_with_v() {
    for (text, expected) in [
        ("1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("v1.2.3", "1.2.3"),
        ("1.2.3-rc.1+build.5", "1.2.3-rc.1+build.5"),
        ("1-alpha", "1.0.0-alpha"),
        ("1.2+x", "1.2.0+x"),
        ("01.02.03", "1.2.3"),
        ("1.0.0--", "1.0.0--"),
        ("18446744073709551615.0.0", "18446744073709551615.0.0"),
    ] {
        let version = Version::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(version.to_string(), expected, "{text}");
        assert_eq!(version.text(), text);
    }
}

#[test]
fn invalid_version_is_rejected_with_argo_cd_message() {
    for (text, expected) in [
        ("", "invalid semantic version"),
        ("v", "invalid semantic version"),
        ("V1", "invalid semantic version"),
        ("vv1", "invalid semantic version"),
        (" 1", "invalid semantic version"),
        ("1 ", "invalid semantic version"),
        ("1.", "invalid semantic version"),
        ("1.2.3.4", "invalid semantic version"),
        ("1.x", "invalid semantic version"),
        ("^1", "invalid semantic version"),
        ("1.2.3-", "invalid semantic version"),
        ("1.2.3-a..b", "invalid semantic version"),
        ("1.2.3+a_b", "invalid semantic version"),
        ("1.2.3-ü", "invalid semantic version"),
        ("main", "invalid semantic version"),
        ("1.2.3-01", "version segment starts with 0"),
        ("18446744073709551616", "error parsing version segment: value out of range"),
    ] {
        let error = Version::parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn version_length_is_limited() {
    let longest = format!("1.0.0-{}", "a".repeat(VERSION_BYTES_MAX - 6));
    assert!(Version::parse(&longest).is_ok());
    let error = Version::parse(&format!("{longest}a")).expect_err("too long");
    assert_eq!(error, VersionError::Length);
    assert_eq!(error.to_string(), "version string is too long (max 256 bytes)");
}

#[test]
fn precedence_ignores_build_metadata() {
    // In ascending order.
    let ordered = [
        "0.9",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-99999999999999999999999",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.1.x",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-rc.2",
        "1.0.0-rc.11",
        "1.0.0",
        "1.0.1",
        "1.1",
        "2",
        "10",
    ]
    .map(|text| Version::parse(text).expect(text));
    for (index, version) in ordered.iter().enumerate() {
        for (other_index, other) in ordered.iter().enumerate() {
            assert_eq!(version.precedence(other), index.cmp(&other_index), "{version} and {other}");
        }
    }
    let [one, other] = ["1.0.0+a", "v1+b"].map(|text| Version::parse(text).expect(text));
    assert_eq!(one.precedence(&other), Ordering::Equal);
}
