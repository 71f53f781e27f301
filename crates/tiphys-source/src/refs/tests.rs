use super::{Refs, RevisionKind, revision_kind};

const LISTING: &str = "\
1111111111111111111111111111111111111111\tHEAD
1111111111111111111111111111111111111111\trefs/heads/main
2222222222222222222222222222222222222222\trefs/heads/v1.0
3333333333333333333333333333333333333333\trefs/pull/7/head
4444444444444444444444444444444444444444\trefs/tags/v1.0
5555555555555555555555555555555555555555\trefs/tags/v2.0
6666666666666666666666666666666666666666\trefs/tags/v2.0^{}
7777777777777777777777777777777777777777\trefs/remotes/origin/dev
";

#[test]
fn a_name_is_looked_up_in_argo_cds_order() {
    let refs = Refs::parse(LISTING);
    for (name, digit) in [
        ("", Some('1')),
        ("HEAD", Some('1')),
        ("main", Some('1')),
        ("v1.0", Some('2')),
        ("refs/tags/v1.0", Some('4')),
        ("v2.0", Some('6')),
        ("pull/7/head", Some('3')),
        ("refs/pull/7/head", Some('3')),
        ("tags/v1.0", Some('4')),
        ("dev", None),
        ("Main", None),
        ("refs/heads/none", None),
    ] {
        assert_eq!(refs.resolve(name).and_then(|id| id.chars().next()), digit, "{name:?}");
    }
    assert_eq!(refs.resolve_tracking("origin", "dev"), Some("7777777777777777777777777777777777777777"));
    assert_eq!(refs.resolve_tracking("other", "dev"), None);
}

#[test]
fn a_name_of_a_commit_is_a_ref() {
    let refs = Refs::parse(LISTING);
    assert_eq!(refs.name_of("1111111111111111111111111111111111111111"), Some("refs/heads/main"));
    assert_eq!(refs.name_of("9999999999999999999999999999999999999999"), None);
}

#[test]
fn a_revisions_shape_is_told_by_its_digits() {
    for (revision, expected) in [
        ("0123456789abcdefABCDEF012345678901234567", RevisionKind::Commit),
        ("0123456789abcdefABCDEF01234567890123456", RevisionKind::NameOrAbbreviation),
        ("deadbee", RevisionKind::NameOrAbbreviation),
        ("deadbe", RevisionKind::Name),
        ("deadbeg", RevisionKind::Name),
        ("", RevisionKind::Name),
        ("0123456789abcdefABCDEF0123456789012345678", RevisionKind::Name),
    ] {
        assert_eq!(revision_kind(revision), expected, "{revision}");
    }
}

#[test]
fn close_names_are_hinted_at() {
    let refs = Refs::parse(LISTING);
    for (revision, hint) in [
        ("mian", ""),
        ("mains", "; similar names: main"),
        ("mai", "; similar names: main"),
        ("v2", "; similar names: v2.0"),
        ("zzz", ""),
        (">= 1.0", "; a range of versions is not looked up among the tags of a git repository"),
    ] {
        assert_eq!(refs.hint(revision), hint, "{revision}");
    }
}

#[test]
fn lines_that_are_no_refs_are_left_out() {
    assert!(Refs::parse("ref: refs/heads/main\tHEAD\nwarning: x\n\t\nzz\trefs/heads/x\n").is_empty());
}
