//! `params set` that is interrupted, or whose file is changed concurrently.

use crate::world::{Output, World};

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source:
    repoURL: https://git.example.org/team/apps.git
    path: plain
    plugin:
      name: holder
      parameters:
      - {name: a, string: old}
  destination: {namespace: shop}
";

/// A world whose plugin runs a script for its announcement. Descriptor 3 of the script is the pipe `$PIPE`.
fn world(script: &str) -> World {
    let world = World::new();
    let plugin = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: holder}
spec:
  generate: {command: [\"true\"]}
  parameters: {dynamic: {command: [holder.sh]}}
";
    world
        .write("store/web.yaml", APPLICATION)
        .write("plugins/holder/plugin.yaml", plugin)
        .write("plugins/holder/holder.sh", &format!("#!/bin/sh\nexec 3> \"$PIPE\"\n{script}\n"));
    world
}

const SET: &[&str] = &[
    "params",
    "set",
    "web",
    "a=new",
    "--store=store",
    "--plugins=plugins",
    "--repo=https://git.example.org/team/apps.git=repo",
    "--config=passEnv=PIPE",
];

fn files_of_the_store(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.path("store")).expect("the store can be read");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn interrupted_set_changes_nothing() {
    for signal in ["INT", "TERM"] {
        let world = world("echo started >&3\nsleep 1000");
        let pipe = world.pipe("pipe");
        let running = world.start_with("PIPE", &world.path("pipe"), SET);
        assert_eq!(pipe.line(), "started");
        running.signal(&world, signal);
        let interrupted =
            Output { code: 130, stdout: String::new(), stderr: "error: interrupted\n".to_owned() };
        assert_eq!(running.finish(&world), interrupted, "{signal}");
        pipe.ends();
        assert_eq!(world.read("store/web.yaml"), APPLICATION);
        assert_eq!(files_of_the_store(&world), ["web.yaml"]);
        assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn concurrent_change_of_the_file_is_a_conflict() {
    let world = world("echo started >&3\nread line < \"$PIPE.go\"\necho '[{\"name\":\"a\"}]'");
    let go = world.path("pipe.go");
    let mut mkfifo = world.command("mkfifo");
    mkfifo.arg(&go);
    assert_eq!(world.finish(mkfifo).code, 0);
    let pipe = world.pipe("pipe");
    let running = world.start_with("PIPE", &world.path("pipe"), SET);
    assert_eq!(pipe.line(), "started");
    let other = format!("{APPLICATION}# changed concurrently\n");
    world.write("store/web.yaml", &other);
    std::fs::write(&go, "go\n").expect("the script reads");
    let output = running.finish(&world);
    assert_eq!((output.code, output.stdout.as_str()), (4, ""));
    assert_eq!(
        output.stderr,
        "error: store/web.yaml was changed by another process after it was read; nothing was written, try again\n"
    );
    assert_eq!(world.read("store/web.yaml"), other);
    assert_eq!(files_of_the_store(&world), ["web.yaml"]);
}
