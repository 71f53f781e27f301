//! Views: their content, their isolation and their removal.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tiphys_process::{Launcher, PrivateView, RunError, Shielded, View, ViewKind};

use super::support::{
    ALL_USERS, LIMITS, TestDir, User, execute, is_root, output, shell, user_namespaces_are_allowed,
};

/// Everything in a tree except access times.
pub(super) fn snapshot(top: &Path) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    let mut directories = vec![top.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("lists").flatten() {
            let path = entry.path();
            let metadata = path.symlink_metadata().expect("stat");
            let content = if metadata.is_dir() {
                directories.push(path.clone());
                "directory".to_owned()
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

fn file_system_of_an_overlay(user: User) -> &'static str {
    match user {
        User::Caller if is_root() => "overlayfs",
        User::Caller | User::Unprivileged | User::WithoutMounting if user_namespaces_are_allowed() => {
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
async fn private_view_is_writable_and_the_tree_unchanged() {
    for user in ALL_USERS {
        for overlay in [true, false] {
            let dir = TestDir::new(user);
            symlink("file", dir.path("tree/link")).expect("links");
            let before = snapshot(&dir.path("tree"));
            let view = if overlay { dir.overlay() } else { dir.copy() };
            let mut run = dir.start(view).await;

            let expected = if overlay { file_system_of_an_overlay(user) } else { "another" };
            assert_eq!(file_system(&mut run).await, expected, "{user:?}");
            assert_eq!(output(&mut run, "cat file app/values.yaml").await, "content\na: 1\n");
            let all = "echo more >>file && chmod 600 file && touch app app/values.yaml && mv file app/moved && rm link && \
                       rm -r app && mkdir app && echo new >app/new && chmod 700 . && find . | sort";
            assert_eq!(output(&mut run, all).await, ".\n./app\n./app/new\n", "{user:?} {overlay}");
            assert_eq!(
                output(&mut run, "cat app/new").await,
                "new\n",
                "a later command sees what an earlier one made"
            );

            run.finish().await.expect("finishes");
            assert_eq!(snapshot(&dir.path("tree")), before, "{user:?} {overlay}");
            assert!(!dir.path("run").exists(), "{user:?} {overlay}");
        }
    }
}

#[tokio::test]
async fn commands_keep_user_group_and_capabilities() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let script = "id -u; id -g; grep CapEff /proc/self/status; grep CapPrm /proc/self/status";
        let mut seen = Vec::new();
        for view in [TestDir::direct, TestDir::overlay, TestDir::copy] {
            let mut run = dir.start(view(&dir)).await;
            seen.push(output(&mut run, script).await);
            run.finish().await.expect("finishes");
        }
        let [direct, overlay, copy] = seen.as_slice() else { panic!("three views") };
        assert_eq!(overlay, direct, "{user:?}");
        assert_eq!(copy, direct, "{user:?}");
        if is_root() && matches!(user, User::Unprivileged | User::WithoutUserNamespaces) {
            let expected = "65534\n65534\nCapEff:\t0000000000000000\nCapPrm:\t0000000000000000\n";
            assert_eq!(overlay, expected, "{user:?}");
        }
    }
}

#[tokio::test]
async fn tree_of_an_unmapped_user_is_copied() {
    let dir = TestDir::new(User::Unprivileged);
    let own = rustix::process::geteuid().as_raw();
    std::os::unix::fs::chown(dir.path("tree"), Some(own), None).expect("chown");
    let mut run = dir.start(dir.overlay()).await;
    let expected = if is_root() { "another" } else { file_system_of_an_overlay(User::Unprivileged) };
    assert_eq!(file_system(&mut run).await, expected);
    assert_eq!(output(&mut run, "echo more >>file && cat file").await, "content\nmore\n");
    run.finish().await.expect("finishes");
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn inaccessible_and_deep_directories_are_removed() {
    for user in ALL_USERS {
        for overlay in [true, false] {
            let dir = TestDir::new(user);
            let mut run = dir.start(if overlay { dir.overlay() } else { dir.copy() }).await;
            // Two chains of 3,200 bytes, one moved into the other, make a path longer than `PATH_MAX`.
            let script = "mkdir -p a/b/c && echo x >a/b/c/f && chmod 000 a/b/c a/b a && \
                          mkdir -m 500 app/sub && chmod 111 app && \
                          n=$(printf 'n%.0s' $(seq 200)) && \
                          chain=$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n/$n && \
                          mkdir -p one/$chain two/$chain && mv two one/$chain/";
            output(&mut run, script).await;
            run.finish().await.expect("finishes");
            assert!(!dir.path("run").exists(), "{user:?} {overlay}");
        }
    }
}

#[tokio::test]
async fn paths_may_contain_mount_option_separators() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        fs::rename(dir.path("tree"), dir.path("a:b,c\\d e")).expect("renames");
        dir.directory_at("r:u,n\\ dir");
        let run_dir = dir.path("r:u,n\\ dir");
        let lower = dir.path("a:b,c\\d e");
        let view = View::private(lower, run_dir.clone(), PrivateView::Auto);
        let mut run = dir.start(view).await;
        assert_eq!(file_system(&mut run).await, file_system_of_an_overlay(user));
        assert_eq!(
            output(&mut run, "cat file; pwd -P").await,
            format!("content\n{}\n", run.root().display())
        );
        run.finish().await.expect("finishes");
        assert!(!run_dir.exists());
    }
}

#[tokio::test]
async fn copy_keeps_modes_links_and_times() {
    let dir = TestDir::new(User::Caller);
    dir.file("tree/script.sh", "#!/bin/sh\n");
    fs::set_permissions(dir.path("tree/script.sh"), Permissions::from_mode(0o775)).expect("chmod");
    dir.directory_at("tree/closed");
    dir.file("tree/closed/in", &"x".repeat(300_000));
    fs::set_permissions(dir.path("tree/closed"), Permissions::from_mode(0o555)).expect("chmod");
    symlink("../no/where", dir.path("tree/dangling")).expect("links");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000_000);
    let file = fs::File::options().write(true).open(dir.path("tree/file")).expect("opens");
    file.set_modified(long_ago).expect("sets the time");
    let before = snapshot(&dir.path("tree"));

    let run = dir.start(dir.copy()).await;
    assert_eq!(snapshot(run.root()), before);
    run.finish().await.expect("finishes");
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn uncopyable_entry_is_named_and_nothing_stays() {
    let dir = TestDir::new(User::Caller);
    let made = std::process::Command::new("mkfifo").arg(dir.path("tree/app/pipe")).status();
    assert!(made.expect("mkfifo is installed").success());
    let error = dir.launcher().start(dir.copy(), LIMITS).await.expect_err("a pipe");
    let path = fs::canonicalize(dir.path("tree/app/pipe")).expect("exists");
    assert_eq!(
        error.to_string(),
        format!("launcher: copying the tree: {}: not a file, directory or symbolic link", path.display())
    );
    assert!(!dir.path("run").exists());
}

#[tokio::test]
async fn non_empty_run_directory_is_refused_and_kept() {
    let dir = TestDir::new(User::Caller);
    let view = dir.overlay();
    dir.file("run/precious", "");
    let error = dir.launcher().start(view, LIMITS).await.expect_err("not empty");
    let expected = format!("launcher: run directory {}: not empty", dir.path("run").display());
    assert_eq!(error.to_string(), expected);
    assert!(dir.path("run/precious").exists());
}

#[tokio::test]
async fn missing_tree_is_named_and_nothing_stays() {
    let dir = TestDir::new(User::Caller);
    for (name, reason) in
        [("nothing", "No such file or directory (os error 2)"), ("tree/file", "not a directory")]
    {
        for how in [PrivateView::Auto, PrivateView::Overlay, PrivateView::Copy] {
            let view = View::private(dir.path(name), dir.path("run"), how);
            let error = dir.launcher().start(view, LIMITS).await.expect_err("no tree");
            let expected = format!("launcher: tree {}: {reason}", dir.path(name).display());
            assert_eq!(error.to_string(), expected);
            assert!(!dir.path("run").exists());
        }
        let error = dir.launcher().start(View::Direct { dir: dir.path(name) }, LIMITS).await;
        let expected = format!("launcher: directory {}: {reason}", dir.path(name).display());
        assert_eq!(error.expect_err("no directory").to_string(), expected);
    }
}

#[tokio::test]
async fn refused_overlay_is_reported_and_nothing_stays() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let started = dir.launcher().start(dir.view(PrivateView::Overlay), LIMITS).await;
        match (file_system_of_an_overlay(user), started) {
            ("overlayfs", Ok(mut run)) => {
                assert_eq!(file_system(&mut run).await, "overlayfs", "{user:?}");
                run.finish().await.expect("finishes");
            }
            ("overlayfs", Err(error)) => panic!("{user:?}: {error}"),
            (_, Ok(_)) => panic!("{user:?}: a copy instead of an error"),
            (_, Err(error)) => {
                let text = error.to_string();
                let beginning = "launcher: no overlay: ";
                assert!(text.starts_with(beginning) && text.ends_with("; allow a copy"), "{user:?}: {text}");
            }
        }
        assert!(!dir.path("run").exists(), "{user:?}");
    }
}

#[tokio::test]
async fn probe_reports_the_view_kind_and_leaves_nothing() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        dir.directory_at("run");
        let probed =
            dir.launcher().probe_view(&dir.path("tree"), &dir.path("run"), Shielded::default()).await;
        match (file_system_of_an_overlay(user), probed.expect("answers")) {
            ("overlayfs", ViewKind::Overlay) => {}
            (expected, ViewKind::Copy { reason }) => {
                assert_ne!(expected, "overlayfs", "{user:?}: {reason}");
                assert!(!reason.is_empty(), "{user:?}");
            }
            (_, ViewKind::Overlay) => panic!("{user:?}: no overlay was expected"),
        }
        assert!(!dir.path("run").exists(), "{user:?}");
    }
}

#[tokio::test]
async fn direct_view_is_the_directory_itself() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        let mut run = dir.start(dir.direct()).await;
        assert_eq!(run.root(), fs::canonicalize(dir.path("tree")).expect("exists"));
        output(&mut run, "echo new >new").await;
        run.finish().await.expect("finishes");
        assert_eq!(fs::read_to_string(dir.path("tree/new")).expect("stays"), "new\n");
    }
}

#[tokio::test]
async fn program_that_is_not_a_launcher_is_an_error() {
    let dir = TestDir::new(User::Caller);
    for (program, expected) in [
        ("/bin/true", "launcher: died while it was set up"),
        ("/nowhere/tiphys", "launcher: cannot start /nowhere/tiphys: No such file or directory (os error 2)"),
    ] {
        let launcher = Launcher::new(program);
        let error = launcher.start(dir.overlay(), LIMITS).await.expect_err("no launcher");
        assert!(matches!(error, RunError::Launcher { .. }));
        assert_eq!(error.to_string(), expected);
        assert!(!dir.path("run").exists());
    }
}

#[tokio::test]
async fn overlay_is_visible_to_the_run_only() {
    let dir = TestDir::new(User::Caller);
    let mut run = dir.start(dir.overlay()).await;
    let outcome = execute(&mut run, shell("test -e file")).await.expect("starts");
    assert_eq!(outcome.ended, tiphys_process::Ended::Exited(0));
    if file_system(&mut run).await == "overlayfs" {
        assert!(!run.root().join("file").exists(), "the mount is private");
    }
    run.finish().await.expect("finishes");
}

/// Attempts to reach files in `$STORE` that do not belong to the run. Each must fail or print nothing.
const TRESPASSES: [(&str, &str); 9] = [
    ("reads a file", "cat $STORE/tree/file"),
    ("lists the trees", "ls $STORE/tree"),
    ("lists the other runs", "ls $STORE/runs | grep -vx run"),
    ("writes to a file", "printf evil 1<>$STORE/tree/file"),
    ("gives back the time", "touch -r $STORE/tree/app -d 2001-02-03 $STORE/tree/file"),
    ("writes into another run", "touch $STORE/runs/other/evil"),
    ("takes the cover away", "umount -l $STORE && cat $STORE/tree/file"),
    (
        "takes the cover away as root of its own",
        "unshare --map-root-user --mount sh -c 'umount -l $STORE; umount -l $STORE/runs/run; cat $STORE/tree/file'",
    ),
    (
        "goes through another process",
        "for process in /proc/[0-9]*; do cat $process/root/$STORE/tree/file $process/cwd/store/tree/file; done | grep content",
    ),
];

#[tokio::test]
async fn hidden_directory_is_inaccessible_except_the_own_view() {
    for user in [User::Caller, User::Unprivileged, User::WithoutMounting] {
        if file_system_of_an_overlay(user) != "overlayfs" {
            continue;
        }
        let dir = TestDir::new(user);
        for directory in ["store", "store/runs", "store/runs/other", "store/runs/run"] {
            dir.directory_at(directory);
        }
        fs::rename(dir.path("tree"), dir.path("store/tree")).expect("moves");
        dir.file("store/file", "content\n");
        let before = snapshot(&dir.path("store/tree"));
        let store = fs::canonicalize(dir.path("store")).expect("exists");
        let view = View::Private {
            lower: dir.path("store/tree"),
            others: vec![],
            run_dir: dir.path("store/runs/run"),
            how: PrivateView::Overlay,
            // Nested and missing directories make no difference.
            shielded: Shielded {
                hidden: vec![dir.path("store/runs"), dir.path("store"), dir.path("nothing")],
                read_only: vec![],
            },
        };
        let mut run = dir.start(view).await;
        let store_is = format!("export STORE={}", store.display());
        for (name, script) in TRESPASSES {
            // Root may do this. Covers do not protect from root.
            let by_right = user == User::Caller && is_root();
            if by_right && (script.contains("umount") || script.contains("/proc")) {
                continue;
            }
            let outcome = execute(&mut run, shell(&format!("{store_is}; {script}"))).await.expect("starts");
            let failed = !matches!(outcome.ended, tiphys_process::Ended::Exited(0));
            assert!(failed && outcome.stdout.is_empty(), "{user:?} {name}: {outcome:?} {:?}", outcome.stdout);
        }
        assert_eq!(output(&mut run, &format!("{store_is}; find $STORE -maxdepth 2 | sort")).await, {
            let store = store.display();
            format!("{store}\n{store}/runs\n{store}/runs/run\n")
        });
        let own =
            "cat file && echo new >file && test $PWD/file -ef $STORE/runs/run/root/file && cat $PWD/file";
        assert_eq!(output(&mut run, &format!("{store_is}; {own}")).await, "content\nnew\n");
        // The run sees files that the parent writes next to the view.
        dir.file("store/runs/run/variable", "value\n");
        assert_eq!(output(&mut run, &format!("{store_is}; cat $STORE/runs/run/variable")).await, "value\n");
        run.finish().await.expect("finishes");
        assert_eq!(snapshot(&dir.path("store/tree")), before, "{user:?}");
        let left: Vec<_> = fs::read_dir(dir.path("store/runs")).expect("lists").flatten().collect();
        assert_eq!(left.len(), 1, "{user:?}: {left:?}");
    }
}

#[tokio::test]
async fn other_trees_get_private_views() {
    for user in ALL_USERS {
        for how in [PrivateView::Auto, PrivateView::Copy] {
            let dir = TestDir::new(user);
            for (directory, content) in [("values", "b: 2\n"), ("with,commas:and\\", "c: 3\n")] {
                dir.directory_at(directory);
                dir.file(&format!("{directory}/file"), content);
            }
            let others = vec![dir.path("values"), dir.path("with,commas:and\\")];
            let before = others.iter().map(|other| snapshot(other)).collect::<Vec<_>>();
            dir.directory_at("run");
            let (lower, run_dir) = (dir.path("tree"), dir.path("run"));
            // An overlay hides them at their original paths.
            let shielded = Shielded { hidden: others.clone(), read_only: vec![] };
            let view = View::Private { lower, others: others.clone(), run_dir, how, shielded };
            let mut run = dir.start(view).await;

            let seen = |tree: &Path| run.other(tree).map(|seen| format!("'{}'", seen.display()));
            let [Some(first), Some(second)] = [seen(&others[0]), seen(&others[1])] else {
                panic!("{user:?} {how:?}: {run:?}")
            };
            assert_eq!(seen(&dir.path("tree")), None, "the main tree");
            let script = format!(
                "cat file {first}/file {second}/file; stat -f -c %T {first} {second} . | uniq | wc -l; \
                 echo new >{first}/new && rm {second}/file && ls {first} {second} -x | grep -v :"
            );
            let expected = "content\nb: 2\nc: 3\n1\nfile  new\n\n";
            assert_eq!(output(&mut run, &script).await, expected, "{user:?} {how:?}");

            run.finish().await.expect("finishes");
            let after = others.iter().map(|other| snapshot(other)).collect::<Vec<_>>();
            assert_eq!(after, before, "{user:?} {how:?}");
            assert!(!dir.path("run").exists(), "{user:?} {how:?}");
        }
    }
}

#[tokio::test]
async fn missing_other_tree_is_named() {
    for how in [PrivateView::Auto, PrivateView::Copy] {
        let dir = TestDir::new(User::Caller);
        let (lower, others) = (dir.path("tree"), vec![dir.path("nothing")]);
        let view =
            View::Private { lower, others, run_dir: dir.path("run"), how, shielded: Shielded::default() };
        let error = dir.launcher().start(view, LIMITS).await.expect_err("does not exist");
        let expected = format!(
            "launcher: tree {}: No such file or directory (os error 2)",
            dir.path("nothing").display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(!dir.path("run").exists(), "{how:?}");
    }
}

#[tokio::test]
async fn copy_does_not_hide_directories() {
    for user in ALL_USERS {
        let dir = TestDir::new(user);
        dir.directory_at("runs");
        dir.directory_at("runs/run");
        let hidden = vec![dir.path("tree"), dir.path("runs")];
        let shielded = Shielded { hidden, read_only: vec![] };
        let (lower, run_dir) = (dir.path("tree"), dir.path("runs/run"));
        let mut run = dir
            .start(View::Private { lower, others: vec![], run_dir, how: PrivateView::Auto, shielded })
            .await;
        let there = output(&mut run, &format!("ls {}", dir.path("tree").display())).await;
        let expected = if file_system_of_an_overlay(user) == "overlayfs" { "" } else { "app\nfile\n" };
        assert_eq!(there, expected, "{user:?}");
        assert_eq!(output(&mut run, "cat app/values.yaml").await, "a: 1\n", "{user:?}");
        run.finish().await.expect("finishes");
        assert!(!dir.path("runs/run").exists(), "{user:?}");
        assert!(dir.path("tree/file").exists(), "{user:?}");
    }
}

/// Attempts to replace the socket or to change the plugin. None may change anything.
const TAKEOVERS: [(&str, &str); 10] = [
    ("removes the socket", "rm $P/sockets/p.sock"),
    ("renames the socket", "mv $P/sockets/p.sock $P/sockets/q.sock"),
    ("puts a file at its dir", "echo mine >$P/mine; mv -f $P/mine $P/sockets/p.sock"),
    ("renames the directory", "mv $P/sockets $P/gone"),
    ("renames the directory above", "mv $P $P-gone && mkdir -p $P/sockets"),
    ("writes to the plugin", "echo evil >>$P/plugins/own/plugin.yaml"),
    ("adds to the plugin", "touch $P/plugins/own/evil"),
    ("renames the directory above the plugin", "mv $P/plugins $P/gone"),
    (
        "mounts in a namespace of its own",
        "unshare --map-root-user --mount sh -c 'mount -o remount,rw,bind $P/plugins/own; touch $P/plugins/own/evil'",
    ),
    (
        "unmounts in a namespace of its own",
        "unshare --map-root-user --mount sh -c 'umount -l $P/sockets; umount -l $P/plugins/own; rm $P/sockets/p.sock $P/plugins/own/plugin.yaml; mv $P $P-gone'",
    ),
];

#[tokio::test]
async fn command_in_an_overlay_cannot_change_shielded_dirs() {
    for user in [User::Caller, User::Unprivileged, User::WithoutMounting] {
        if file_system_of_an_overlay(user) != "overlayfs" {
            continue;
        }
        let dir = TestDir::new(user);
        for directory in ["sockets", "plugins", "plugins/own", "run"] {
            dir.directory_at(directory);
        }
        dir.file("sockets/p.sock", "socket\n");
        dir.file("plugins/own/plugin.yaml", "kind: a\n");
        let before = snapshot(dir.directory.path());
        let before: BTreeMap<_, _> =
            before.into_iter().filter(|(name, _)| name.contains("sock") || name.contains("plugin")).collect();
        let view = View::Private {
            lower: dir.path("tree"),
            others: vec![],
            run_dir: dir.path("run"),
            how: PrivateView::Overlay,
            shielded: Shielded {
                hidden: vec![dir.path("sockets")],
                read_only: vec![dir.path("plugins/own")],
            },
        };
        let mut run = dir.start(view).await;
        let here = fs::canonicalize(dir.directory.path()).expect("exists");
        let here = format!("export P={}", here.display());
        let seen = "ls $P/sockets; cat $P/plugins/own/plugin.yaml; touch $P/run/own && ls $P/run/own | wc -l";
        assert_eq!(output(&mut run, &format!("{here}; {seen}")).await, "kind: a\n1\n", "{user:?}");
        for (name, script) in TAKEOVERS {
            // Root may mount. Shields do not protect from root.
            if user == User::Caller && is_root() && script.contains("mount") {
                continue;
            }
            execute(&mut run, shell(&format!("{here}; {script}"))).await.expect("starts");
            let mut after = snapshot(dir.directory.path());
            after.retain(|name, _| {
                before.contains_key(name) || name.contains("sock/") || name.contains("evil")
            });
            assert_eq!(after, before, "{user:?} {name}");
        }
        run.finish().await.expect("finishes");
        assert!(!dir.path("run").exists(), "{user:?}");
    }
}

#[tokio::test]
async fn shielded_directories_may_be_nested() {
    for user in [User::Caller, User::Unprivileged, User::WithoutMounting] {
        if file_system_of_an_overlay(user) != "overlayfs" {
            continue;
        }
        let dir = TestDir::new(user);
        for directory in ["s", "s/plugin", "s/plugin/work", "s/plugin/work/runs", "s/plugin/work/runs/run"] {
            dir.directory_at(directory);
        }
        for file in ["s/a", "s/plugin/b", "s/plugin/work/c", "s/plugin/work/runs/d"] {
            dir.file(file, "");
        }
        let view = View::Private {
            lower: dir.path("tree"),
            others: vec![],
            run_dir: dir.path("s/plugin/work/runs/run"),
            how: PrivateView::Overlay,
            shielded: Shielded {
                hidden: ["s", "s/plugin/work", "s/plugin/work/runs"].map(|name| dir.path(name)).to_vec(),
                read_only: vec![dir.path("s/plugin")],
            },
        };
        let mut run = dir.start(view).await;
        let here = fs::canonicalize(dir.path("s")).expect("exists");
        let script = format!(
            "cd {} && find . -maxdepth 4 | sort; touch plugin/work/runs/run/own; touch plugin/no 2>&1 | grep -c Read-only",
            here.display()
        );
        let expected =
            ".\n./plugin\n./plugin/b\n./plugin/work\n./plugin/work/runs\n./plugin/work/runs/run\n1\n";
        assert_eq!(output(&mut run, &script).await, expected, "{user:?}");
        run.finish().await.expect("finishes");
        let mut left: Vec<_> = snapshot(&dir.path("s")).into_keys().collect();
        left.retain(|name| !dir.path("s").join(name).is_dir());
        assert_eq!(left, ["a", "plugin/b", "plugin/work/c", "plugin/work/runs/d"], "{user:?}");
        assert!(!dir.path("s/plugin/work/runs/run").exists(), "{user:?}");
    }
}
