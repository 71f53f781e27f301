use super::{RANGE_ALTERNATIVES_MAX, RANGE_BYTES_MAX, RangeError, VersionRange, newest};
use crate::versions::Version;

/// A range, versions in it, versions outside it.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    ("*", &["0.0.0", "1.2.3"], &["1.2.3-rc.1"]),
    ("*-0", &["1.2.3-rc.1", "1.2.3"], &[]),
    ("1.x", &["1.0.0", "1.9"], &["2.0.0", "0.9.9", "1.1.0-rc.1"]),
    ("1", &["1.0.0", "1.9"], &["2.0.0"]),
    ("1.2", &["1.2.0", "1.2.9"], &["1.3.0"]),
    ("1.2.3", &["1.2.3", "v1.2.3", "1.2.3+b"], &["1.2.4", "1.2.3-rc.1"]),
    ("=1.2.3", &["1.2.3"], &["1.2.4"]),
    ("!=1.2.3", &["1.2.4", "1.2.2"], &["1.2.3"]),
    ("!=1.2", &["1.3.0", "2.2.1"], &["1.2.0", "1.2.7"]),
    ("!=1", &["2.0.0"], &["1.0.0", "1.9.9"]),
    ("!=*", &["0.0.1", "1.0.0"], &["0.0.0"]),
    (">1.2", &["1.3.0", "2.0.0"], &["1.2.9"]),
    (">1", &["2.0.0"], &["1.9.9"]),
    (">1.2.3", &["1.2.4"], &["1.2.3", "1.2.4-rc.1"]),
    (">1.2.3-0", &["1.2.3", "1.2.4-rc.1"], &["1.2.3-0"]),
    ("<1.2", &["1.1.9"], &["1.2.0"]),
    ("<2.0.0-0", &["1.9.9", "1.9.9-rc"], &["2.0.0-rc.1"]),
    (">=1.0.0 <2.0.0", &["1.0.0", "1.9.9"], &["2.0.0", "0.9.9"]),
    (">=1.0.0, <2.0.0", &["1.0.0", "1.9.9"], &["2.0.0"]),
    (">= 1.0.0,<2.0.0 ", &["1.0.0"], &["2.0.0"]),
    ("=>1.1 =<1.3", &["1.1.0", "1.3.9"], &["1.4.0", "1.0.9"]),
    ("<=1", &["1.9.9", "0.1.0"], &["2.0.0"]),
    ("<=1.2.3", &["1.2.3"], &["1.2.4"]),
    ("<=*", &["0.0.7"], &["0.1.0", "1.0.0"]),
    ("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]),
    ("~>1.2", &["1.2.0", "1.2.9"], &["1.3.0"]),
    ("~1", &["1.9.0"], &["2.0.0"]),
    ("~1.2.3-beta.2", &["1.2.3-beta.4", "1.2.4"], &["1.2.3-beta.1", "1.3.0"]),
    ("~0.0.0", &["5.0.0"], &[]),
    ("^1.2.3", &["1.2.3", "1.9.9"], &["2.0.0", "1.2.2"]),
    ("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0", "1.2.3"]),
    ("^0.2", &["0.2.0"], &["0.3.0"]),
    ("^0.0.3", &["0.0.3"], &["0.0.4"]),
    ("^0.0", &["0.0.9"], &["0.1.0"]),
    ("^0", &["0.9.0"], &["1.0.0"]),
    ("^2.0.0-0", &["2.1.0-rc.1", "2.0.0"], &["3.0.0-rc.1"]),
    ("1.2 - 1.4.5", &["1.2.0", "1.4.5"], &["1.4.6", "1.1.9"]),
    ("1.2 - 1.4", &["1.4.9"], &["1.5.0"]),
    ("~1.2.2 || 2 - 3.1", &["1.2.3", "2.5.0", "3.1.1"], &["1.3.0", "3.2.0"]),
    ("1.x||>=3", &["1.5.0", "3.0.0"], &["2.0.0"]),
    (">=1.0.0-0 <2 || >=3", &["1.5.0-rc.1", "3.0.0"], &["3.1.0-rc.1", "2.1.0"]),
    ("x.1.2", &["0.0.1", "7.0.0"], &[]),
    ("1.X.3", &["1.0.0", "1.9.9"], &["2.0.0"]),
];

#[test]
fn ranges_match_the_same_versions_as_in_helm() {
    for (text, inside, outside) in CASES {
        let range = VersionRange::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        for (versions, expected) in [(inside, true), (outside, false)] {
            for version in *versions {
                let parsed = Version::parse(version).expect(version);
                assert_eq!(range.matches(&parsed), expected, "{version} in {text}");
            }
        }
    }
}

#[test]
fn invalid_range_is_rejected_with_argo_cd_message() {
    for (text, expected) in [
        ("", "improper constraint: "),
        (" ", "improper constraint:  "),
        ("main", "improper constraint: main"),
        ("1.2.3.4", "improper constraint: 1.2.3.4"),
        (">>1", "improper constraint: >>1"),
        ("> =1", "improper constraint: > =1"),
        ("1 ||", "improper constraint: "),
        ("1,,2", "improper constraint: 1,,2"),
        ("1,", "improper constraint: 1,"),
        ("1 -2", "improper constraint: 1 -2"),
        ("~1 - 2", "improper constraint: ~>= 1, <= 2 "),
        ("1x", "constraint parser error"),
        ("1|2", "constraint parser error"),
        ("1.2.3-01", "constraint parser error"),
        (">99999999999999999999", "constraint parser error"),
    ] {
        let error = VersionRange::parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn range_length_and_alternatives_are_limited() {
    let longest = format!("1.0.0-{}", "a".repeat(RANGE_BYTES_MAX - 6));
    assert!(VersionRange::parse(&longest).is_ok());
    let error = VersionRange::parse(&format!("{longest}a")).expect_err("too long");
    assert_eq!(error, RangeError::Length);

    let most = vec!["1"; RANGE_ALTERNATIVES_MAX].join("||");
    assert!(VersionRange::parse(&most).is_ok());
    let error = VersionRange::parse(&format!("{most}||1")).expect_err("too many");
    assert_eq!(error, RangeError::Alternatives);
}

#[test]
fn newest_version_is_returned_as_written() {
    let versions = ["1.0.0", "v1.10", "nonsense", "1.9.0", "2.0.0-rc.1", "1.10.0+later"];
    for (text, expected) in
        [("*", Some("v1.10")), ("<1.10", Some("1.9.0")), (">=2.0.0-0", Some("2.0.0-rc.1")), (">=2", None)]
    {
        let range = VersionRange::parse(text).expect(text);
        assert_eq!(range.newest(versions), expected, "{text}");
    }
    assert_eq!(newest(versions), Some("2.0.0-rc.1"));
}
