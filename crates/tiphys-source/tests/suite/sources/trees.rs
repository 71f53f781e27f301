//! Contents and names of trees.

use std::collections::HashSet;

use tiphys_testkit::git::listing;
use tiphys_tree::{Modes, TreeLimits};

use crate::sources::workbench::{Workbench, files, narrowed, path, render, whole};

#[tokio::test]
async fn a_tree_has_files_modes_and_links_and_no_git_folder() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    repository.write("d/e/f.yaml", "f").write_executable("run.sh", "#!/bin/sh").write("ä b.txt", "odd");
    repository.link("d/up", "../run.sh").link("d/dangling", "nothing");
    repository.commit("first");
    let expected =
        ["d/dangling -> nothing", "d/e/f.yaml: f", "d/up -> ../run.sh", "run.sh*: #!/bin/sh", "ä b.txt: odd"];
    assert_eq!(files(&bench.sources(), &repository.url(), "main").await, expected);
    let mut plain = whole();
    plain.modes = Modes::Plain;
    let (_, tree) = render(&bench.sources(), &repository.url(), "main", &plain).await.expect("it is there");
    assert_eq!(listing(tree.root())[3], "run.sh: #!/bin/sh");
}

#[tokio::test]
async fn many_files_are_written_by_several_threads() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    let mut expected: Vec<String> = (0..700)
        .map(|number| {
            repository.write(&format!("d{}/f{number}.yaml", number % 7), &format!("n: {number}"));
            format!("d{}/f{number}.yaml: n: {number}", number % 7)
        })
        .collect();
    expected.sort();
    repository.commit("first");
    assert_eq!(files(&bench.sources(), &repository.url(), "main").await, expected);
}

#[tokio::test]
async fn equal_trees_of_other_commits_and_repositories_are_one() {
    let bench = Workbench::new();
    let mut keys = HashSet::new();
    for (name, commits) in [("one", 1), ("two", 3)] {
        let repository = bench.repository(name);
        repository.write("a.yaml", "a");
        for number in 0..commits {
            repository.commit(&format!("{name} {number}"));
            let (_, tree) =
                render(&bench.sources(), &repository.url(), "main", &whole()).await.expect("it is there");
            keys.insert(tree.key());
        }
    }
    assert_eq!(keys.len(), 1, "{keys:?}");
}

#[tokio::test]
async fn modes_and_narrowing_are_part_of_the_key() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    repository.write("app/a.yaml", "a").write("lib/b.yaml", "b").commit("first");
    let mut plain = whole();
    plain.modes = Modes::Plain;
    let mut keys = HashSet::new();
    for want in [whole(), plain, narrowed("app", &[]), narrowed("app", &["lib"])] {
        let (_, tree) =
            render(&bench.sources(), &repository.url(), "main", &want).await.expect("it is there");
        keys.insert(tree.key());
    }
    assert_eq!(keys.len(), 4, "{keys:?}");
}

#[tokio::test]
async fn a_narrowed_tree_has_the_paths_and_the_applications_own() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    repository.write("apps/a/x.yaml", "x").write("apps/a/sub/y.yaml", "y").write("apps/b/z.yaml", "z");
    repository.write("lib/one.yaml", "1").write("lib/two.yaml", "2").write("README.md", "r");
    let first = repository.commit("first");
    for (paths, expected) in [
        (vec![], vec!["apps/a/sub/y.yaml: y", "apps/a/x.yaml: x"]),
        (vec!["lib/one.yaml"], vec!["apps/a/sub/y.yaml: y", "apps/a/x.yaml: x", "lib/one.yaml: 1"]),
        (
            vec!["lib", "apps/b"],
            vec![
                "apps/a/sub/y.yaml: y",
                "apps/a/x.yaml: x",
                "apps/b/z.yaml: z",
                "lib/one.yaml: 1",
                "lib/two.yaml: 2",
            ],
        ),
        (vec!["missing"], vec!["apps/a/sub/y.yaml: y", "apps/a/x.yaml: x"]),
    ] {
        let want = narrowed("apps/a", &paths);
        let (_, tree) =
            render(&bench.sources(), &repository.url(), "main", &want).await.expect("it is there");
        assert_eq!(listing(tree.root()), expected, "{paths:?}");
    }
    repository.write("README.md", "changed").commit("elsewhere");
    let want = narrowed("apps/a", &[]);
    let sources = bench.sources();
    let (_, before) = render(&sources, &repository.url(), &first, &want).await.expect("it is there");
    let (_, after) = render(&sources, &repository.url(), "main", &want).await.expect("it is there");
    assert_eq!(before.key(), after.key(), "a commit elsewhere keeps the tree");
}

#[tokio::test]
async fn links_on_the_way_to_a_narrowed_path_are_kept_and_followed() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    repository.write("releases/v2/app/a.yaml", "a").write("releases/v1/app/a.yaml", "old");
    repository.link("current", "releases/v2").link("latest", "current").commit("first");
    let want = narrowed("latest/app", &[]);
    let (_, tree) = render(&bench.sources(), &repository.url(), "main", &want).await.expect("it is there");
    assert_eq!(
        listing(tree.root()),
        ["current -> releases/v2", "latest -> current", "releases/v2/app/a.yaml: a"]
    );
}

#[tokio::test]
async fn a_link_that_leaves_the_repository_is_refused() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    repository.link("app/out", "../../etc/passwd").commit("first");
    assert_eq!(
        bench.refusal(&bench.sources(), &repository.url(), "main").await,
        "tree of repository file://$DIR/remote: repository contains out-of-bounds symlinks. file: app/out"
    );
}

#[tokio::test]
async fn a_git_lfs_pointer_under_the_applications_path_is_refused_by_name() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    repository.write("app/logo.png", pointer).write("app/z.png", pointer).write("other/a.yaml", "a");
    repository.commit("first");
    let url = repository.url();
    let expected = "app/logo.png of repository file://$DIR/remote is a Git LFS pointer and its content is elsewhere; \
                    Git LFS is not supported below the application's path (and 1 more)";
    let mut want = whole();
    want.app_path = path("app");
    // First the tree is written, then it is found in the store.
    for _ in 0..2 {
        assert_eq!(bench.refusal_of(&bench.sources(), &url, "main", &want).await, expected);
    }
    want.app_path = path("other");
    render(&bench.sources(), &url, "main", &want).await.expect("the pointers are elsewhere");
    let copy = bench.sources_with(|_, request| request.copies = vec![bench.copy(&format!("{url}=remote"))]);
    want.app_path = path("app");
    let refusal = bench.refusal_of(&copy, &url, "main", &want).await;
    assert!(refusal.starts_with("app/logo.png of repository $DIR/remote is a Git LFS pointer"), "{refusal}");
}

#[tokio::test]
async fn bounds_of_a_tree_are_kept() {
    let bench = Workbench::with_limits(TreeLimits { entries_max: 10, bytes_max: 1 << 20 });
    let repository = bench.repository("remote");
    for number in 0..20 {
        repository.write(&format!("f{number}"), "0123456789");
    }
    repository.commit("first");
    assert_eq!(
        bench.refusal(&bench.sources(), &repository.url(), "main").await,
        "tree of repository file://$DIR/remote: the tree has more than 10 entries: limit tree-entries-max"
    );
    let url = "https://git.example.org/apps";
    let copy = || bench.with_copies(&[&format!("{url}=remote")]);
    assert_eq!(
        bench.refusal(&copy(), url, "HEAD").await,
        "tree of repository $DIR/remote: the tree has more than 10 entries: limit tree-entries-max"
    );
    std::fs::remove_dir_all(repository.dir().join(".git")).expect("the repository can be removed");
    assert_eq!(
        bench.refusal(&copy(), url, "HEAD").await,
        "tree of repository $DIR/remote: the tree has more than 10 entries: limit tree-entries-max"
    );
}
