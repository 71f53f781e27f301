use std::fmt::Write as _;

use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::super::paths::PathCollector;
use super::super::{add_value_file, tells_of_others};
use super::unselected;

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

/// Returns the index of files, or links if they have targets.
fn index(files: &[(&str, &str)]) -> RevisionIndex {
    let paths: Vec<RepoPath> = files.iter().map(|(name, _)| path(name)).collect();
    let entries =
        paths.iter().zip(files).map(|(path, (_, target))| (path, !target.is_empty(), target.as_bytes()));
    RevisionIndex::of_memory(entries, tells_of_others).unwrap()
}

#[test]
fn existing_paths_outside_of_the_annotation_are_unselected() {
    let index = index(&[
        ("app/a.yaml", ""),
        ("current", "app"),
        ("deep/sub/a.yaml", ""),
        ("env/a.yaml", ""),
        ("env/b.yaml", ""),
    ]);
    let cases: [(&[&str], &[&str], &str); 6] = [
        (&["app"], &["app", "env/a.yaml", "missing"], "env/a.yaml"),
        (&["app", "env"], &["app", "env/a.yaml"], ""),
        // A part of a directory does not select it.
        (&["env/a.yaml"], &["env"], "env"),
        (&["env/a.yaml", "env/b.yaml"], &["env"], ""),
        (&["current"], &["app", "current"], ""),
        (&["app"], &["current", "app"], "current"),
    ];
    for (selected, inputs, expected) in cases {
        let mut collector = PathCollector::new(&index);
        for input in inputs {
            collector.add(&path(input), "").unwrap();
        }
        let selected: Vec<String> = selected.iter().map(|path| (*path).to_owned()).collect();
        let mut found = String::new();
        for path in unselected(&index, &selected, &collector.finish()) {
            write!(found, "{path}").unwrap();
        }
        assert_eq!(found, expected, "{selected:?} {inputs:?}");
    }
    let mut collector = PathCollector::new(&index);
    // Only files directly in it count.
    collector.add_files_of(&path("deep"), "").unwrap();
    assert_eq!(unselected(&index, &["app".to_owned()], &collector.finish()), []);
}

#[test]
fn pattern_that_matches_100_000_files_is_one_directory() {
    let paths: Vec<RepoPath> =
        (0..100_000).map(|number| path(&format!("env/{}/{number}.yaml", number % 100))).collect();
    let files = paths.iter().map(|path| (path, false, &b""[..]));
    let index = RevisionIndex::of_memory(files, tells_of_others).unwrap();
    let mut collector = PathCollector::new(&index);
    add_value_file(&mut collector, &path("app"), "../env/**/*.yaml").unwrap();
    let paths = collector.finish();
    assert_eq!(paths.all.keys().collect::<Vec<_>>(), [&path("env")]);
    assert_eq!(paths.files(&index, &path("env")).count(), 100_000);
}

#[test]
fn names_that_differ_in_case_are_two_files() {
    let digest = |content: &[u8]| {
        let (upper, lower) = (path("app/Values.yaml"), path("app/values.yaml"));
        let files = [(&upper, false, content), (&lower, false, &b"a"[..])];
        let index = RevisionIndex::of_memory(files, tells_of_others).unwrap();
        ["/app/values.yaml", "/app/Values.yaml"].map(|file| {
            let mut collector = PathCollector::new(&index);
            add_value_file(&mut collector, &RepoPath::default(), file).unwrap();
            collector.finish().digest(&index)
        })
    };
    let ([lower, upper], [lower_after, upper_after]) = (digest(b"a"), digest(b"b"));
    assert_eq!(lower, lower_after);
    assert_ne!(upper, upper_after);
}
