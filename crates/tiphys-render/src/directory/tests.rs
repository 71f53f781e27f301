use std::time::Duration;

use tiphys_engine::DirectoryPlan;
use tiphys_tree::{RepoPath, Store, StoreError, StoreOptions, Tree, TreeLimits};
use tokio_util::sync::CancellationToken;

use super::{DirectoryManifests, JsonnetEvaluator, LastFolder};

pub(super) const BYTES_MAX: u64 = 1 << 20;

pub(super) fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let limits = TreeLimits { entries_max: 100, bytes_max: 1 << 20 };
    let options = StoreOptions { dir: dir.path().join("store"), runs_dir: dir.path().join("runs"), limits };
    let store = Store::open(options).expect("the store opens");
    let tree = store.write_by_content(b"", |writer| -> Result<(), StoreError> {
        for (path, content) in files {
            writer.file(RepoPath::new(path).expect("a path inside"), false, content.as_bytes())?;
        }
        Ok(())
    });
    (dir, tree.expect("the tree is written"))
}

pub(super) fn app() -> RepoPath {
    RepoPath::new("app").expect("a path inside")
}

pub(super) fn manifest(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

async fn run(
    files: &[(&str, &str)],
    plan: &DirectoryPlan,
    bytes_max: u64,
) -> Result<DirectoryManifests, String> {
    let ((_dir, tree), cancel) = (tree(files), CancellationToken::new());
    let jsonnet = JsonnetEvaluator { program: None, timeout: Duration::ZERO, cancel: &cancel };
    let read = LastFolder::default().read(&tree, &app(), plan, bytes_max, &jsonnet).await;
    read.map_err(|error| tiphys_plugin::chain(&error))
}

fn names(found: &DirectoryManifests) -> Vec<&str> {
    found
        .documents
        .iter()
        .map(|node| node.at(["metadata", "name"]).and_then(|name| name.as_str()).expect("a name"))
        .collect()
}

fn files() -> Vec<(&'static str, String)> {
    vec![
        ("app/b.yaml", manifest("b") + "---\n" + &manifest("b2")),
        ("app/a.yml", manifest("a")),
        ("app/c.json", r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}"#.to_owned()),
        ("app/notes.txt", manifest("txt")),
        ("app/sub/d.yaml", manifest("d")),
        ("other/e.yaml", manifest("e")),
    ]
}

#[tokio::test]
async fn which_files_count_and_in_which_order() {
    let files = files();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let plan = |recurse, include: &str, exclude: &str| DirectoryPlan {
        recurse,
        include: Some(include.to_owned()).filter(|text| !text.is_empty()),
        exclude: Some(exclude.to_owned()).filter(|text| !text.is_empty()),
        ..DirectoryPlan::default()
    };
    let cases: [(DirectoryPlan, &[&str]); 6] = [
        (plan(false, "", ""), &["a", "b", "b2", "c"]),
        (plan(true, "", ""), &["a", "b", "b2", "c", "d"]),
        (plan(true, "*.yaml", ""), &["b", "b2", "d"]),
        (plan(true, "", "{b.yaml,sub/*}"), &["a", "c"]),
        (plan(true, "sub/*", "*d.yaml"), &[]),
        (DirectoryPlan { any_extension: true, ..DirectoryPlan::default() }, &["a", "b", "b2", "c", "txt"]),
    ];
    for (plan, expected) in cases {
        let found = run(&files, &plan, BYTES_MAX).await.expect("readable");
        assert_eq!(names(&found), expected, "{plan:?}");
        assert_eq!(found.warnings, Vec::<String>::new(), "{plan:?}");
    }
}

#[tokio::test]
async fn yaml_that_is_no_manifest_is_left_out_with_a_warning_and_a_broken_manifest_is_an_error() {
    let plan = DirectoryPlan::default();
    let found =
        run(&[("app/values.yaml", "replicas: 3\n"), ("app/template.yaml", "{{ if }}\n")], &plan, BYTES_MAX)
            .await
            .expect("left out");
    assert_eq!((found.documents.len(), found.warnings.len()), (0, 2), "{:?}", found.warnings);
    assert!(found.warnings[1].starts_with("app/values.yaml was left out"), "{:?}", found.warnings);
    let overrides = [".argocd-source.yaml", ".argocd-source-web.yaml", "sub/.argocd-source.yaml"];
    let files = overrides.map(|name| (format!("app/{name}"), "directory: {recurse: true}\n"));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let recursive = DirectoryPlan { recurse: true, ..DirectoryPlan::default() };
    let found = run(&files, &recursive, BYTES_MAX).await.expect("left out");
    assert_eq!(found, DirectoryManifests::default());
    let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [\n";
    let error =
        run(&[("app/broken.yaml", broken)], &plan, BYTES_MAX).await.expect_err("looks like a manifest");
    assert!(error.starts_with("app/broken.yaml: line "), "{error}");
}

#[tokio::test]
async fn marked_files_are_left_out_and_jsonnet_needs_its_program() {
    let plan = DirectoryPlan::default();
    let marked = "# +argocd:skip-file-rendering\n".to_owned() + &manifest("a");
    assert_eq!(
        run(&[("app/a.yaml", &marked)], &plan, BYTES_MAX).await.expect("skipped"),
        DirectoryManifests::default()
    );
    let error = run(&[("app/x.jsonnet", "{}")], &plan, BYTES_MAX).await.expect_err("jsonnet");
    assert!(error.starts_with("app/x.jsonnet: Jsonnet needs the program tiphys-native"), "{error}");
}

#[tokio::test]
async fn all_files_together_are_bounded() {
    let (a, b) = (manifest("a"), manifest("b"));
    let files = [("app/a.yaml", a.as_str()), ("app/b.yaml", b.as_str())];
    let total = (a.len() + b.len()) as u64;
    assert_eq!(run(&files, &DirectoryPlan::default(), total).await.expect("just fits").documents.len(), 2);
    let error = run(&files, &DirectoryPlan::default(), total - 1).await.expect_err("one byte too many");
    assert!(error.contains(&format!("more than {} bytes", total - 1)), "{error}");
}

#[tokio::test]
async fn a_malformed_pattern_is_named() {
    let plan = DirectoryPlan { include: Some("[".to_owned()), ..DirectoryPlan::default() };
    let error = run(&[("app/a.yaml", "")], &plan, BYTES_MAX).await.expect_err("malformed");
    assert_eq!(error, "directory.include: pattern \"[\": malformed character class");
}
