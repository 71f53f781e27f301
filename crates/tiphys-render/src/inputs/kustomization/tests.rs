use tiphys_model::resources::{GoFields as _, KustomizeSource};
use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::super::paths::PathCollector;
use super::super::tells_of_others;
use super::{add, bare_line};

/// The env file as written, the files with their contents, and the expected reason.
type Case = (&'static str, &'static [(&'static str, &'static str)], Option<&'static str>);

/// Returns the reason why the whole revision counts for the kustomization in `app`.
fn reason(files: &[(&str, &str)]) -> Option<String> {
    reasons(files).0
}

/// Returns the reasons why the whole revision counts, and why something outside of it does.
fn reasons(files: &[(&str, &str)]) -> (Option<String>, Option<String>) {
    let files: Vec<(RepoPath, &str)> =
        files.iter().map(|(path, content)| (RepoPath::new(path).unwrap(), *content)).collect();
    let entries = files.iter().map(|(path, content)| match content.strip_prefix("-> ") {
        Some(target) => (path, true, target.as_bytes()),
        None => (path, false, content.as_bytes()),
    });
    let index = RevisionIndex::of_memory(entries, tells_of_others).unwrap();
    let (mut collector, app) = (PathCollector::new(&index), RepoPath::new("app").unwrap());
    let whole = add(&mut collector, &app, None).err();
    (whole, collector.outside().map(str::to_owned))
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
        (".env.prod", &[("app/.env.prod", "A=b")], None),
        (
            "a.txt",
            &[("app/a.txt", "A=b")],
            Some("app/a.txt is an env file without .env or .properties in its name"),
        ),
        ("a.env", &[("app/a.env", "-> b.env"), ("app/b.env", "A=b")], None),
        (
            "a.env",
            &[("app/a.env", "-> plain"), ("app/plain", "A=b")],
            Some("app/a.env is a link to another name, or too large"),
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
fn charts_and_configurations_of_plugins_widen() {
    let fields = [
        ("generators", "[g.yaml]"),
        ("Transformers", "[t.yaml]"),
        ("validators", "['kind: A\n']"),
        ("helmCharts", "[{name: web}]"),
        ("helmGlobals", "{chartHome: ../charts}"),
        ("helmChartInflationGenerator", "[{chartName: web}]"),
    ];
    for (field, value) in fields {
        let expected = Some(format!("app/kustomization.yaml: its field {field} may read any file"));
        let written = format!("{field}: {value}");
        assert_eq!(reasons(&[("app/kustomization.yaml", &written)]), (expected.clone(), expected));
        assert_eq!(reasons(&[("app/kustomization.yaml", &format!("{field}: []"))]), (None, None));
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

/// Returns why the result of the kustomization in `app` depends on something outside of the repository.
fn outside(files: &[(&str, &str)]) -> Option<String> {
    reasons(files).1
}

#[test]
fn remote_base_is_outside_of_the_repository() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let cases = [
        ("a.yaml", false),
        ("a.yaml\n", false),
        ("https://git.example.org/a.git//b?ref=COMMIT", true),
        ("https://git.example.org/a.git//b?ref=main", true),
        ("https://git.example.org/a.yaml", true),
        ("https://git.example.org/a.env", true),
        ("GitHub.com/team/a", true),
        ("bob@git.example.org:team/a?ref=COMMIT", true),
        ("git.example.org/a.git", true),
    ];
    for (resource, is_outside) in cases {
        let written = format!("resources: [{:?}]", resource.replace("COMMIT", commit));
        let found = outside(&[("app/kustomization.yaml", &written)]);
        assert_eq!(
            found.is_some_and(|reason| reason.contains("kustomize fetches")),
            is_outside,
            "{resource}"
        );
    }
}

#[test]
fn remote_base_behind_something_not_understood_is_found() {
    let remote = "which kustomize fetches";
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("app/kustomization.yaml", "resources: [../x/../../.., https://example.org/a.git]")], remote),
        (
            &[
                ("app/kustomization.yaml", "patches: [p.yaml]\nresources: [../b]"),
                ("b/kustomization.yaml", ""),
            ],
            "is not an object",
        ),
        (
            &[
                ("app/kustomization.yaml", "resources: [../b]\nconfigMapGenerator: [{name: a, envs: [e]}]"),
                ("app/e", "A"),
                ("b/kustomization.yaml", "resources: [https://example.org/a.git]"),
            ],
            remote,
        ),
        (&[("app/kustomization.yaml", "-> k.yaml"), ("app/k.yaml", "")], "is a link to another name"),
        (&[("app/kustomization.yaml", "resources: [")], ""),
    ];
    for (files, expected) in cases {
        let found = outside(files).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{files:?}: {found}");
    }
}

#[test]
fn inline_patch_is_no_path() {
    let written = "patchesStrategicMerge: [\"kind: A\\nmetadata: {name: 'a?b'}\", b.yaml]";
    assert_eq!(reason(&[("app/kustomization.yaml", written)]), None);
}

#[test]
fn components_and_patches_of_the_block_are_inputs() {
    let block = serde_json::json!({
        "components": ["../comp", "gone"],
        "patches": [{"path": "p.yaml"}, {"patch": "x"}],
    });
    let block = KustomizeSource::of_json(&block).expect("a block");
    let files: [(&str, &[u8]); 5] = [
        ("app/kustomization.yaml", b"resources: []"),
        ("app/p.yaml", b""),
        ("app/other.yaml", b""),
        ("comp/kustomization.yaml", b"resources: [c.yaml]"),
        ("comp/c.yaml", b""),
    ];
    let files: Vec<(RepoPath, &[u8])> =
        files.iter().map(|(path, content)| (RepoPath::new(path).unwrap(), *content)).collect();
    let entries = files.iter().map(|(path, content)| (path, false, *content));
    let index = RevisionIndex::of_memory(entries, tells_of_others).unwrap();
    let (mut collector, app) = (PathCollector::new(&index), RepoPath::new("app").unwrap());
    add(&mut collector, &app, Some(&block)).expect("known");
    let found = collector.finish();
    for (path, expected) in
        [("app/p.yaml", true), ("app/other.yaml", false), ("comp/c.yaml", true), ("app/gone", true)]
    {
        assert_eq!(found.all.contains_key(&RepoPath::new(path).unwrap()), expected, "{path}");
    }
    let outside =
        KustomizeSource::of_json(&serde_json::json!({"components": ["../../out"]})).expect("a block");
    let reason = add(&mut PathCollector::new(&index), &app, Some(&outside)).unwrap_err();
    assert_eq!(reason, "the kustomize block: ../../out leads out of the repository");
}
