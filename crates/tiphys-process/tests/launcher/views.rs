//! What the commands see, and that nothing of it stays.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tiphys_process::{Launcher, PrivateView, RunError, View, ViewKind};

use super::support::{
    EVERYONE, LIMITS, Place, Who, execute, is_root, output, shell, user_namespaces_are_allowed,
};

/// Everything of a tree but access times.
pub(super) fn snapshot(top: &Path) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    let mut folders = vec![top.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("lists").flatten() {
            let path = entry.path();
            let metadata = path.symlink_metadata().expect("stat");
            let content = if metadata.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("reads a link").display().to_string()
            } else {
                fs::read_to_string(&path).expect("reads")
            };
            let name = path.strip_prefix(top).expect("below").display().to_string();
            let modified = (metadata.mtime(), metadata.mtime_nsec());
            entries.insert(name, format!("{:o} {modified:?} {content}", metadata.mode()));
        }
    }
    entries
}

fn file_system_of_an_overlay(who: Who) -> &'static str {
    match who {
        Who::Caller if is_root() => "overlayfs",
        Who::Caller | Who::Unprivileged | Who::WithoutMounting if user_namespaces_are_allowed() => {
            "overlayfs"
        }
        _ => "another",
    }
}

async fn file_system(run: &mut tiphys_process::Run) -> &'static str {
    let name = output(run, "stat -f -c %T .").await;
    if name.trim() == "overlayfs" { "overlayfs" } else { "another" }
}

#[tokio::test]
async fn a_private_view_is_writable_and_the_tree_below_does_not_change() {
    for who in EVERYONE {
        for overlay in [true, false] {
            let place = Place::new(who);
            symlink("file", place.path("tree/link")).expect("links");
            let before = snapshot(&place.path("tree"));
            let view = if overlay { place.overlay() } else { place.copy() };
            let mut run = place.start(view).await;

            let expected = if overlay { file_system_of_an_overlay(who) } else { "another" };
            assert_eq!(file_system(&mut run).await, expected, "{who:?}");
            assert_eq!(output(&mut run, "cat file app/values.yaml").await, "content\na: 1\n");
            let all = "echo more >>file && chmod 600 file && touch app app/values.yaml && mv file app/moved && rm link && \
                       rm -r app && mkdir app && echo new >app/new && chmod 700 . && find . | sort";
            assert_eq!(output(&mut run, all).await, ".\n./app\n./app/new\n", "{who:?} {overlay}");
            assert_eq!(
                output(&mut run, "cat app/new").await,
                "new\n",
                "a later command sees what an earlier one made"
            );

            run.finish().await.expect("finishes");
            assert_eq!(snapshot(&place.path("tree")), before, "{who:?} {overlay}");
            assert!(!place.path("run").exists(), "{who:?} {overlay}");
        }
    }
}

#[tokio::test]
async fn commands_keep_their_user_group_and_capabilities() {
    for who in EVERYONE {
        let place = Place::new(who);
        let script = "id -u; id -g; grep CapEff /proc/self/status; grep CapPrm /proc/self/status";
        let mut seen = Vec::new();
        for view in [Place::direct, Place::overlay, Place::copy] {
            let mut run = place.start(view(&place)).await;
            seen.push(output(&mut run, script).await);
            run.finish().await.expect("finishes");
        }
        let [direct, overlay, copy] = seen.as_slice() else { panic!("three views") };
        assert_eq!(overlay, direct, "{who:?}");
        assert_eq!(copy, direct, "{who:?}");
        if is_root() && matches!(who, Who::Unprivileged | Who::WithoutUserNamespaces) {
            let expected = "65534\n65534\nCapEff:\t0000000000000000\nCapPrm:\t0000000000000000\n";
            assert_eq!(overlay, expected, "{who:?}");
        }
    }
}

#[tokio::test]
async fn a_tree_of_another_user_is_copied_where_only_the_own_user_is_mapped() {
    let place = Place::new(Who::Unprivileged);
    let own = rustix::process::geteuid().as_raw();
    std::os::unix::fs::chown(place.path("tree"), Some(own), None).expect("chown");
    let mut run = place.start(place.overlay()).await;
    let expected = if is_root() { "another" } else { file_system_of_an_overlay(Who::Unprivileged) };
    assert_eq!(file_system(&mut run).await, expected);
    assert_eq!(output(&mut run, "echo more >>file && cat file").await, "content\nmore\n");
    run.finish().await.expect("finishes");
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn folders_without_permissions_and_of_any_depth_are_removed() {
    for who in EVERYONE {
        for overlay in [true, false] {
            let place = Place::new(who);
            let mut run = place.start(if overlay { place.overlay() } else { place.copy() }).await;
            // Two chains of 3,200 bytes, one moved into the other, make a path that the system does not take.
            let script = "mkdir -p a/b/c && echo x >a/b/c/f && chmod 000 a/b/c a/b a && \
                          mkdir -m 500 app/sub && chmod 111 app && \
                          n=$(printf 'n%.0s' $(seq 200)) && \
                          chain=$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n && \
                          mkdir -p one/$chain two/$chain && mv two one/$chain/";
            output(&mut run, script).await;
            run.finish().await.expect("finishes");
            assert!(!place.path("run").exists(), "{who:?} {overlay}");
        }
    }
}

#[tokio::test]
async fn paths_may_hold_the_characters_that_separate_mount_options() {
    for who in EVERYONE {
        let place = Place::new(who);
        fs::rename(place.path("tree"), place.path("a:b,c\\d e")).expect("renames");
        place.folder_at("r:u,n\\ dir");
        let run_dir = place.path("r:u,n\\ dir");
        let lower = place.path("a:b,c\\d e");
        let view = View::Private { lower, run_dir: run_dir.clone(), how: PrivateView::Auto };
        let mut run = place.start(view).await;
        assert_eq!(file_system(&mut run).await, file_system_of_an_overlay(who));
        assert_eq!(
            output(&mut run, "cat file; pwd -P").await,
            format!("content\n{}\n", run.root().display())
        );
        run.finish().await.expect("finishes");
        assert!(!run_dir.exists());
    }
}

#[tokio::test]
async fn a_copy_keeps_modes_links_and_times() {
    let place = Place::new(Who::Caller);
    place.file("tree/script.sh", "#!/bin/sh\n");
    fs::set_permissions(place.path("tree/script.sh"), Permissions::from_mode(0o775)).expect("chmod");
    place.folder_at("tree/closed");
    place.file("tree/closed/in", &"x".repeat(300_000));
    fs::set_permissions(place.path("tree/closed"), Permissions::from_mode(0o555)).expect("chmod");
    symlink("../no/where", place.path("tree/dangling")).expect("links");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000_000);
    let file = fs::File::options().write(true).open(place.path("tree/file")).expect("opens");
    file.set_modified(long_ago).expect("sets the time");
    let before = snapshot(&place.path("tree"));

    let run = place.start(place.copy()).await;
    assert_eq!(snapshot(run.root()), before);
    run.finish().await.expect("finishes");
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn what_cannot_be_copied_is_named_and_nothing_stays() {
    let place = Place::new(Who::Caller);
    let made = std::process::Command::new("mkfifo").arg(place.path("tree/app/pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    let error = place.launcher().start(place.copy(), LIMITS).await.expect_err("a pipe");
    let path = fs::canonicalize(place.path("tree/app/pipe")).expect("is there");
    assert_eq!(
        error.to_string(),
        format!("launcher: copying the tree: {}: neither file, folder nor link", path.display())
    );
    assert!(!place.path("run").exists());
}

#[tokio::test]
async fn a_folder_of_a_run_that_is_not_empty_is_refused_and_kept() {
    let place = Place::new(Who::Caller);
    let view = place.overlay();
    place.file("run/precious", "");
    let error = place.launcher().start(view, LIMITS).await.expect_err("not empty");
    let expected = format!("launcher: folder of the run {}: not empty", place.path("run").display());
    assert_eq!(error.to_string(), expected);
    assert!(place.path("run/precious").exists());
}

#[tokio::test]
async fn a_tree_that_is_missing_or_a_file_is_named_and_nothing_stays() {
    let place = Place::new(Who::Caller);
    for (name, reason) in
        [("nothing", "No such file or directory (os error 2)"), ("tree/file", "not a directory")]
    {
        for how in [PrivateView::Auto, PrivateView::Overlay, PrivateView::Copy] {
            let view = View::Private { lower: place.path(name), run_dir: place.path("run"), how };
            let error = place.launcher().start(view, LIMITS).await.expect_err("no tree");
            let expected = format!("launcher: tree {}: {reason}", place.path(name).display());
            assert_eq!(error.to_string(), expected);
            assert!(!place.path("run").exists());
        }
        let error = place.launcher().start(View::Direct { dir: place.path(name) }, LIMITS).await;
        let expected = format!("launcher: directory {}: {reason}", place.path(name).display());
        assert_eq!(error.expect_err("no folder").to_string(), expected);
    }
}

#[tokio::test]
async fn where_only_an_overlay_will_do_a_refusal_is_told_and_nothing_stays() {
    for who in EVERYONE {
        let place = Place::new(who);
        let started = place.launcher().start(place.view(PrivateView::Overlay), LIMITS).await;
        match (file_system_of_an_overlay(who), started) {
            ("overlayfs", Ok(mut run)) => {
                assert_eq!(file_system(&mut run).await, "overlayfs", "{who:?}");
                run.finish().await.expect("finishes");
            }
            ("overlayfs", Err(error)) => panic!("{who:?}: {error}"),
            (_, Ok(_)) => panic!("{who:?}: a copy, though none is wanted"),
            (_, Err(error)) => {
                let text = error.to_string();
                let beginning = "launcher: no overlay, and no copy is wanted: the system refused: ";
                assert!(text.starts_with(beginning) && text.len() > beginning.len(), "{who:?}: {text}");
            }
        }
        assert!(!place.path("run").exists(), "{who:?}");
    }
}

#[tokio::test]
async fn a_probe_tells_what_auto_gives_and_why_and_leaves_nothing() {
    for who in EVERYONE {
        let place = Place::new(who);
        place.folder_at("run");
        let probed = place.launcher().probe_view(&place.path("tree"), &place.path("run")).await;
        match (file_system_of_an_overlay(who), probed.expect("answers")) {
            ("overlayfs", ViewKind::Overlay) => {}
            (expected, ViewKind::Copy { reason }) => {
                assert_ne!(expected, "overlayfs", "{who:?}: {reason}");
                assert!(!reason.is_empty(), "{who:?}");
            }
            (_, ViewKind::Overlay) => panic!("{who:?}: no overlay was expected"),
        }
        assert!(!place.path("run").exists(), "{who:?}");
    }
}

#[tokio::test]
async fn a_direct_view_is_the_folder_itself_and_stays() {
    for who in EVERYONE {
        let place = Place::new(who);
        let mut run = place.start(place.direct()).await;
        assert_eq!(run.root(), fs::canonicalize(place.path("tree")).expect("is there"));
        output(&mut run, "echo new >new").await;
        run.finish().await.expect("finishes");
        assert_eq!(fs::read_to_string(place.path("tree/new")).expect("stays"), "new\n");
    }
}

#[tokio::test]
async fn a_program_that_is_no_launcher_is_an_error_and_nothing_stays() {
    let place = Place::new(Who::Caller);
    for (program, expected) in [
        ("/bin/true", "launcher: died while it was set up"),
        ("/nowhere/tiphys", "launcher: cannot start /nowhere/tiphys: No such file or directory (os error 2)"),
    ] {
        let launcher = Launcher::new(program);
        let error = launcher.start(place.overlay(), LIMITS).await.expect_err("no launcher");
        assert!(matches!(error, RunError::Launcher { .. }));
        assert_eq!(error.to_string(), expected);
        assert!(!place.path("run").exists());
    }
}

#[tokio::test]
async fn an_overlay_is_seen_by_the_run_only() {
    let place = Place::new(Who::Caller);
    let mut run = place.start(place.overlay()).await;
    let outcome = execute(&mut run, shell("test -e file")).await.expect("starts");
    assert_eq!(outcome.ended, tiphys_process::Ended::Exited(0));
    if file_system(&mut run).await == "overlayfs" {
        assert!(!run.root().join("file").exists(), "the mount is private");
    }
    run.finish().await.expect("finishes");
}
