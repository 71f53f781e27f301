use std::collections::BTreeMap;

use crate::access::known::tests::{access, known, of_project};
use crate::access::{ContextProject, RepositoryAccess, RepositoryUse};

use super::{source_access, submodule_access};

/// A project with these `sourceRepos`.
fn project(name: &str, source_repos: &[&str]) -> ContextProject {
    let source_repos = source_repos.iter().map(|&pattern| pattern.to_owned()).collect();
    ContextProject { name: name.to_owned(), source_repos }
}

#[test]
fn unpermitted_source_gets_no_secret_of_others() {
    const A: &str = "https://a.example.org/x";
    let all = access(A, "all");
    let own = of_project("team", access("https://b.example.org/x", "own"));
    let mut known = known(&[all, own], &[access("https://c.example.org", "template")]);
    known.certificates = BTreeMap::from([("a.example.org".to_owned(), "authority".to_owned())]);
    for (name, permitted, address, expected) in [
        ("team", &["*"][..], A, "all"),
        ("team", &["https://a.example.org/*"], A, "all"),
        ("team", &["https://c.example.org/*"], A, ""),
        ("team", &["*", "!https://a.example.org/*"], A, ""),
        ("team", &[], "https://b.example.org/x", "own"),
        ("other", &["*"], "https://b.example.org/x", ""),
        ("team", &["*"], "https://c.example.org/x", "template"),
        ("team", &[], "https://c.example.org/x", ""),
        ("", &[], A, ""),
    ] {
        for repository_use in [RepositoryUse::Git, RepositoryUse::Chart] {
            let found = source_access(&project(name, permitted), &known, address, repository_use).access;
            assert_eq!(found.username, expected, "{name} {permitted:?} {address} {repository_use:?}");
            assert_eq!(
                found.ca_data == "authority",
                address == A,
                "CA certificates of a server do not depend on the project"
            );
        }
    }
}

#[test]
fn submodule_gets_credentials_of_superproject_or_source() {
    const MODULE: &str = "https://a.example.org/module";
    let template = access("https://a.example.org", "template");
    let secret = access(MODULE, "secret");
    let without = access("https://a.example.org/super", "");
    for (repositories, templates, superproject, permitted, expected) in [
        (&[][..], &[&template][..], &template, &[][..], "template"),
        (&[], &[&template], &without, &[], ""),
        (&[], &[&template], &without, &["*"], "template"),
        (&[&secret], &[&template], &template, &[], ""),
        (&[&secret], &[&template], &template, &["*"], "secret"),
        (&[], &[], &template, &["*"], ""),
    ] {
        let owned = |list: &[&RepositoryAccess]| list.iter().map(|&one| one.clone()).collect::<Vec<_>>();
        let known = known(&owned(repositories), &owned(templates));
        let found = submodule_access(&project("team", permitted), &known, superproject, MODULE);
        assert_eq!(found.access.username, expected, "{known:?} {permitted:?}");
    }
}
