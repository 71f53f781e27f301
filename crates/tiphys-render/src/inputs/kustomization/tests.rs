use tiphys_source::RevisionIndex;
use tiphys_tree::RepoPath;

use super::super::paths::PathCollector;
use super::super::tells_of_others;
use super::super::tests::add_kustomization;
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
    let (mut collector, app) = (PathCollector::new(&index), RepoPath::new("app").unwrap());
    let content = |path: &RepoPath| {
        let file = files.iter().find(|(name, _)| path == name).unwrap();
        file.1.as_bytes().to_vec()
    };
    add_kustomization(&mut collector, &app, content).err()
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
    let cases: [Case; 10] = [
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
        ("a.txt", &[("app/a.txt", "A=b")], None),
        (
            "a.txt",
            &[("app/a.txt", "A")],
            Some("app/a.txt:1: a line without =, whose value may be that of the environment"),
        ),
        ("a.env", &[("app/a.env", "-> plain"), ("app/plain", "A=b")], None),
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

/// A kustomization, the files beside it, and the expected reason.
type ConfigurationCase<'a> = (String, &'a [(&'a str, &'a str)], Option<&'a str>);

#[test]
fn configurations_of_built_in_plugins_are_followed() {
    let patch = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: p.yaml\n";
    let base = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: ../base\n";
    let program = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {annotations: {a: b}}\n";
    let env = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nenvs: [e]\n";
    let other = "apiVersion: example.org/v1\nkind: PatchTransformer\n";
    let inline = |content: &str| format!("transformers: [{content:?}]");
    let by_file = "transformers: [t.yaml]".to_owned();
    let cases: [ConfigurationCase<'_>; 9] = [
        (by_file.clone(), &[("app/t.yaml", patch)], None),
        (by_file.clone(), &[], None),
        (inline(patch), &[], None),
        (
            by_file.clone(),
            &[("app/t.yaml", other)],
            Some(
                "app/kustomization.yaml: transformers: a plugin of kind \"PatchTransformer\" may read any file",
            ),
        ),
        (
            inline(program),
            &[],
            Some(
                "app/kustomization.yaml: transformers: a plugin of kind \"PatchTransformer\" may read any file",
            ),
        ),
        (
            "generators: [t.yaml]".to_owned(),
            &[("app/t.yaml", env), ("app/e", "A")],
            Some("app/e:1: a line without =, whose value may be that of the environment"),
        ),
        (
            by_file.clone(),
            &[("app/t.yaml", base), ("base/kustomization.yaml", "")],
            Some("app/kustomization.yaml: transformers names the directory ../base"),
        ),
        (
            "validators: [../base]".to_owned(),
            &[("base/kustomization.yaml", "")],
            Some("app/kustomization.yaml: ../base is a directory in its field validators"),
        ),
        (
            by_file,
            &[("app/t.yaml", "a: [")],
            Some("app/t.yaml cannot be read: line 1, column 5: expected a value"),
        ),
    ];
    for (kustomization, files, expected) in cases {
        let all: Vec<(&str, &str)> = [("app/kustomization.yaml", kustomization.as_str())]
            .into_iter()
            .chain(files.iter().copied())
            .collect();
        assert_eq!(reason(&all).as_deref(), expected, "{kustomization} {files:?}");
    }
}

#[test]
fn charts_of_the_repository_are_inputs() {
    let kustomization = |chart: &str| format!("helmGlobals: {{chartHome: ../charts}}\nhelmCharts: [{chart}]");
    let cases: [(&str, Option<&str>); 4] = [
        ("{name: web}", None),
        ("{name: web, version: 1.0.0, repo: 'https://charts.example.org'}", None),
        ("{name: other, version: 1.0.0, repo: 'https://charts.example.org'}", None),
        (
            "{name: other, version: ^1, repo: 'https://charts.example.org'}",
            Some("app/kustomization.yaml has a chart without an exact version"),
        ),
    ];
    for (chart, expected) in cases {
        let written = kustomization(chart);
        let files = [("app/kustomization.yaml", written.as_str()), ("charts/web/Chart.yaml", "name: web")];
        assert_eq!(reason(&files).as_deref(), expected, "{chart}");
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
