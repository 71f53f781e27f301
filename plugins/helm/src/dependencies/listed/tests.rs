//! Lists and lock files that match, and those that do not.

use tiphys_model::access::{KnownRepositories, RepositoryAccess, RepositoryKind};

use super::{Listed, ListedError, ProjectRepositories};
use crate::chart::{Dependency, Lock};

fn dependency(name: &str, repository: &str) -> Dependency {
    Dependency { name: name.to_owned(), repository: repository.to_owned(), ..Dependency::default() }
}

fn lock(entries: &[(&str, &str)]) -> Lock {
    let entries = entries.iter().map(|(name, repository)| dependency(name, repository)).collect();
    Lock { file: "Chart.lock", dependencies: Some(entries) }
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

#[test]
fn lock_file_must_have_the_addresses_of_the_list() {
    let list =
        || vec![dependency("a", "https://a.example.com"), dependency("b", "@known"), dependency("c", "")];
    let cases: [(&[(&str, &str)], bool); 8] = [
        (&[("a", "https://a.example.com"), ("b", "https://known.example.com"), ("c", "")], true),
        (&[("b", "@known")], true),
        (&[("a", "https://known.example.com")], false),
        (&[("b", "https://a.example.com")], false),
        (&[("a", "")], false),
        (&[("a", "file:///elsewhere")], false),
        (&[("c", "file:///elsewhere")], false),
        (&[("d", "https://a.example.com")], false),
    ];
    for (entries, expected) in cases {
        let listed = Listed::of(list(), list(), vec![lock(entries)]);
        assert_eq!(listed.check(&known()).is_ok(), expected, "{entries:?}");
    }
}

#[test]
fn rejected_lock_file_is_reported_with_the_remedy() {
    let listed = |repository| {
        let locks = vec![lock(&[("a", repository)])];
        Listed::of(vec![dependency("a", "https://a.example.com")], Vec::new(), locks)
    };
    let texts = ["file:///elsewhere", ""]
        .map(|repository| listed(repository).check(&ProjectRepositories::default()).unwrap_err().to_string());
    assert_eq!(
        texts,
        ["file:///elsewhere", "the directory charts"].map(|place| format!(
            "error building helm chart dependencies: Chart.lock has dependency a of {place}, which differs from the chart; run `helm \
             dependency update` and commit the file that it writes"
        ))
    );
}

#[test]
fn dependencies_without_requirements_yaml_are_listed() {
    let own = vec![dependency("own", "file:///own"), dependency("b", "https://b.example.com")];
    let listed = Listed::of(vec![dependency("b", "https://b.example.com")], own.clone(), Vec::new());
    assert_eq!(listed.others, own[..1]);
    assert_eq!(listed.all().count(), 2);
}

#[test]
fn last_lock_file_decides_whether_versions_are_locked() {
    let empty = || Lock { file: "requirements.lock", dependencies: None };
    for (locks, expected) in [
        (vec![], false),
        (vec![lock(&[])], true),
        (vec![empty()], false),
        (vec![lock(&[]), empty()], false),
        (vec![empty(), lock(&[])], true),
    ] {
        assert_eq!(Listed::of(Vec::new(), Vec::new(), locks).is_locked(), expected);
    }
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
        let listed = Listed::of(vec![dependency("a", repository)], Vec::new(), Vec::new());
        let expected = expected.map(|character| ListedError::Character { name: "a".to_owned(), character });
        assert_eq!(listed.check(&ProjectRepositories::default()).err(), expected, "{repository}");
    }
}
