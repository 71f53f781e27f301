use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::super::tells_of_others;
use super::{PathCollector, add};

/// Returns why the result of the chart `c` depends on something outside of the repository, or why the whole revision counts.
fn reason(files: &[(&str, &str)]) -> String {
    let paths: Vec<RepoPath> = files.iter().map(|(path, _)| RepoPath::new(path).unwrap()).collect();
    let entries = paths.iter().zip(files).map(|(path, (_, content))| (path, false, content.as_bytes()));
    let index = RevisionIndex::of_memory(entries, tells_of_others).unwrap();
    let mut collector = PathCollector::new(&index);
    match add(&mut collector, &RepoPath::new("c").unwrap()) {
        Ok(()) => collector.outside().unwrap_or_default().to_owned(),
        Err(reason) => reason,
    }
}

fn list(repository: &str, version: &str) -> String {
    format!("dependencies: [{{name: db, version: {version}, repository: '{repository}'}}]")
}

const FETCHES: &str = "c/Chart.yaml has dependencies that helm fetches";

#[test]
fn dependency_with_an_address_is_fetched() {
    let cases = [
        ("https://example.org", FETCHES),
        ("HTTPS://example.org", FETCHES),
        ("oci://example.org/charts", FETCHES),
        ("@stable", FETCHES),
        ("alias:stable", FETCHES),
        ("", ""),
        ("file://../lib", ""),
    ];
    for (repository, expected) in cases {
        for version in ["1.2.3", "^1.2.3", "'*'", "null"] {
            assert_eq!(
                reason(&[("c/Chart.yaml", &list(repository, version))]),
                expected,
                "{repository} {version}"
            );
        }
    }
}

#[test]
fn chart_in_charts_is_not_fetched() {
    let exact = list("https://example.org", "1.2.3");
    let vendored = ("c/charts/db/Chart.yaml", "name: db");
    let cases: [(&[(&str, &str)], &str); 15] = [
        (&[vendored], ""),
        (&[("c/charts/other/Chart.yaml", "name: db")], FETCHES),
        (&[("c/charts/db/Chart.yaml", "name: other")], FETCHES),
        (&[("c/charts/_db/Chart.yaml", "name: db")], FETCHES),
        (&[("c/charts/db-1.2.3-rc.1.tgz", "")], ""),
        (&[("c/charts/db-admin-1.2.3.tgz", "")], FETCHES),
        (&[("c/charts/db-1-2.0.0.tgz", "")], FETCHES),
        (&[("c/charts/db-1.2.3.tar.gz", "")], FETCHES),
        // Helm does not see it.
        (&[vendored, ("c/.helmignore", "/charts/\n")], FETCHES),
        (&[vendored, ("c/.helmignore", "\u{feff}charts\n")], FETCHES),
        (&[vendored, ("c/.helmignore", "c*/d?/\n")], FETCHES),
        (&[vendored, ("c/.helmignore", "!README.md\n")], FETCHES),
        (&[vendored, ("c/.helmignore", "[cd]*\n")], FETCHES),
        (&[vendored, ("c/.helmignore", "# *\n.git/\n*.swp\n*~\n*.lock\n")], ""),
        // The list of the older file is merged over the other one.
        (&[vendored, ("c/requirements.yaml", "dependencies: [{name: cache}]")], FETCHES),
    ];
    for (files, expected) in cases {
        let all: Vec<(&str, &str)> =
            [("c/Chart.yaml", exact.as_str())].into_iter().chain(files.iter().copied()).collect();
        assert_eq!(reason(&all), expected, "{files:?}");
    }
}

#[test]
fn dependency_of_a_dependency_is_never_fetched() {
    let files = [
        ("c/Chart.yaml", &*list("file://../lib", "1.0.0")),
        ("lib/Chart.yaml", &list("https://example.org", "^1")),
    ];
    assert_eq!(reason(&files), "");
}

#[test]
fn control_character_in_an_address_widens() {
    let list = "dependencies: [{name: db, repository: \"fi\\u0001le://../lib\"}]";
    assert_eq!(
        reason(&[("c/Chart.yaml", list)]),
        "c/Chart.yaml: a repository has a control character, which helm removes"
    );
}
