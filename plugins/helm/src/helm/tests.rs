//! Versions, programs that are none, and how texts put it.

use std::time::Duration;

use super::{HelmVersion, go_duration};

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
        ("v4.0.0-rc.1", Some((4, 0, true))),
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
