use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::super::paths::PathCollector;
use super::super::tells_of_others;
use super::{add, bare_line};

/// The env file as written, the files with their contents, and the expected reason.
type Case = (&'static str, &'static [(&'static str, &'static str)], Option<&'static str>);

/// Returns the reason why the whole revision counts for the kustomization in `app`.
fn reason(files: &[(&str, &str)]) -> Option<String> {
    let files: Vec<(RepoPath, &str)> =
        files.iter().map(|(path, content)| (RepoPath::new(path).unwrap(), *content)).collect();
    let entries = files.iter().map(|(path, content)| match content.strip_prefix("-> ") {
        Some(target) => (path, true, target.as_bytes()),
        None => (path, false, content.as_bytes()),
    });
    let index = RevisionIndex::of_memory(entries, tells_of_others).unwrap();
    add(&mut PathCollector::new(&index), &RepoPath::new("app").unwrap()).err()
}

#[test]
fn line_without_equals_sign_is_found_as_in_kustomize() {
    let cases: [(&[u8], Option<usize>); 12] = [
        (b"", None),
        (b"A=b\n", None),
        (b"# A\n\n  # B\n\t\r\nA=", None),
        (b"\xef\xbb\xbf# A\nA=b", None),
        (b"\xef\xbb\xbf\n", None),
        (b"=", None),
        (b"A", Some(1)),
        (b"\xef\xbb\xbfA\n", Some(1)),
        (b"A=b\r\nB\r\n", Some(2)),
        (b"A=b # B\nA B", Some(2)),
        // Only at the beginning of the file.
        (b"A=b\n\xef\xbb\xbf# B", Some(2)),
        (b"\xc2\xa0# A\n\xff", Some(2)),
    ];
    for (content, expected) in cases {
        assert_eq!(bare_line(content), expected, "{}", String::from_utf8_lossy(content));
    }
}

#[test]
fn env_file_that_is_not_understood_widens() {
    let generator = |file: &str| format!("configMapGenerator: [{{name: a, envs: ['{file}']}}]");
    let kustomization = "app/kustomization.yaml";
    let cases: [Case; 9] = [
        ("a.env", &[("app/a.env", "A=b")], None),
        (".env", &[("app/.env", "A=b")], None),
        ("missing", &[], None),
        (
            "a.env",
            &[("app/a.env", "A")],
            Some("app/a.env:1: a line without =, whose value may be that of the environment"),
        ),
        (
            "../shared/a.properties",
            &[("shared/a.properties", "A=b\nARGOCD_APP_REVISION")],
            Some("shared/a.properties:2: a line without =, whose value may be that of the environment"),
        ),
        (
            "a.txt",
            &[("app/a.txt", "A=b")],
            Some(
                "app/kustomization.yaml: the env file app/a.txt is not read; its name must end in .env or .properties",
            ),
        ),
        (
            "a.env",
            &[("app/a.env", "-> plain"), ("app/plain", "A=b")],
            Some(
                "app/kustomization.yaml: the env file app/plain is not read; its name must end in .env or .properties",
            ),
        ),
        ("link", &[("app/link", "-> a.env"), ("app/a.env", "A=b")], None),
        (
            "https://example.org/a.env?ref=0123456789abcdef0123456789abcdef01234567",
            &[],
            Some("app/kustomization.yaml names a remote env file"),
        ),
    ];
    for (file, files, expected) in cases {
        let document = generator(file);
        let all: Vec<(&str, &str)> =
            [(kustomization, document.as_str())].into_iter().chain(files.iter().copied()).collect();
        assert_eq!(reason(&all).as_deref(), expected, "{file}");
    }
}

#[test]
fn literal_without_equals_sign_is_left_to_kustomize() {
    // It is an error there, whatever the environment is.
    assert_eq!(reason(&[("app/kustomization.yaml", "configMapGenerator: [{name: a, literals: [A]}]")]), None);
}

#[test]
fn directory_without_a_kustomization_widens() {
    let base = ("app/kustomization.yaml", "resources: [../base]");
    let expected = Some("the directory \"base\" has no kustomization".to_owned());
    assert_eq!(reason(&[base, ("base/a.yaml", "")]), expected);
    assert_eq!(reason(&[base, ("base/a.yaml", ""), ("base/Kustomization", "-> missing")]), expected);
    assert_eq!(reason(&[base, ("base/Kustomization", "")]), None);
    assert_eq!(reason(&[base]), None);
}

#[test]
fn item_that_is_no_object_widens() {
    let written = "patches: [p.yaml]";
    let expected = "app/kustomization.yaml: an item of its field patches is not an object".to_owned();
    assert_eq!(reason(&[("app/kustomization.yaml", written)]), Some(expected));
}

/// Whether a resource that is no file is fetched at a fixed commit (`Some(true)`), is a missing file (`Some(false)`), or widens.
fn fetched(resource: &str) -> Option<bool> {
    let path = RepoPath::new("app/kustomization.yaml").unwrap();
    let written = format!("resources: [{resource:?}]");
    let index = RevisionIndex::of_memory([(&path, false, written.as_bytes())], tells_of_others);
    let index = index.unwrap();
    let mut collector = PathCollector::new(&index);
    add(&mut collector, &RepoPath::new("app").unwrap()).ok().map(|()| collector.finish().fetches)
}

#[test]
fn only_repositories_at_a_commit_are_understood() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let cases = [
        ("a.yaml", Some(false)),
        ("https://git.example.org/a.git//b?ref=COMMIT", Some(true)),
        ("https://git.example.org/a//b?ref=COMMIT", Some(true)),
        ("https://git.example.org/a.git?timeout=9s&ref=COMMIT", Some(true)),
        ("https://GitHub.com/team/a?ref=COMMIT", Some(true)),
        ("GitHub.com/team/a?ref=COMMIT", Some(true)),
        ("bob@git.example.org:team/a?ref=COMMIT", Some(true)),
        ("ssh://git.example.org/a?version=COMMIT", Some(true)),
        ("https://git.example.org/a.git//b?ref=main", None),
        ("https://git.example.org/a.git//b", None),
        ("https://git.example.org/a.git?ref=main&ref=COMMIT", None),
        ("https://git.example.org/a.git?ref=COMMIT&version=main", None),
        ("https://git.example.org/a.git?a=b?ref=COMMIT", None),
        ("https://git.example.org/a.git?%72ef=main&ref=COMMIT", None),
        ("https://git.example.org/a.git&ref=COMMIT", None),
        // A server may ignore the query.
        ("https://git.example.org/a.yaml?ref=COMMIT", None),
        ("GitHub.com/team/a", None),
        ("bob@git.example.org:team/a", None),
        ("GIT@git.example.org:team/a", None),
        ("git.example.org/a.git", None),
        ("a.yaml\n", Some(false)),
    ];
    for (resource, expected) in cases {
        assert_eq!(fetched(&resource.replace("COMMIT", commit)), expected, "{resource}");
    }
}

#[test]
fn inline_patch_is_no_path() {
    let written = "patchesStrategicMerge: [\"kind: A\\nmetadata: {name: 'a?b'}\", b.yaml]";
    assert_eq!(reason(&[("app/kustomization.yaml", written)]), None);
}
