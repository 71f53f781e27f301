use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::super::super::tells_of_others;
use super::super::add;
use super::PathCollector;

const WHOLE: &str = " has a chart range of another repository; commit Chart.lock with exact versions, or the charts in charts/";

/// Returns the file with a range in the chart `c`; empty if the paths are known.
fn file_with_range(files: &[(&str, &str)]) -> String {
    let paths: Vec<RepoPath> = files.iter().map(|(path, _)| RepoPath::new(path).unwrap()).collect();
    let entries = paths.iter().zip(files).map(|(path, (_, content))| (path, false, content.as_bytes()));
    let index = RevisionIndex::of_memory(entries, tells_of_others).unwrap();
    match add(&mut PathCollector::new(&index), &RepoPath::new("c").unwrap()) {
        Ok(()) => String::new(),
        Err(reason) => reason.strip_suffix(WHOLE).unwrap_or(&reason).to_owned(),
    }
}

fn list(repository: &str, version: &str) -> String {
    format!("dependencies: [{{name: db, version: {version}, repository: '{repository}'}}]")
}

#[test]
fn only_exact_versions_of_remote_charts_are_known() {
    let cases = [
        ("https://example.org", "1.2.3", true),
        ("oci://example.org/charts", "v1.2.3-rc.1+x", true),
        ("@stable", "1.2.3", true),
        ("https://example.org", "^1.2.3", false),
        ("https://example.org", "'1.2'", false),
        ("https://example.org", "1", false),
        ("https://example.org", "''", false),
        ("https://example.org", "null", false),
        ("https://example.org", "'>=1.0.0'", false),
        ("oci://example.org/charts", "1.x", false),
        ("@stable", "'*'", false),
        ("alias:stable", "~1", false),
        ("HTTPS://example.org", "~1", false),
        ("", "^1.2.3", true),
        ("file://../lib", "^1.2.3", true),
    ];
    for (repository, version, is_known) in cases {
        let expected = if is_known { "" } else { "c/Chart.yaml" };
        assert_eq!(
            file_with_range(&[("c/Chart.yaml", &list(repository, version))]),
            expected,
            "{repository} {version}"
        );
    }
}

#[test]
fn range_is_known_with_a_lock_file_or_in_charts() {
    const REMOTE: &str = "https://example.org";
    let (range, exact) = (list(REMOTE, "^1"), list(REMOTE, "1.2.3"));
    let vendored = [("c/charts/db/Chart.yaml", "name: db")];
    let cases: [(&[(&str, &str)], &str); 17] = [
        (&[("c/Chart.lock", &exact)], ""),
        (&[("c/requirements.lock", &exact)], ""),
        (&[("c/Chart.lock", &range)], "c/Chart.lock"),
        (&[("c/Chart.lock", "")], "c/Chart.yaml"),
        // Helm uses the last.
        (&[("c/Chart.lock", &range), ("c/requirements.lock", &exact)], ""),
        (&[("c/Chart.lock", &exact), ("c/requirements.lock", &range)], "c/requirements.lock"),
        (&[("c/Chart.lock", &exact), ("c/requirements.lock", "")], "c/Chart.yaml"),
        (&vendored, ""),
        (&[("c/charts/other/Chart.yaml", "name: db")], ""),
        (&[("c/charts/db/Chart.yaml", "name: other")], "c/Chart.yaml"),
        (&[("c/charts/_db/Chart.yaml", "name: db")], "c/Chart.yaml"),
        (&[("c/charts/db-1.2.3-rc.1.tgz", "")], ""),
        (&[("c/charts/db-admin-1.2.3.tgz", "")], "c/Chart.yaml"),
        (&[("c/charts/db-1.2.3.tar.gz", "")], "c/Chart.yaml"),
        // Helm does not see it.
        (&[("c/Chart.lock", &exact), ("c/.helmignore", "# x\n*.lock\n")], "c/Chart.yaml"),
        (&[vendored[0], ("c/.helmignore", "/charts/\n")], "c/Chart.yaml"),
        (&[("c/Chart.lock", &exact), ("c/.helmignore", "# *\n.git/\n*.swp\n*~\n")], ""),
    ];
    for (files, expected) in cases {
        let all: Vec<(&str, &str)> =
            [("c/Chart.yaml", range.as_str())].into_iter().chain(files.iter().copied()).collect();
        assert_eq!(file_with_range(&all), expected, "{files:?}");
    }
}

#[test]
fn merged_lists_are_known_if_all_versions_are_exact() {
    let address = "dependencies: [{name: db, version: 1.0.0, repository: 'https://example.org'}]";
    let merged = |version: &str| {
        let other = format!("dependencies: [{{name: db, version: '{version}'}}]");
        file_with_range(&[("c/Chart.yaml", address), ("c/requirements.yaml", &other)])
    };
    assert_eq!(merged("1.2.3"), "");
    assert_eq!(merged("^1"), "c/requirements.yaml");
}

#[test]
fn dependency_of_a_dependency_is_never_fetched() {
    let files = [
        ("c/Chart.yaml", &*list("file://../lib", "1.0.0")),
        ("lib/Chart.yaml", &list("https://example.org", "^1")),
    ];
    assert_eq!(file_with_range(&files), "");
}

#[test]
fn control_character_in_an_address_widens() {
    let list = "dependencies: [{name: db, repository: \"fi\\u0001le://../lib\"}]";
    assert_eq!(
        file_with_range(&[("c/Chart.yaml", list)]),
        "c/Chart.yaml: a repository has a control character, which helm removes"
    );
}
