//! The content of revisions without trees: their files.

use std::path::Path;

use tiphys_source::{ResolvedRevision, Sources};
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
        let read = sources.read_files(&revision, None, is_yaml, 5).await.expect("the files can be read");
        let read: Vec<_> = read.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        assert_eq!(
            read,
            [("a/x.yaml", &b"x"[..]), ("b/z.yaml", b"z"), ("module/inner.yaml", b"inner")],
            "{what}"
        );
        let error = sources.read_files(&revision, None, is_yaml, 4).await.expect_err("one file is too large");
        assert!(error.to_string().contains("inner.yaml has more than 4 bytes"), "{what}: {error}");
    }
}
