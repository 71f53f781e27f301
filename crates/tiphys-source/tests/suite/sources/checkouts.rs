//! The branches for which the files of a checkout are used.

use tiphys_source::{BasePoint, BaseRevision, CheckoutBranches, CheckoutUse, Sources};
use tiphys_testkit::git::Repository;

use crate::sources::workbench::{Workbench, files, path, source};

const URL: &str = "https://git.example.org/team/apps.git";

/// The topic's file, with a change that is not committed.
const CHANGED: &str = "app/a.yaml: uncommitted";

/// The use of a revision by the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It is used as named: its file.
    AsNamed(&'static str),
    Switched,
    /// Its file.
    Other(&'static str),
    /// Its file.
    Unknown(&'static str),
}

/// A repository with the branches `main` and `topic` and the tag `v1`, in which `topic` is checked out with a change.
fn parted(bench: &Workbench) -> Repository {
    let repository = bench.repository("apps");
    repository.write("app/a.yaml", "first").write("same/a.yaml", "same").commit("first");
    repository.git(&["tag", "v1"]);
    repository.write("app/a.yaml", "main").commit("main");
    repository.git(&["remote", "add", "origin", URL]);
    repository.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    repository.git(&["checkout", "--quiet", "-b", "topic", "v1"]);
    repository.write("app/a.yaml", "uncommitted");
    repository
}

fn sources(bench: &Workbench, copy: &str, checkout_branches: CheckoutBranches) -> Sources {
    bench.sources_with(|_, request| {
        request.copies = vec![bench.copy(copy)];
        request.checkout_branches = checkout_branches;
    })
}

/// Looks at a revision, and at the files that are rendered for it.
async fn used(bench: &Workbench, sources: &Sources, revision: &str) -> Use {
    let found = sources.checkout_use(&source(URL, revision), &path("app")).await.expect("it is known");
    let rendered = files(sources, URL, revision).await;
    let rendered: Vec<&str> =
        rendered.iter().map(String::as_str).filter(|file| file.starts_with("app/")).collect();
    let rendered = match rendered[..] {
        ["app/a.yaml: first"] => "first",
        ["app/a.yaml: main"] => "main",
        [CHANGED] => "uncommitted",
        _ => panic!("{rendered:?}"),
    };
    let apps = bench.path("apps").canonicalize().expect("it is there");
    match found {
        CheckoutUse::AsNamed => Use::AsNamed(rendered),
        CheckoutUse::Switched { dir } if dir == apps && rendered == "uncommitted" => Use::Switched,
        CheckoutUse::Other { dir } if dir == apps => Use::Other(rendered),
        CheckoutUse::Unknown { dir } if dir == apps => Use::Unknown(rendered),
        found => panic!("{found:?} with {rendered}"),
    }
}

fn changed(base: &str) -> CheckoutBranches {
    CheckoutBranches::Changed { base: Some(base.to_owned()) }
}

#[tokio::test]
async fn checkout_stands_for_the_branch_that_was_changed() {
    let bench = Workbench::new();
    parted(&bench);
    let none = || CheckoutBranches::Changed { base: None };
    let cases: [(&str, CheckoutBranches, Use); 11] = [
        ("apps", changed("main"), Use::Switched),
        ("apps", changed("origin/main"), Use::Switched),
        ("apps", changed("refs/heads/main"), Use::Switched),
        ("apps", changed("refs/remotes/origin/main"), Use::Switched),
        ("apps", changed("v1"), Use::Unknown("main")),
        ("apps", changed("HEAD~1"), Use::Unknown("main")),
        ("apps", none(), Use::Unknown("main")),
        ("apps", CheckoutBranches::Exact, Use::Other("main")),
        ("@main=apps", none(), Use::Switched),
        ("@main=apps", CheckoutBranches::Exact, Use::Switched),
        ("https://git.example.org/team/apps.git@main=apps", none(), Use::AsNamed("uncommitted")),
    ];
    for (copy, branches, expected) in cases {
        let sources = sources(&bench, copy, branches.clone());
        for revision in ["main", "refs/heads/main"] {
            assert_eq!(used(&bench, &sources, revision).await, expected, "{copy} {branches:?} {revision}");
        }
    }
}

#[tokio::test]
async fn other_revisions_stay_what_they_are() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    repository.git(&["branch", "third", "v1"]);
    let sources = sources(&bench, "apps", changed("main"));
    for revision in ["", "HEAD", "topic", "refs/heads/topic"] {
        assert_eq!(used(&bench, &sources, revision).await, Use::AsNamed("uncommitted"), "{revision:?}");
    }
    for revision in ["v1", "third", &repository.git(&["rev-parse", "v1"])] {
        assert_eq!(used(&bench, &sources, revision).await, Use::Other("first"), "{revision}");
    }
    let same = sources.checkout_use(&source(URL, "v1"), &path("same")).await.expect("it is known");
    assert_eq!(same, CheckoutUse::AsNamed, "its files are those that are checked out");
}

#[tokio::test]
async fn default_branch_of_the_remote_is_the_branch_that_was_changed() {
    let bench = Workbench::new();
    let repository = parted(&bench);
    repository.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    repository.git(&["checkout", "--quiet", "--detach"]);
    for base in [None, Some("v1".to_owned())] {
        let sources = sources(&bench, "apps", CheckoutBranches::Changed { base });
        assert_eq!(used(&bench, &sources, "main").await, Use::Switched);
    }
}

#[tokio::test]
async fn branch_that_was_changed_is_the_base_on_the_other_side() {
    let bench = Workbench::new();
    parted(&bench);
    let base = BaseRevision { name: "main".to_owned(), point: BasePoint::Revision };
    let then = sources(&bench, "apps", changed("main")).at(&base).await.expect("it is there");
    for revision in ["main", "topic", "HEAD"] {
        assert!(files(&then, URL, revision).await.contains(&"app/a.yaml: main".to_owned()), "{revision}");
    }
}
