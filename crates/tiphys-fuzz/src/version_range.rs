//! Any text is a version, a range, or refused. What is a version is one when it is written and read again; ranges and the order of versions
//! agree with each other.

use tiphys_go::versions::{Version, VersionRange, newest};

/// The first line is a range, the others are versions.
pub(crate) fn body(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let range_text = lines.next().unwrap_or_default();
    let versions: Vec<&str> = lines.collect();
    for text in versions.iter().copied().chain([range_text]) {
        if let Ok(version) = Version::parse(text) {
            check(&version, text);
        }
    }
    check_order(&versions);
    let Ok(range) = VersionRange::parse(range_text) else { return };
    let found = range.newest(versions.iter().copied());
    for version in parsed(&versions) {
        let best = found.map(|found| Version::parse(found).expect("what is in a range is a version"));
        let is_newer = best.as_ref().is_none_or(|best| version.precedence(best).is_gt());
        assert!(
            !(range.matches(&version) && is_newer),
            "{version} is newer than {found:?} in {range_text:?}"
        );
    }
    if let Some(found) = found {
        let is_in = range.matches(&Version::parse(found).expect("it is a version"));
        assert!(versions.contains(&found) && is_in, "{found} is not in {range_text:?}");
    }
    // An alternative that is there already changes nothing, unless the text becomes too long or has too many of them.
    if let Ok(twice) = VersionRange::parse(&format!("{range_text} || {range_text}")) {
        for version in parsed(&versions) {
            assert_eq!(twice.matches(&version), range.matches(&version), "{version} in {range_text:?}");
        }
    }
}

fn parsed<'a>(versions: &'a [&'a str]) -> impl Iterator<Item = Version> + 'a {
    versions.iter().filter_map(|text| Version::parse(text).ok())
}

fn check(version: &Version, text: &str) {
    assert_eq!(version.text(), text);
    let written = version.to_string();
    let again = Version::parse(&written).expect("it was written by us");
    assert!(again.precedence(version).is_eq() && again.to_string() == written, "{text:?}");
    if let Ok(range) = VersionRange::parse(&format!("={written}")) {
        assert!(range.matches(version), "{text:?} is itself");
    }
}

fn check_order(versions: &[&str]) {
    for one in parsed(versions) {
        for other in parsed(versions) {
            let (order, reverse) = (one.precedence(&other), other.precedence(&one));
            assert_eq!(order, reverse.reverse(), "{one} and {other}");
        }
    }
    let best = newest(versions.iter().copied()).map(|best| Version::parse(best).expect("it is a version"));
    let is_newest = |best: &Version| parsed(versions).all(|other| other.precedence(best).is_le());
    assert!(best.as_ref().is_none_or(is_newest), "{best:?} of {versions:?}");
    assert_eq!(best.is_some(), parsed(versions).next().is_some());
}
