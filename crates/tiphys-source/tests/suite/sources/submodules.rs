//! Submodules.

use tiphys_testkit::git::{Repository, git, listing};

use crate::sources::workbench::{Workbench, files, narrowed, render};

/// `remote` has `library` at `vendor/library`, and that has `leaf` at `leaf`; the URLs are relative.
fn nested(bench: &Workbench) -> Repository {
    bench.repository("leaf").write("leaf.yaml", "leaf").commit("first");
    let library = bench.repository("library");
    library.write("lib.yaml", "lib");
    library.git(&["submodule", "--quiet", "add", "--name", "leaf", "../leaf", "leaf"]);
    library.commit("first");
    let remote = bench.repository("remote");
    remote.write("app/a.yaml", "a");
    remote.git(&["remote", "add", "origin", &remote.url()]);
    library.git(&["remote", "add", "origin", &library.url()]);
    remote.git(&["submodule", "--quiet", "add", "--name", "library", "../library", "vendor/library"]);
    remote.commit("first");
    remote
}

#[tokio::test]
async fn submodules_are_followed_within_each_other() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    let names: Vec<String> = files(&bench.sources(), &remote.url(), "main")
        .await
        .into_iter()
        .filter(|line| !line.contains(".gitmodules"))
        .collect();
    assert_eq!(
        names,
        ["app/a.yaml: a", "vendor/library/leaf/leaf.yaml: leaf", "vendor/library/lib.yaml: lib"]
    );
}

#[tokio::test]
async fn another_commit_of_a_submodule_is_another_tree() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    let first = remote.head();
    Repository::init(bench.path("library")).write("lib.yaml", "changed").commit("second");
    remote.git(&["submodule", "--quiet", "update", "--remote", "vendor/library"]);
    remote.commit("second");
    let sources = bench.sources();
    let old = files(&sources, &remote.url(), &first).await;
    let new = files(&sources, &remote.url(), "main").await;
    assert!(old.contains(&"vendor/library/lib.yaml: lib".to_owned()), "{old:?}");
    assert!(new.contains(&"vendor/library/lib.yaml: changed".to_owned()), "{new:?}");
}

#[tokio::test]
async fn narrowing_reaches_into_a_submodule_and_fetches_no_other() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    let want = narrowed("app", &["vendor/library/leaf"]);
    let (_, tree) = render(&bench.sources(), &remote.url(), "main", &want).await.expect("it is there");
    assert_eq!(listing(tree.root()), ["app/a.yaml: a", "vendor/library/leaf/leaf.yaml: leaf"]);

    std::fs::remove_dir_all(bench.path("library")).expect("the repository can be removed");
    std::fs::remove_dir_all(bench.path("cache")).expect("the cache can be removed");
    let (_, tree) =
        render(&bench.sources(), &remote.url(), "main", &narrowed("app", &[])).await.expect("it is there");
    assert_eq!(listing(tree.root()), ["app/a.yaml: a"]);
}

#[tokio::test]
async fn a_missing_submodule_is_named() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    std::fs::remove_dir_all(bench.path("leaf")).expect("the repository can be removed");
    let refusal = bench.refusal(&bench.sources(), &remote.url(), "main").await;
    assert!(
        refusal.starts_with(
            "submodule vendor/library/leaf of repository file://$DIR/library: repository file://$DIR/leaf was not found"
        ),
        "{refusal}"
    );
}

#[tokio::test]
async fn submodule_outside_of_the_allowed_directories_is_refused() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    let sources = bench.sources_with(|_, request| request.file_repositories = vec![bench.path("remote")]);
    assert_eq!(
        bench.refusal(&sources, &remote.url(), "main").await,
        "submodule vendor/library of repository file://$DIR/remote: repository file://$DIR/library is on this machine; an Application \
         from a repository, or a submodule, may name only file:// repositories below a folder that the caller allows, and none that uses the objects of another one"
    );
}

#[tokio::test]
async fn a_submodule_that_nothing_says_the_url_of_is_refused_or_empty() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    remote.write(".gitmodules", "[submodule \"library\"]\n\tpath = vendor/library\n").commit("no URL");
    assert_eq!(
        bench.refusal(&bench.sources(), &remote.url(), "main").await,
        "submodule vendor/library of repository file://$DIR/remote: .gitmodules has no URL for it"
    );
    remote
        .write(".gitmodules", "[submodule \"other\"]\n\tpath = other\n\turl = ../library\n")
        .commit("another");
    assert_eq!(
        bench.refusal(&bench.sources(), &remote.url(), "main").await,
        ".gitmodules of repository file://$DIR/remote has no URL for the submodule at vendor/library"
    );
    remote.git(&["rm", "--quiet", "--cached", ".gitmodules"]);
    std::fs::remove_file(remote.dir().join(".gitmodules")).expect("the file can be removed");
    remote.commit("no file");
    assert_eq!(files(&bench.sources(), &remote.url(), "main").await, ["app/a.yaml: a", "vendor/library/"]);
}

#[tokio::test]
async fn a_submodule_that_is_not_to_be_updated_is_an_empty_folder() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    remote.git(&["config", "--file", ".gitmodules", "submodule.library.update", "none"]);
    remote.commit("left out");
    let files = files(&bench.sources(), &remote.url(), "main").await;
    assert!(files.contains(&"vendor/library/".to_owned()), "{files:?}");
}

#[tokio::test]
async fn a_working_copy_brings_the_files_of_its_submodules() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    let option = format!("{}=remote", remote.url());
    assert_eq!(
        bench.refusal(&bench.with_copies(&[&option]), &remote.url(), "HEAD").await,
        "local copy $DIR/remote: its submodule vendor/library/leaf is not checked out; run git -C $DIR/remote submodule update --init --recursive"
    );
    remote.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    std::fs::write(remote.dir().join("vendor/library/lib.yaml"), "edited").expect("the file can be written");
    let found = files(&bench.with_copies(&[&option]), &remote.url(), "HEAD").await;
    assert!(found.contains(&"vendor/library/lib.yaml: edited".to_owned()), "{found:?}");
    assert!(found.contains(&"vendor/library/leaf/leaf.yaml: leaf".to_owned()), "{found:?}");
    assert!(found.iter().all(|line| !line.contains(".git:")), "{found:?}");
}

#[tokio::test]
async fn commits_of_a_working_copy_take_submodules_from_where_it_has_them() {
    let bench = Workbench::new();
    let remote = nested(&bench);
    remote.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    remote.git(&["tag", "v1"]);
    for gone in ["leaf", "library"] {
        std::fs::remove_dir_all(bench.path(gone)).expect("the repository can be removed");
    }
    let option = format!("{}=remote", remote.url());
    let found = files(&bench.with_copies(&[&option]), &remote.url(), "v1").await;
    assert!(found.contains(&"vendor/library/leaf/leaf.yaml: leaf".to_owned()), "{found:?}");
}

#[tokio::test]
async fn a_folder_stands_for_a_submodules_repository_too() {
    let bench = Workbench::new();
    bench.repository("library").write("lib.yaml", "lib").commit("first");
    let remote = bench.repository("remote");
    remote.git(&[
        "submodule",
        "--quiet",
        "add",
        &format!("file://{}", bench.path("library").display()),
        "library",
    ]);
    remote.git(&[
        "config",
        "--file",
        ".gitmodules",
        "submodule.library.url",
        "https://git.example.org/library",
    ]);
    remote.commit("first");
    git(&bench.path(""), &["clone", "--quiet", "library", "clone"]);
    let sources = bench.with_copies(&["https://git.example.org/library.git=clone"]);
    let found = files(&sources, &remote.url(), "main").await;
    assert!(found.contains(&"library/lib.yaml: lib".to_owned()), "{found:?}");
}
