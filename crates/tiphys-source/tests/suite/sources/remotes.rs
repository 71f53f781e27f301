//! Repositories that are fetched, over `file://`.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tiphys_source::{Freshness, Network, Progress};
use tiphys_testkit::git::{Repository, listing};

use crate::sources::workbench::{Workbench, files, render, source, whole};

fn two_commits(bench: &Workbench) -> (Repository, String, String) {
    let repository = bench.repository("remote");
    let first = repository.write("a.yaml", "one").commit("first");
    repository.git(&["tag", "-a", "v1", "-m", "one"]);
    repository.git(&["branch", "stable"]);
    let second = repository.write("a.yaml", "two").commit("second");
    (repository, first, second)
}

#[tokio::test]
async fn names_commits_and_abbreviations_are_resolved() {
    let bench = Workbench::new();
    let (repository, first, second) = two_commits(&bench);
    repository.git(&["update-ref", "refs/pull/7/head", "HEAD"]);
    for (revision, commit, content) in [
        ("HEAD", &second, "two"),
        ("", &second, "two"),
        ("main", &second, "two"),
        ("stable", &first, "one"),
        ("v1", &first, "one"),
        ("refs/heads/stable", &first, "one"),
        ("refs/tags/v1", &first, "one"),
        ("pull/7/head", &second, "two"),
        ("heads/stable", &first, "one"),
        (&first, &first, "one"),
        (&first.to_uppercase(), &first, "one"),
        (&first[..7], &first, "one"),
    ] {
        let sources = bench.sources();
        let (resolved, tree) =
            render(&sources, &repository.url(), revision, &whole()).await.expect("it is there");
        assert_eq!(resolved.revision(), commit, "{revision:?}");
        assert_eq!(listing(tree.root()), [format!("a.yaml: {content}")], "{revision:?}");
    }
}

#[tokio::test]
async fn an_abbreviation_is_found_in_the_history_of_a_store_that_has_single_commits() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    repository.git(&["tag", "-d", "v1"]);
    repository.git(&["branch", "-D", "stable"]);
    assert_eq!(files(&bench.sources(), &repository.url(), "main").await, ["a.yaml: two"]);
    assert_eq!(files(&bench.sources(), &repository.url(), &first[..7]).await, ["a.yaml: one"]);
}

#[tokio::test]
async fn a_branch_wins_over_a_tag_of_its_name() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    repository.git(&["tag", "both", &first]);
    repository.git(&["branch", "both", "main"]);
    assert_eq!(files(&bench.sources(), &repository.url(), "both").await, ["a.yaml: two"]);
}

#[tokio::test]
async fn a_branch_named_like_an_abbreviation_is_a_branch() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    repository.git(&["branch", "abcdef1", &first]);
    assert_eq!(files(&bench.sources(), &repository.url(), "abcdef1").await, ["a.yaml: one"]);
}

#[tokio::test]
async fn a_missing_revision_is_named_with_names_that_are_close() {
    let bench = Workbench::new();
    let (repository, _, _) = two_commits(&bench);
    let url = repository.url();
    for (revision, expected) in [
        ("stabel", "repository file://$DIR/remote has no revision \"stabel\"; similar names: stable"),
        ("xyz", "repository file://$DIR/remote has no revision \"xyz\""),
        ("deadbee", "repository file://$DIR/remote has no revision \"deadbee\""),
        (
            "v1.*",
            "repository file://$DIR/remote has no revision \"v1.*\"; a range of versions is not looked up among the tags of a git repository",
        ),
        (
            "0123456789012345678901234567890123456789",
            "repository file://$DIR/remote has no revision \"0123456789012345678901234567890123456789\"",
        ),
    ] {
        assert_eq!(bench.refusal(&bench.sources(), &url, revision).await, expected);
    }
}

#[tokio::test]
async fn a_missing_repository_is_named() {
    let bench = Workbench::new();
    let url = format!("file://{}", bench.path("nowhere").display());
    let refusal = bench.refusal(&bench.sources(), &url, "HEAD").await;
    assert!(refusal.starts_with("repository file://$DIR/nowhere was not found; check the URL"), "{refusal}");
}

#[tokio::test]
async fn an_empty_repository_has_no_head() {
    let bench = Workbench::new();
    let repository = bench.repository("remote");
    assert_eq!(
        bench.refusal(&bench.sources(), &repository.url(), "").await,
        "repository file://$DIR/remote has no revision \"HEAD\"; it has no branches and no tags"
    );
}

#[tokio::test]
async fn a_commit_that_is_there_needs_no_repository() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    files(&bench.sources(), &repository.url(), &first).await;
    std::fs::rename(repository.dir(), bench.path("moved")).expect("the repository can be moved");
    assert_eq!(files(&bench.sources(), &repository.url(), &first).await, ["a.yaml: one"]);
    let refusal = bench.refusal(&bench.sources(), &repository.url(), "main").await;
    assert!(refusal.starts_with("repository file://$DIR/remote was not found"), "{refusal}");
}

#[tokio::test]
async fn branches_are_looked_up_once_a_command() {
    let bench = Workbench::new();
    let (repository, _, second) = two_commits(&bench);
    let sources = bench.sources();
    assert_eq!(files(&sources, &repository.url(), "main").await, ["a.yaml: two"]);
    let third = repository.write("a.yaml", "three").commit("third");
    let same = sources.resolve(&source(&repository.url(), "main")).await.expect("it is known");
    assert_eq!(same.revision(), second);
    let next = bench.sources().resolve(&source(&repository.url(), "main")).await.expect("it is there");
    assert_eq!(next.revision(), third);
}

#[tokio::test]
async fn offline_takes_what_was_fetched_and_names_what_was_not() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    files(&bench.sources(), &repository.url(), "main").await;
    repository.write("a.yaml", "three").commit("third");
    let offline = || bench.sources_with(|_, request| request.network = Network::Offline);
    assert_eq!(files(&offline(), &repository.url(), "main").await, ["a.yaml: two"]);
    assert_eq!(
        bench.refusal(&offline(), &repository.url(), &first).await,
        format!(
            "revision \"{first}\" of repository file://$DIR/remote is not in the cache, and the network must not be used"
        )
    );
    let unknown = format!("file://{}", bench.path("unknown").display());
    let refusal = bench.refusal(&offline(), &unknown, "main").await;
    assert!(
        refusal.starts_with("the list of branches and tags of repository file://$DIR/unknown"),
        "{refusal}"
    );
}

#[tokio::test]
async fn refresh_fetches_a_commit_again() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    files(&bench.sources(), &repository.url(), &first).await;
    std::fs::rename(repository.dir(), bench.path("moved")).expect("the repository can be moved");
    let refresh = bench.sources_with(|_, request| request.freshness = Freshness::Refresh);
    let refusal = bench.refusal(&refresh, &repository.url(), &first).await;
    assert!(refusal.starts_with("repository file://$DIR/remote was not found"), "{refusal}");
}

/// Cuts the packs of all cached repositories short.
fn cut_packs(bench: &Workbench, keep: u64) {
    let mut cut = 0;
    for pack in cached(bench, "objects/pack").filter(|path| path.extension() == Some("pack".as_ref())) {
        // Git makes packs read-only; a new file takes the old one's name.
        let mut bytes = std::fs::read(&pack).expect("the pack can be read");
        bytes.truncate(usize::try_from(keep).expect("it is small"));
        std::fs::remove_file(&pack).expect("the pack can be removed");
        std::fs::write(&pack, bytes).expect("the pack can be written");
        cut += 1;
    }
    assert!(cut > 0, "there are packs");
}

/// Returns the entries of a folder of all cached repositories.
fn cached(bench: &Workbench, folder: &str) -> impl Iterator<Item = PathBuf> {
    let stores = std::fs::read_dir(bench.path("cache/git")).expect("there is a cache");
    let stores: Vec<PathBuf> =
        stores.map(|entry| entry.expect("it can be read").path()).filter(|path| path.is_dir()).collect();
    let folder = folder.to_owned();
    stores.into_iter().flat_map(move |store| {
        let entries = std::fs::read_dir(store.join(&folder)).expect("the folder is there");
        entries.map(|entry| entry.expect("it can be read").path())
    })
}

#[tokio::test]
async fn damaged_objects_are_fetched_again() {
    for (freshness, keep) in [(Freshness::Refresh, 40), (Freshness::Cached, 40), (Freshness::Cached, 0)] {
        for revision in ["main", "commit", "abbreviation"] {
            let bench = Workbench::new();
            let (repository, first, second) = two_commits(&bench);
            let revision = match revision {
                "commit" => second.clone(),
                "abbreviation" => second[..8].to_owned(),
                name => name.to_owned(),
            };
            let url = repository.url();
            for revision in [&first, &revision] {
                bench.sources().resolve(&source(&url, revision)).await.expect("it is there");
            }
            cut_packs(&bench, keep);
            let sources = bench.sources_with(|_, request| request.freshness = freshness);
            let case = format!("{freshness:?} {keep} {revision}");
            assert_eq!(files(&sources, &url, &revision).await, ["a.yaml: two"], "{case}");
            assert_eq!(files(&sources, &url, &first).await, ["a.yaml: one"], "{case}");
            let names: Vec<_> =
                std::fs::read_dir(bench.path("cache/git")).expect("there is a cache").collect();
            assert_eq!(names.len(), 2, "{case}: the store and its lock, {names:?}");
            // The list of branches has come along.
            let offline = bench.sources_with(|_, request| request.network = Network::Offline);
            files(&offline, &url, if revision == "main" { "main" } else { &second }).await;
        }
    }
}

/// A killed `git init` leaves such a clone.
#[tokio::test]
async fn clone_without_a_directory_of_git_is_initialised_again() {
    for missing in ["objects", "refs", "HEAD"] {
        let bench = Workbench::new();
        let (repository, first, second) = two_commits(&bench);
        assert_eq!(files(&bench.sources(), &repository.url(), &first).await, ["a.yaml: one"]);
        for clone in std::fs::read_dir(bench.path("cache/git")).expect("there is a cache").flatten() {
            let path = clone.path().join(missing);
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("the directory can be removed");
            } else if path.is_file() {
                std::fs::remove_file(path).expect("the file can be removed");
            }
        }
        assert_eq!(files(&bench.sources(), &repository.url(), &second).await, ["a.yaml: two"], "{missing}");
    }
}

#[tokio::test]
async fn objects_that_turn_out_to_be_damaged_later_are_fetched_again() {
    let bench = Workbench::new();
    let (repository, _, _) = two_commits(&bench);
    let url = repository.url();
    let sources = bench.sources();
    let resolved = sources.resolve(&source(&url, "main")).await.expect("it is there");
    cut_packs(&bench, 40);
    let tree = sources.tree(&resolved, &whole()).await.expect("it is fetched again");
    assert_eq!(listing(tree.root()), ["a.yaml: two"]);
}

#[tokio::test]
async fn damaged_objects_that_cannot_be_fetched_again_are_named_and_stay() {
    let bench = Workbench::new();
    let (repository, first, _) = two_commits(&bench);
    files(&bench.sources(), &repository.url(), &first).await;
    cut_packs(&bench, 40);
    std::fs::rename(repository.dir(), bench.path("moved")).expect("the repository can be moved");
    let refusal = bench.refusal(&bench.sources(), &repository.url(), &first).await;
    let expected = "the cached objects of repository file://$DIR/remote could not be replaced by fresh ones; if this goes \
                    on, delete $DIR/cache/git/";
    assert!(refusal.starts_with(expected), "{refusal}");
    let offline = bench.sources_with(|_, request| request.network = Network::Offline);
    let refusal = bench.refusal(&offline, &repository.url(), &first).await;
    let expected = "cannot read objects of repository file://$DIR/remote: ";
    assert!(refusal.starts_with(expected), "{refusal}");
    assert_eq!(std::fs::read_dir(bench.path("cache/git")).expect("there is a cache").count(), 2);
}

#[tokio::test]
async fn what_ended_fetches_left_is_removed() {
    let bench = Workbench::new();
    let (repository, first, second) = two_commits(&bench);
    let url = repository.url();
    files(&bench.sources(), &url, &first).await;
    let partial = || -> Vec<PathBuf> {
        let all = ["objects", "objects/pack", "objects/ab"].into_iter().flat_map(|at| cached(&bench, at));
        all.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tmp_")))
            .collect()
    };
    let leave = || {
        let objects = cached(&bench, "").find(|path| path.ends_with("objects")).expect("there are objects");
        for name in ["pack/tmp_pack_a1", "pack/tmp_idx_b2", "ab/tmp_obj_c3", "tmp_obj_d4"] {
            let path = objects.join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("the folder can be made");
            std::fs::write(path, "half").expect("the file can be written");
        }
        assert_eq!(partial().len(), 4);
        // Of a git that was killed.
        std::fs::write(objects.with_file_name("shallow.lock"), "half").expect("the file can be written");
    };
    leave();
    assert_eq!(files(&bench.sources(), &url, &second).await, ["a.yaml: two"]);
    assert!(partial().is_empty(), "{:?}", partial());
    // A git that leaves such a file and fails.
    bench.repository("tools").write_executable(
        "git",
        "#!/bin/sh\ncase $1 in fetch) echo half >\"$GIT_DIR/objects/pack/tmp_pack_e5\"; exit 128 ;; esac\nexec git \"$@\"\n",
    );
    let third = repository.write("a.yaml", "three").commit("third");
    let failing = bench.sources_with(|options, _| options.git_program = bench.path("tools/git"));
    let refusal = bench.refusal(&failing, &url, &third).await;
    assert!(refusal.starts_with("git failed for repository"), "{refusal}");
    assert!(partial().is_empty(), "{:?}", partial());
    assert_eq!(files(&bench.sources(), &url, &first).await, ["a.yaml: one"]);
}

#[tokio::test]
async fn what_is_no_url_for_git_is_refused() {
    let bench = Workbench::new();
    for (url, expected) in [
        (
            "/srv/git/x",
            "repository \"/srv/git/x\" cannot be fetched: it is a local path; write it as file://PATH, or use a local copy of the repository",
        ),
        (
            "ext::sh -c touch% /tmp/pwned",
            "repository \"ext::sh -c touch% /tmp/pwned\" cannot be fetched: only file, http, https, ssh and git URLs are allowed",
        ),
        (
            "--upload-pack=touch /tmp/pwned",
            "repository \"--upload-pack=touch /tmp/pwned\" cannot be fetched: it begins with a dash or holds a control character",
        ),
        (
            "ssh://-oProxyCommand=x/y",
            "repository \"ssh://-oProxyCommand=x/y\" cannot be fetched: its host begins with a dash",
        ),
        ("", "repository \"\" cannot be fetched: it is empty"),
    ] {
        assert_eq!(bench.refusal(&bench.sources(), url, "HEAD").await, expected);
    }
}

#[tokio::test]
async fn a_revision_that_looks_like_an_option_is_a_name() {
    let bench = Workbench::new();
    let (repository, _, _) = two_commits(&bench);
    assert_eq!(
        bench.refusal(&bench.sources(), &repository.url(), "--upload-pack=x").await,
        "repository file://$DIR/remote has no revision \"--upload-pack=x\""
    );
}

#[tokio::test]
async fn a_git_that_is_missing_or_too_old_is_told() {
    let bench = Workbench::new();
    let (repository, _, _) = two_commits(&bench);
    let missing = bench.sources_with(|options, _| options.git_program = "/nonexistent/git".into());
    assert_eq!(
        bench.refusal(&missing, &repository.url(), "main").await,
        "cannot run git; install git 2.31 or newer and put it on PATH: cannot start /nonexistent/git: No such file or directory (os error 2)"
    );
    bench.repository("tools").write_executable("git", "#!/bin/sh\necho git version 2.30.9\n");
    let old = bench.sources_with(|options, _| options.git_program = bench.path("tools/git"));
    assert_eq!(
        bench.refusal(&old, &repository.url(), "main").await,
        "git 2.30.9 is too old; install git 2.31 or newer"
    );
}

#[tokio::test]
async fn a_server_that_gives_no_single_commits_gives_its_history() {
    let bench = Workbench::new();
    let (repository, first, second) = two_commits(&bench);
    repository.git(&["tag", "-d", "v1"]);
    repository.git(&["branch", "-D", "stable"]);
    let sources = bench.sources();
    // In the first version of the protocol a server gives what a ref names and nothing else.
    std::fs::write(bench.path("home/.gitconfig"), "[protocol]\n\tversion = 0\n")
        .expect("the file can be written");
    assert_eq!(files(&sources, &repository.url(), &second).await, ["a.yaml: two"]);
    assert_eq!(files(&sources, &repository.url(), &first).await, ["a.yaml: one"]);
}

#[tokio::test]
async fn a_fetch_that_takes_too_long_is_ended() {
    let bench = Workbench::new();
    let (repository, _, _) = two_commits(&bench);
    bench.repository("tools").write_executable(
        "git",
        "#!/bin/sh\ncase $1 in --version) echo git version 2.40.0 ;; *) exec tail -f /dev/null ;; esac\n",
    );
    let sources = bench.sources_with(|options, _| {
        options.git_program = bench.path("tools/git");
        options.lookup_timeout = Duration::from_secs(2);
    });
    assert_eq!(
        bench.refusal(&sources, &repository.url(), "main").await,
        "looking up branches and tags of repository file://$DIR/remote did not end within 2s: limit lookup-timeout"
    );
}

#[tokio::test]
async fn people_who_wait_are_told_what_is_going_on_and_a_commit_is_fetched_once() {
    let bench = Workbench::new();
    let (repository, _, second) = two_commits(&bench);
    let told = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..2 {
        let sink = Arc::clone(&told);
        let sources = bench.sources_with(|options, _| {
            options.progress = Some(Arc::new(move |progress: &Progress<'_>| {
                let line = match progress {
                    Progress::LookingUp { .. } => "looking up".to_owned(),
                    Progress::Fetching { revision, .. } => format!("fetching {revision}"),
                    Progress::Fetched { .. } => "fetched".to_owned(),
                    Progress::UsingCheckout { .. } => "using a checkout".to_owned(),
                };
                sink.lock().expect("no thread panicked").push(line);
            }));
        });
        files(&sources, &repository.url(), "main").await;
        files(&sources, &repository.url(), "HEAD").await;
    }
    let told = told.lock().expect("no thread panicked");
    assert_eq!(*told, ["looking up", &format!("fetching {second}"), "fetched", "looking up"]);
}

#[tokio::test]
async fn clone_with_too_many_packs_is_replaced() {
    let bench = Workbench::new();
    let repository = bench.repository("apps");
    let mut packs = Vec::new();
    for number in 0..7 {
        repository.write("file", &number.to_string()).commit("next");
        let sources = bench.sources_with(|options, _| options.clone_packs_max = 3);
        assert_eq!(files(&sources, &repository.url(), "main").await, [format!("file: {number}")]);
        let clones = fs::read_dir(bench.path("cache/git")).expect("the clones").flatten();
        let clone = clones.map(|entry| entry.path()).find(|path| path.is_dir()).expect("the clone");
        let found = fs::read_dir(clone.join("objects/pack")).expect("the packs").flatten();
        packs.push(found.filter(|entry| entry.path().extension().is_some_and(|it| it == "pack")).count());
    }
    assert_eq!(packs, [1, 2, 3, 1, 2, 3, 1]);
}
