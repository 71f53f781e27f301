//! The content of revisions without trees: refs, metadata, files, changed paths.

use std::path::Path;
use std::sync::Arc;

use tiphys_model::access::ContextProject;
use tiphys_source::{ResolvedRevision, RevisionMetadata, Sources};
use tiphys_tree::RepoPath;

use crate::sources::workbench::{Workbench, path, source};

async fn resolve(sources: &Sources, url: &str, revision: &str) -> ResolvedRevision {
    sources.resolve(&source(url, revision)).await.expect("the revision exists")
}

async fn paths(sources: &Sources, revision: &ResolvedRevision, below: Option<&[RepoPath]>) -> Vec<String> {
    let files = sources.files(revision, below).await.expect("the files can be listed");
    files.into_iter().map(|file| file.path.as_str().to_owned()).collect()
}

#[tokio::test]
async fn refs_and_metadata_of_a_remote_are_returned() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository.write("a", "1").commit("first\n\nbody\n");
    repository.git(&["tag", "v1"]);
    repository.git(&["tag", "--annotate", "--message", "second tag", "v1.0"]);
    repository.git(&["branch", "feature/x"]);
    repository.write("a", "2").commit("second");
    let sources = bench.sources();
    let names = sources.ref_names(&Arc::new(ContextProject::default()), &repository.url()).await;
    let names = names.expect("the refs can be looked up");
    assert_eq!((names.branches, names.tags), (owned(&["feature/x", "main"]), owned(&["v1", "v1.0"])));
    let revision = resolve(&sources, &repository.url(), "v1").await;
    let metadata = sources.revision_metadata(&revision).await.expect("the commit can be read");
    let expected = RevisionMetadata {
        author: "A. Tester <tester@example.org>".to_owned(),
        date_seconds: 1_767_323_045,
        message: "first\n\nbody".to_owned(),
        tags: owned(&["v1", "v1.0"]),
    };
    assert_eq!(metadata, Some(expected));
}

#[tokio::test]
async fn files_of_a_revision_are_listed_and_read_with_submodules() {
    let bench = Workbench::new();
    let module = bench.repository("module");
    module.write("inner.yaml", "inner").commit("module");
    let repository = bench.repository("apps");
    repository
        .write("a/x.yaml", "x")
        .write("a/y.txt", "y")
        .write("b/z.yaml", "z")
        .link("link.yaml", "a/x.yaml");
    repository.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &module.url(),
        "module",
    ]);
    repository.commit("all");
    let remote = bench.sources();
    let copied = bench.with_copies(&[&format!("{}=apps", repository.url())]);
    for (what, sources) in [("remote", &remote), ("folder", &copied)] {
        let revision = resolve(sources, &repository.url(), "main").await;
        let all = paths(sources, &revision, None).await;
        let expected = [".gitmodules", "a/x.yaml", "a/y.txt", "b/z.yaml", "link.yaml", "module/inner.yaml"];
        assert_eq!(all, expected, "{what}");
        assert_eq!(paths(sources, &revision, Some(&[path("a")])).await, ["a/x.yaml", "a/y.txt"], "{what}");
        let is_yaml = |path: &RepoPath| Path::new(path.as_str()).extension().is_some_and(|it| it == "yaml");
        let read = sources.read_files(&revision, is_yaml, 5).await.expect("the files can be read");
        let read: Vec<_> = read.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        assert_eq!(
            read,
            [("a/x.yaml", &b"x"[..]), ("b/z.yaml", b"z"), ("module/inner.yaml", b"inner")],
            "{what}"
        );
        let error = sources.read_files(&revision, is_yaml, 4).await.expect_err("one file is too large");
        assert!(error.to_string().contains("inner.yaml has more than 4 bytes"), "{what}: {error}");
    }
}

#[tokio::test]
async fn changed_paths_have_another_mode_or_content() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository.write("same", "1").write("content", "1").write("mode", "1").write("gone", "1").commit("first");
    repository.git(&["tag", "first"]);
    repository.git(&["rm", "--quiet", "gone"]);
    repository.write("content", "2").write_executable("mode", "1").write("new", "1").commit("second");
    let sources = bench.sources();
    let first = resolve(&sources, &repository.url(), "first").await;
    let second = resolve(&sources, &repository.url(), "main").await;
    let changed = sources.changed_paths(&first, &second).await.expect("both can be listed");
    let changed: Vec<&str> = changed.iter().map(RepoPath::as_str).collect();
    assert_eq!(changed, ["content", "gone", "mode", "new"]);
    assert_eq!(sources.changed_paths(&second, &second).await.expect("it can be listed"), []);
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
