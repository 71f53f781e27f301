//! `--offline` with a read-only cache: renders a commit and a chart that were fetched before, and a packed chart. A damaged cache.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use tiphys_testkit::chart::Chart;
use tiphys_testkit::chart_server::{ChartServer, Transport};
use tiphys_testkit::wait::until;

use crate::running::Running;
use crate::world::{TIPHYS, World};

const PLUGIN: &str = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: show}
spec: {generate: {command: [cat, object.yaml]}}
";

/// Makes the cache read-only, and runs the following command.
const READ_ONLY: &str = "mount --bind cache cache && mount -o remount,bind,ro cache && exec \"$0\" \"$@\"";

const RENDER: [&str; 5] =
    ["render", "--store=store", "--plugins=plugins", "--repo=https://charts.example.org=packed", "-o=name"];

const RENDERED: &str = "configmap/of-chart\nconfigmap/of-commit\nconfigmap/of-packed\n";

/// A world with three applications and a cache with fetched content only; `None` on a system without user namespaces.
fn world() -> Option<World> {
    let (world, server) = (World::new(), ChartServer::start(Transport::Plain));
    let object = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    let chart = |version, name| Chart::new("web", version).with("object.yaml", &object(name));
    server.repository("/charts", &[chart("1.0.0", "of-chart")]);
    let packed = chart("2.0.0", "of-packed");
    fs::create_dir(world.path("packed")).expect("made");
    fs::write(world.path("packed").join(packed.archive_name()), packed.pack()).expect("written");
    let repository = world.path("remote");
    fs::create_dir(&repository).expect("made");
    world.write("remote/object.yaml", &object("of-commit"));
    for args in
        [&["init", "--quiet", "-b", "main"][..], &["add", "--all"], &["commit", "--quiet", "-m", "one"]]
    {
        let mut command = world.command("git");
        command.current_dir(&repository).args(args);
        assert_eq!(world.finish(command).code, 0, "git {args:?}");
    }
    for (name, source) in [
        ("chart", format!("repoURL: '{}/charts', chart: web, targetRevision: 1.x", server.url())),
        ("commit", format!("repoURL: 'file://{}', path: ., targetRevision: main", repository.display())),
        ("packed", "repoURL: 'https://charts.example.org', chart: web, targetRevision: 2.x".to_owned()),
    ] {
        let application = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  source: {{{source}, plugin: {{name: show}}}}\n  destination: {{namespace: shop}}\n"
        );
        world.write(&format!("store/{name}.yaml"), &application);
    }
    world.write("plugins/show/plugin.yaml", PLUGIN);
    let online = world.run(&RENDER);
    assert_eq!((online.code, online.stdout.as_str(), online.stderr.as_str()), (0, RENDERED, ""));
    // Only fetched content, no trees.
    fs::remove_dir_all(world.path("cache/tiphys/trees")).expect("removed");
    let probe = with_read_only_cache(&world, "true", &[]);
    (world.finish(probe).code == 0).then_some(world)
}

/// A command with a read-only cache.
fn with_read_only_cache(world: &World, program: &str, args: &[&str]) -> Command {
    let mut command = world.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", READ_ONLY, program]).args(args);
    command
}

#[test]
fn read_only_cache_suffices_offline() {
    let Some(world) = world() else { return };
    for (options, expected) in [(&["--offline"][..], (0, RENDERED)), (&[], (2, ""))] {
        let output = world.finish(with_read_only_cache(&world, TIPHYS, &[&RENDER, options].concat()));
        assert_eq!((output.code, output.stdout.as_str()), expected, "{options:?}: {}", output.stderr);
        assert_eq!(world.left_behind(), Vec::<PathBuf>::new(), "{options:?}");
    }
}

#[test]
fn damaged_secret_of_the_cache_is_replaced_with_a_warning() {
    let Some(world) = world() else { return };
    world.write("cache/tiphys/git.secret", "short");
    let warning = "warning: $WORLD/cache/tiphys/git.secret was damaged and is replaced; repositories are fetched again\n";
    for expected in [warning, ""] {
        let output = world.run(&["render", "commit", "--store=store", "--plugins=plugins", "-o=name"]);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("configmap/of-commit\n", expected));
    }
}

/// The directory in which commands of this user create trees.
fn folder_of_trees(world: &World) -> PathBuf {
    let entries = fs::read_dir(world.path("tmp")).expect("a folder");
    let folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tiphys-trees-"))
        })
        .collect();
    let [folder] = &folders[..] else { panic!("{folders:?}") };
    folder.clone()
}

/// The directories of running and of killed commands.
fn sessions(world: &World, below: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder_of_trees(world).join(below)).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("session-")))
        .collect()
}

#[test]
fn leftovers_of_a_killed_command_are_removed_by_the_next_one() {
    let Some(world) = world() else { return };
    let holds = "#!/bin/sh\nexec 3> \"$PIPE\"\necho started >&3\nexec tail -f /dev/null\n";
    world
        .write("hold/hold.sh", holds)
        .write("hold/plugin.yaml", &PLUGIN.replace("cat, object.yaml", "hold.sh"));
    let pipe = world.pipe("pipe");
    let mut args = RENDER.to_vec();
    args.extend(["--offline", "--plugins=hold", "--config=passEnv=PIPE", "--limit=jobs=1"]);
    args.retain(|arg| *arg != "--plugins=plugins");
    let mut command = with_read_only_cache(&world, TIPHYS, &args);
    command.env("PIPE", world.path("pipe"));
    let running = Running::of(command);
    pipe.line_with("started");
    running.signal(&world, "KILL");
    assert_eq!(running.finish(&world).code, 128 + 9);
    pipe.ends();
    let is_swept = |run: &PathBuf| fs::read_dir(run).is_ok_and(|entries| entries.count() == 1);
    let runs = sessions(&world, "runs");
    assert_eq!(runs.len(), 1, "directory of its views");
    until(|| runs.iter().all(is_swept).then_some(())); // The launcher removes the view.
    assert_eq!(sessions(&world, "").len(), 1, "its trees are left");

    let output = world.finish(with_read_only_cache(&world, TIPHYS, &[&RENDER[..], &["--offline"]].concat()));
    assert_eq!((output.code, output.stdout.as_str()), (0, RENDERED), "{}", output.stderr);
    assert_eq!(world.left_behind(), Vec::<PathBuf>::new());
}

#[test]
fn directory_that_others_may_write_to_is_not_used() {
    let Some(world) = world() else { return };
    let render = || {
        let output =
            world.finish(with_read_only_cache(&world, TIPHYS, &[&RENDER[..], &["--offline"]].concat()));
        assert_eq!((output.code, output.stdout.as_str()), (0, RENDERED), "{}", output.stderr);
        output.stderr
    };
    assert_eq!(render(), "");
    let folder = folder_of_trees(&world);
    let warns = || {
        let text = render();
        let expected = "belongs to another user, has open permissions or is not a folder; using ";
        assert!(text.starts_with("warning: ") && text.contains(expected), "{text}");
        assert_eq!(folder_of_trees(&world), folder, "the other directory is removed");
    };
    fs::set_permissions(&folder, Permissions::from_mode(0o770)).expect("set_permissions");
    warns();
    fs::rename(&folder, world.path("own")).expect("rename");
    fs::set_permissions(world.path("own"), Permissions::from_mode(0o700)).expect("set_permissions");
    symlink(world.path("own"), &folder).expect("symlink");
    warns();
}
