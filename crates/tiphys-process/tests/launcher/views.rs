//! What the commands see, and that nothing of it stays.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tiphys_process::{Launcher, PrivateView, RunError, Shielded, View, ViewKind};

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
        let view = View::Private {
            lower,
            others: vec![],
            run_dir: run_dir.clone(),
            how: PrivateView::Auto,
            shielded: Shielded::default(),
        };
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
            let view = View::Private {
                lower: place.path(name),
                others: vec![],
                run_dir: place.path("run"),
                how,
                shielded: Shielded::default(),
            };
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
        let probed =
            place.launcher().probe_view(&place.path("tree"), &place.path("run"), Shielded::default()).await;
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

/// Ways to files in `$STORE` that are not of the run; each has to fail, or to print nothing.
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
async fn a_hidden_folder_is_out_of_reach_of_commands_in_an_overlay_but_for_their_own_view() {
    for who in [Who::Caller, Who::Unprivileged, Who::WithoutMounting] {
        if file_system_of_an_overlay(who) != "overlayfs" {
            continue;
        }
        let place = Place::new(who);
        for folder in ["store", "store/runs", "store/runs/other", "store/runs/run"] {
            place.folder_at(folder);
        }
        fs::rename(place.path("tree"), place.path("store/tree")).expect("moves");
        place.file("store/file", "content\n");
        let before = snapshot(&place.path("store/tree"));
        let store = fs::canonicalize(place.path("store")).expect("is there");
        let view = View::Private {
            lower: place.path("store/tree"),
            others: vec![],
            run_dir: place.path("store/runs/run"),
            how: PrivateView::Overlay,
            // What is in another one, and what is not there, does not matter.
            shielded: Shielded {
                hidden: vec![place.path("store/runs"), place.path("store"), place.path("nothing")],
                read_only: vec![],
            },
        };
        let mut run = place.start(view).await;
        let store_is = format!("export STORE={}", store.display());
        for (name, script) in TRESPASSES {
            // Root may do all this, and is not what a cover is for.
            let by_right = who == Who::Caller && is_root();
            if by_right && (script.contains("umount") || script.contains("/proc")) {
                continue;
            }
            let outcome = execute(&mut run, shell(&format!("{store_is}; {script}"))).await.expect("starts");
            let failed = !matches!(outcome.ended, tiphys_process::Ended::Exited(0));
            assert!(failed && outcome.stdout.is_empty(), "{who:?} {name}: {outcome:?} {:?}", outcome.stdout);
        }
        assert_eq!(output(&mut run, &format!("{store_is}; find $STORE -maxdepth 2 | sort")).await, {
            let store = store.display();
            format!("{store}\n{store}/runs\n{store}/runs/run\n")
        });
        let own =
            "cat file && echo new >file && test $PWD/file -ef $STORE/runs/run/root/file && cat $PWD/file";
        assert_eq!(output(&mut run, &format!("{store_is}; {own}")).await, "content\nnew\n");
        // What the parent writes beside the view is for the run.
        place.file("store/runs/run/variable", "value\n");
        assert_eq!(output(&mut run, &format!("{store_is}; cat $STORE/runs/run/variable")).await, "value\n");
        run.finish().await.expect("finishes");
        assert_eq!(snapshot(&place.path("store/tree")), before, "{who:?}");
        let left: Vec<_> = fs::read_dir(place.path("store/runs")).expect("lists").flatten().collect();
        assert_eq!(left.len(), 1, "{who:?}: {left:?}");
    }
}

#[tokio::test]
async fn other_trees_are_seen_privately_as_well() {
    for who in EVERYONE {
        for how in [PrivateView::Auto, PrivateView::Copy] {
            let place = Place::new(who);
            for (folder, content) in [("values", "b: 2\n"), ("with,commas:and\\", "c: 3\n")] {
                place.folder_at(folder);
                place.file(&format!("{folder}/file"), content);
            }
            let others = vec![place.path("values"), place.path("with,commas:and\\")];
            let before = others.iter().map(|other| snapshot(other)).collect::<Vec<_>>();
            place.folder_at("run");
            let (lower, run_dir) = (place.path("tree"), place.path("run"));
            // An overlay hides them at their own places.
            let shielded = Shielded { hidden: others.clone(), read_only: vec![] };
            let view = View::Private { lower, others: others.clone(), run_dir, how, shielded };
            let mut run = place.start(view).await;

            let seen = |tree: &Path| run.other(tree).map(|seen| format!("'{}'", seen.display()));
            let [Some(first), Some(second)] = [seen(&others[0]), seen(&others[1])] else {
                panic!("{who:?} {how:?}: {run:?}")
            };
            assert_eq!(seen(&place.path("tree")), None, "it is no other tree");
            let script = format!(
                "cat file {first}/file {second}/file; stat -f -c %T {first} {second} . | uniq | wc -l; \
                 echo new >{first}/new && rm {second}/file && ls {first} {second} -x | grep -v :"
            );
            let expected = "content\nb: 2\nc: 3\n1\nfile  new\n\n";
            assert_eq!(output(&mut run, &script).await, expected, "{who:?} {how:?}");

            run.finish().await.expect("finishes");
            let after = others.iter().map(|other| snapshot(other)).collect::<Vec<_>>();
            assert_eq!(after, before, "{who:?} {how:?}");
            assert!(!place.path("run").exists(), "{who:?} {how:?}");
        }
    }
}

#[tokio::test]
async fn another_tree_that_is_not_there_is_named() {
    for how in [PrivateView::Auto, PrivateView::Copy] {
        let place = Place::new(Who::Caller);
        let (lower, others) = (place.path("tree"), vec![place.path("nothing")]);
        let view =
            View::Private { lower, others, run_dir: place.path("run"), how, shielded: Shielded::default() };
        let error = place.launcher().start(view, LIMITS).await.expect_err("it is not there");
        let expected = format!(
            "launcher: tree {}: No such file or directory (os error 2)",
            place.path("nothing").display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(!place.path("run").exists(), "{how:?}");
    }
}

#[tokio::test]
async fn what_is_hidden_from_an_overlay_is_there_for_a_copy_that_takes_its_place() {
    for who in EVERYONE {
        let place = Place::new(who);
        place.folder_at("runs");
        place.folder_at("runs/run");
        let hidden = vec![place.path("tree"), place.path("runs")];
        let shielded = Shielded { hidden, read_only: vec![] };
        let (lower, run_dir) = (place.path("tree"), place.path("runs/run"));
        let mut run = place
            .start(View::Private { lower, others: vec![], run_dir, how: PrivateView::Auto, shielded })
            .await;
        let there = output(&mut run, &format!("ls {}", place.path("tree").display())).await;
        let expected = if file_system_of_an_overlay(who) == "overlayfs" { "" } else { "app\nfile\n" };
        assert_eq!(there, expected, "{who:?}");
        assert_eq!(output(&mut run, "cat app/values.yaml").await, "a: 1\n", "{who:?}");
        run.finish().await.expect("finishes");
        assert!(!place.path("runs/run").exists(), "{who:?}");
        assert!(place.path("tree/file").exists(), "{who:?}");
    }
}

/// Ways to put something else at the path of the socket, or into the plugin; none may change anything.
const TAKEOVERS: [(&str, &str); 10] = [
    ("removes the socket", "rm $P/sockets/p.sock"),
    ("renames the socket", "mv $P/sockets/p.sock $P/sockets/q.sock"),
    ("puts a file at its place", "echo mine >$P/mine; mv -f $P/mine $P/sockets/p.sock"),
    ("renames the folder", "mv $P/sockets $P/gone"),
    ("renames the folder above", "mv $P $P-gone && mkdir -p $P/sockets"),
    ("writes to the plugin", "echo evil >>$P/plugins/own/plugin.yaml"),
    ("adds to the plugin", "touch $P/plugins/own/evil"),
    ("renames the folder above the plugin", "mv $P/plugins $P/gone"),
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
async fn a_command_in_an_overlay_can_change_no_shielded_folder() {
    for who in [Who::Caller, Who::Unprivileged, Who::WithoutMounting] {
        if file_system_of_an_overlay(who) != "overlayfs" {
            continue;
        }
        let place = Place::new(who);
        for folder in ["sockets", "plugins", "plugins/own", "run"] {
            place.folder_at(folder);
        }
        place.file("sockets/p.sock", "socket\n");
        place.file("plugins/own/plugin.yaml", "kind: a\n");
        let before = snapshot(place.folder.path());
        let before: BTreeMap<_, _> =
            before.into_iter().filter(|(name, _)| name.contains("sock") || name.contains("plugin")).collect();
        let view = View::Private {
            lower: place.path("tree"),
            others: vec![],
            run_dir: place.path("run"),
            how: PrivateView::Overlay,
            shielded: Shielded {
                hidden: vec![place.path("sockets")],
                read_only: vec![place.path("plugins/own")],
            },
        };
        let mut run = place.start(view).await;
        let here = fs::canonicalize(place.folder.path()).expect("is there");
        let here = format!("export P={}", here.display());
        let seen = "ls $P/sockets; cat $P/plugins/own/plugin.yaml; touch $P/run/own && ls $P/run/own | wc -l";
        assert_eq!(output(&mut run, &format!("{here}; {seen}")).await, "kind: a\n1\n", "{who:?}");
        for (name, script) in TAKEOVERS {
            // Root may mount, and is not what a shield is for.
            if who == Who::Caller && is_root() && script.contains("mount") {
                continue;
            }
            execute(&mut run, shell(&format!("{here}; {script}"))).await.expect("starts");
            let mut after = snapshot(place.folder.path());
            after.retain(|name, _| {
                before.contains_key(name) || name.contains("sock/") || name.contains("evil")
            });
            assert_eq!(after, before, "{who:?} {name}");
        }
        run.finish().await.expect("finishes");
        assert!(!place.path("run").exists(), "{who:?}");
    }
}

#[tokio::test]
async fn shielded_folders_may_be_in_each_other() {
    for who in [Who::Caller, Who::Unprivileged, Who::WithoutMounting] {
        if file_system_of_an_overlay(who) != "overlayfs" {
            continue;
        }
        let place = Place::new(who);
        for folder in ["s", "s/plugin", "s/plugin/work", "s/plugin/work/runs", "s/plugin/work/runs/run"] {
            place.folder_at(folder);
        }
        for file in ["s/a", "s/plugin/b", "s/plugin/work/c", "s/plugin/work/runs/d"] {
            place.file(file, "");
        }
        let view = View::Private {
            lower: place.path("tree"),
            others: vec![],
            run_dir: place.path("s/plugin/work/runs/run"),
            how: PrivateView::Overlay,
            shielded: Shielded {
                hidden: ["s", "s/plugin/work", "s/plugin/work/runs"].map(|name| place.path(name)).to_vec(),
                read_only: vec![place.path("s/plugin")],
            },
        };
        let mut run = place.start(view).await;
        let here = fs::canonicalize(place.path("s")).expect("is there");
        let script = format!(
            "cd {} && find . -maxdepth 4 | sort; touch plugin/work/runs/run/own; touch plugin/no 2>&1 | grep -c Read-only",
            here.display()
        );
        let expected =
            ".\n./plugin\n./plugin/b\n./plugin/work\n./plugin/work/runs\n./plugin/work/runs/run\n1\n";
        assert_eq!(output(&mut run, &script).await, expected, "{who:?}");
        run.finish().await.expect("finishes");
        let mut left: Vec<_> = snapshot(&place.path("s")).into_keys().collect();
        left.retain(|name| !place.path("s").join(name).is_dir());
        assert_eq!(left, ["a", "plugin/b", "plugin/work/c", "plugin/work/runs/d"], "{who:?}");
        assert!(!place.path("s/plugin/work/runs/run").exists(), "{who:?}");
    }
}
