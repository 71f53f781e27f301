//! Lists and lock files that match, and those that do not.

use tiphys_chart::lock_digests;
use tiphys_model::access::{KnownRepositories, RepositoryAccess, RepositoryKind};

use super::{Listed, ListedError, ProjectRepositories};
use crate::chart::{Dependency, Lock};

fn dependency(name: &str, repository: &str) -> Dependency {
    let version = "1.0.0".to_owned().into();
    Dependency { name: name.to_owned(), repository: repository.to_owned(), version, ..Dependency::default() }
}

fn known() -> ProjectRepositories {
    let access = RepositoryAccess {
        url: "https://known.example.com".to_owned(),
        name: "known".to_owned(),
        kind: RepositoryKind::Helm,
        ..RepositoryAccess::default()
    };
    let repositories = KnownRepositories { repositories: vec![access], ..KnownRepositories::default() };
    ProjectRepositories { project: "default".to_owned(), repositories }
}

/// A list, and a lock file with the digest of another list.
fn listed(list: &[Dependency], entries: &[(&str, &str)], digested: &[Dependency]) -> Listed {
    let locked: Vec<Dependency> = entries.iter().map(|(name, place)| dependency(name, place)).collect();
    let [digest, _] = lock_digests(digested, &locked);
    let lock = Lock { file: "Chart.lock", dependencies: Some(locked), digest };
    Listed { dependencies: list.to_vec(), lock: Some(lock) }
}

#[test]
fn lock_file_must_have_the_addresses_of_the_list() {
    let list = [dependency("a", "https://a.example.com"), dependency("b", "@known"), dependency("c", "")];
    let named = [list[0].clone(), dependency("b", "https://known.example.com"), list[2].clone()];
    let cases: [(&[(&str, &str)], bool); 9] = [
        (&[("a", "https://a.example.com"), ("b", "https://known.example.com"), ("c", "")], true),
        (&[("a", "https://a.example.com"), ("b", "@known"), ("c", "")], true),
        (&[("b", "@known")], false),
        (&[("a", "https://known.example.com")], false),
        (&[("b", "https://a.example.com")], false),
        (&[("a", "")], false),
        (&[("a", "file:///elsewhere")], false),
        (&[("c", "file:///elsewhere")], false),
        (&[("d", "https://a.example.com")], false),
    ];
    for (entries, expected) in cases {
        assert_eq!(listed(&list, entries, &named).check(&known()).is_ok(), expected, "{entries:?}");
    }
}

#[test]
fn digest_must_be_that_of_the_list() {
    let list = [dependency("a", "https://a.example.com")];
    let entries = [("a", "https://a.example.com")];
    assert_eq!(listed(&list, &entries, &list).check(&known()), Ok(()));
    let other = Dependency { condition: "a.enabled".to_owned(), ..list[0].clone() };
    let error = listed(&list, &entries, &[other]).check(&known()).unwrap_err();
    assert_eq!(error, ListedError::OutOfSync { lock: "Chart.lock" });
}

#[test]
fn rejected_lock_file_is_reported_with_the_remedy() {
    let list = [dependency("a", "https://a.example.com")];
    let text = |repository| {
        listed(&list, &[("a", repository)], &list)
            .check(&ProjectRepositories::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        ["file:///elsewhere", ""].map(text),
        ["file:///elsewhere", "the directory charts"].map(|place| format!(
            "error building helm chart dependencies: Chart.lock has dependency a of {place}, which differs from the chart; run `helm \
             dependency update` and commit the file that it writes"
        ))
    );
}

#[test]
fn character_that_helm_may_remove_is_rejected() {
    for (repository, expected) in [
        ("f\u{200b}ile:///outside", Some('\u{200b}')),
        ("file://..\u{ad}/dep", Some('\u{ad}')),
        ("file://../große karte", None),
        ("file://../図", None),
        ("https://u:p@a.example.com/x?y=%20#z", None),
    ] {
        let listed = Listed { dependencies: vec![dependency("a", repository)], lock: None };
        let expected = expected.map(|character| ListedError::Character { name: "a".to_owned(), character });
        assert_eq!(listed.check(&ProjectRepositories::default()).err(), expected, "{repository}");
    }
}
