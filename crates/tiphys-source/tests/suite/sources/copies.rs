//! Folders that stand for repositories (`--repo`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::sources::workbench::{Workbench, files, narrowed, render, whole};

const URL: &str = "https://git.example.org/team/apps.git";

/// A repository with one commit and with files that are modified, new, ignored and deleted since.
fn working_copy(bench: &Workbench) -> String {
    let repository = bench.repository("apps");
    repository.write("app/a.yaml", "committed").write("app/gone.yaml", "gone").write(".gitignore", "*.log\n");
    let commit = repository.commit("first");
    repository.git(&["remote", "add", "origin", URL]);
    repository.write("app/a.yaml", "changed").write("app/new.yaml", "new").write("debug.log", "ignored");
    std::fs::remove_file(repository.dir().join("app/gone.yaml")).expect("the file can be removed");
    commit
}

const CHANGED: [&str; 3] = [".gitignore: *.log", "app/a.yaml: changed", "app/new.yaml: new"];
const COMMITTED: [&str; 3] = [".gitignore: *.log", "app/a.yaml: committed", "app/gone.yaml: gone"];

#[tokio::test]
async fn files_stand_for_head_no_revision_and_the_checked_out_branch() {
    let bench = Workbench::new();
    let commit = working_copy(&bench);
    let sources = bench.with_copies(&["apps"]);
    for revision in ["HEAD", "", "main", "refs/heads/main"] {
        let (resolved, _) = render(&sources, URL, revision, &whole()).await.expect("it is there");
        assert_eq!(resolved.revision(), commit, "ARGOCD_APP_REVISION is the HEAD commit");
        assert_eq!(files(&sources, URL, revision).await, CHANGED, "{revision:?}");
    }
}

#[tokio::test]
async fn other_revisions_come_from_the_folders_objects() {
    let bench = Workbench::new();
    let commit = working_copy(&bench);
    let repository = tiphys_testkit::git::Repository::init(bench.path("apps"));
    repository.git(&["tag", "-a", "v1", "-m", "one"]);
    repository.git(&["branch", "other"]);
    repository.git(&["update-ref", "refs/remotes/origin/upstream", "HEAD"]);
    let sources = bench.with_copies(&["apps"]);
    for revision in ["v1", "other", "upstream", "refs/tags/v1", &commit, &commit[..8], &commit.to_uppercase()]
    {
        let (resolved, _) = render(&sources, URL, revision, &whole()).await.expect("it is there");
        assert_eq!(resolved.revision(), commit, "{revision}");
        assert_eq!(files(&sources, URL, revision).await, COMMITTED, "{revision}");
    }
}

#[tokio::test]
async fn a_folder_without_git_stands_for_all_revisions() {
    let bench = Workbench::new();
    std::fs::create_dir_all(bench.path("plain/app")).expect("the folder can be made");
    std::fs::write(bench.path("plain/app/a.yaml"), "plain").expect("the file can be written");
    let sources = bench.with_copies(&[&format!("{URL}=plain")]);
    for revision in ["HEAD", "v9", "0123456789012345678901234567890123456789", ""] {
        let (resolved, _) = render(&sources, URL, revision, &whole()).await.expect("it stands for all");
        assert_eq!(resolved.revision(), revision, "ARGOCD_APP_REVISION is the target revision");
        assert_eq!(files(&sources, URL, revision).await, ["app/a.yaml: plain"], "{revision:?}");
    }
}

#[tokio::test]
async fn a_name_that_is_not_utf_8_is_refused_and_shown_with_escapes() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    let name = OsStr::from_bytes(b"app/caf\xe9.yaml");
    repository.write("app/a.yaml", "text");
    std::fs::write(repository.dir().join(name), "Latin-1").expect("the file can be written");
    repository.commit("first");
    repository.git(&["tag", "v1"]);
    repository.git(&["remote", "add", "origin", URL]);
    std::fs::create_dir_all(bench.path("plain/app")).expect("the folder can be made");
    std::fs::write(bench.path("plain").join(name), "Latin-1").expect("the file can be written");
    let (tracked, plain) = (bench.with_copies(&["apps"]), bench.with_copies(&[&format!("{URL}=plain")]));
    for (sources, revision, expected) in [
        (&tracked, "HEAD", r#""app/caf\xe9.yaml"; rename it"#),
        (&tracked, "v1", r#""caf\xe9.yaml"; rename it"#),
        (&plain, "HEAD", r#""app/caf\xe9.yaml"; rename it"#),
    ] {
        let error = render(sources, URL, revision, &whole()).await.expect_err("it is refused").to_string();
        assert!(error.ends_with(expected), "{revision}: {error}");
    }
}

#[tokio::test]
async fn urls_compare_as_argo_cd_normalises_them() {
    let bench = Workbench::new();
    working_copy(&bench);
    let sources = bench.with_copies(&["apps"]);
    for url in ["https://GIT.example.org/Team/Apps", " https://git.example.org/team/apps.git "] {
        assert_eq!(files(&sources, url, "HEAD").await, CHANGED, "{url}");
    }
}

#[tokio::test]
async fn a_revision_of_its_own_makes_a_detached_folder_stand_for_it() {
    let bench = Workbench::new();
    let commit = working_copy(&bench);
    let repository = tiphys_testkit::git::Repository::init(bench.path("apps"));
    repository.git(&["checkout", "--quiet", "--detach"]);
    repository.git(&["branch", "-D", "--quiet", "main"]);
    let sources = bench.with_copies(&[&format!("{URL}@release/1.x=apps")]);
    for revision in ["release/1.x", "refs/heads/release/1.x", "HEAD", ""] {
        assert_eq!(files(&sources, URL, revision).await, CHANGED, "{revision:?}");
    }
    assert_eq!(files(&sources, URL, &commit).await, COMMITTED);
    assert_eq!(
        bench.refusal(&sources, URL, "main").await,
        "repository $DIR/apps has no revision \"main\"; it has no branches and no tags; this folder is the local copy of \
         https://git.example.org/team/apps.git: fetch the revision there with git fetch"
    );
}

#[tokio::test]
async fn a_folder_for_exactly_the_revision_comes_first() {
    let bench = Workbench::new();
    working_copy(&bench);
    std::fs::create_dir_all(bench.path("v1")).expect("the folder can be made");
    std::fs::write(bench.path("v1/only.yaml"), "v1").expect("the file can be written");
    let sources = bench.with_copies(&["apps", &format!("{URL}@v1=v1")]);
    assert_eq!(files(&sources, URL, "v1").await, ["only.yaml: v1"]);
    assert_eq!(files(&sources, URL, "HEAD").await, CHANGED);
}

#[tokio::test]
async fn a_bare_repository_gives_its_commits() {
    let bench = Workbench::new();
    working_copy(&bench);
    tiphys_testkit::git::git(
        &bench.path(""),
        &["clone", "--quiet", "--bare", &format!("file://{}", bench.path("apps").display()), "bare.git"],
    );
    let sources = bench.with_copies(&[&format!("{URL}=bare.git")]);
    for revision in ["HEAD", "main"] {
        assert_eq!(files(&sources, URL, revision).await, COMMITTED, "{revision}");
    }
}

#[tokio::test]
async fn a_repository_before_its_first_commit_gives_its_files() {
    let bench = Workbench::new();
    bench.repository("fresh").write("a.yaml", "uncommitted");
    let sources = bench.with_copies(&[&format!("{URL}=fresh")]);
    let (resolved, _) = render(&sources, URL, "HEAD", &whole()).await.expect("its files are there");
    assert_eq!(resolved.revision(), "HEAD");
    assert_eq!(files(&sources, URL, "HEAD").await, ["a.yaml: uncommitted"]);
}

#[tokio::test]
async fn modes_and_links_are_kept_and_links_out_are_refused() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository.write_executable("run.sh", "#!/bin/sh").link("current", "run.sh");
    let option = format!("{URL}=apps");
    let listing = files(&bench.with_copies(&[&option]), URL, "HEAD").await;
    assert_eq!(listing, ["current -> run.sh", "run.sh*: #!/bin/sh"]);
    repository.link("out", "../secret");
    assert_eq!(
        bench.refusal(&bench.with_copies(&[&option]), URL, "HEAD").await,
        "tree of repository $DIR/apps: repository contains out-of-bounds symlinks. file: out"
    );
}

#[tokio::test]
async fn a_file_behind_a_link_is_not_read() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository.write("a/secret", "tracked").write("keep", "kept");
    repository.commit("first");
    std::fs::remove_dir_all(repository.dir().join("a")).expect("the folder can be removed");
    std::fs::create_dir(bench.path("outside")).expect("the folder can be made");
    std::fs::write(bench.path("outside/secret"), "outside").expect("the file can be written");
    repository.link("a", "../outside");
    let refusal = bench.refusal(&bench.with_copies(&[&format!("{URL}=apps")]), URL, "HEAD").await;
    assert_eq!(refusal, "tree of repository $DIR/apps: repository contains out-of-bounds symlinks. file: a");
}

#[tokio::test]
async fn a_tracked_file_behind_a_new_link_is_a_deleted_one() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository.write("a/x", "tracked").write("b/x", "other");
    repository.commit("first");
    std::fs::remove_dir_all(repository.dir().join("a")).expect("the folder can be removed");
    repository.link("a", "b");
    let listing = files(&bench.with_copies(&[&format!("{URL}=apps")]), URL, "HEAD").await;
    assert_eq!(listing, ["a -> b", "b/x: other"]);
}

#[tokio::test]
async fn a_working_copy_is_narrowed_too_and_links_on_the_way_are_followed() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    repository.write("apps/v2/x/a.yaml", "a").write("lib/b.yaml", "b").write("other/c.yaml", "c");
    repository.link("apps/current", "v2");
    let sources = bench.with_copies(&[&format!("{URL}=apps")]);
    let (_, tree) =
        render(&sources, URL, "HEAD", &narrowed("apps/current/x", &["lib"])).await.expect("it is there");
    assert_eq!(
        tiphys_testkit::git::listing(tree.root()),
        ["apps/current -> v2", "apps/v2/x/a.yaml: a", "lib/b.yaml: b"]
    );
}

#[tokio::test]
async fn a_folder_that_cannot_stand_for_a_repository_is_refused() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.path("plain")).expect("the folder can be made");
    std::fs::write(bench.path("file"), "").expect("the file can be written");
    bench.repository("lonely");
    for (option, expected) in [
        (
            "plain",
            "local copy $DIR/plain: it is not the top of a git work tree, so it has no remotes that say which repository it is",
        ),
        (
            "lonely",
            "local copy $DIR/lonely: its git repository has no remotes that say which repository it is",
        ),
        ("file", "local copy $DIR/file: it is not a folder"),
        ("missing", "local copy $DIR/missing: there is no such folder"),
    ] {
        assert_eq!(bench.refusal(&bench.with_copies(&[option]), URL, "HEAD").await, expected);
    }
}

#[tokio::test]
async fn settings_of_a_folder_that_would_run_programs_are_switched_off() {
    let bench = Workbench::new();
    working_copy(&bench);
    let repository = tiphys_testkit::git::Repository::init(bench.path("apps"));
    let canary = bench.path("canary");
    repository.git(&["config", "core.fsmonitor", &format!("touch {}; false", canary.display())]);
    assert_eq!(files(&bench.with_copies(&["apps"]), URL, "HEAD").await, CHANGED);
    assert!(!canary.exists(), "git ran what the repository's configuration names");
}
