//! A plugin server in one process, and its callers in another.

use std::os::unix::net::UnixListener;

use crate::running::{Pipe, Running};
use crate::world::{Output, URL, World};

/// Starts a server for a plugin and waits until it serves.
fn serve(world: &World, plugin: &str) -> (Running, Pipe) {
    let config = format!("--config-dir-path=plugins/{plugin}");
    let mut server = world.start(&["cmp-server", &config, "--plugin-sockets=sockets"]);
    let log = server.stderr();
    log.line_with("serving on");
    (server, log)
}

fn world() -> World {
    let world = World::new();
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web, namespace: argocd}}
spec:
  source:
    repoURL: {URL}
    path: marked
    plugin: {{parameters: [{{name: name, string: served}}]}}
  destination: {{namespace: shop}}
"
    );
    let failing = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: failing}
spec:
  generate: {command: [sh, -c, \"echo no moon >&2; exit 7\"]}
  parameters:
    static: [{name: phase, string: full}]
";
    world.write("store/web.yaml", &application).write("plugins/failing/plugin.yaml", failing);
    std::fs::create_dir(world.path("sockets")).expect("the folder can be made");
    world
}

fn render(world: &World, more: &[&str]) -> Output {
    let repo = format!("--repo={URL}=repo");
    world.run(&[&["render", "--store=store", "--config=pluginSockets=sockets", &repo], more].concat())
}

#[test]
fn server_renders_the_same_as_its_plugin_in_process() {
    let world = world();
    let repo = format!("--repo={URL}=repo");
    let in_process = world.run(&["render", "--store=store", "--plugins=plugins/echo", &repo]);
    let (server, _log) = serve(&world, "echo");
    let served = render(&world, &[]);
    assert_eq!(served, in_process);
    assert!(served.stdout.contains("name: served\n"), "{}", served.stdout);
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
    assert!(!world.path("sockets/echo.sock").exists(), "the socket is removed");
    assert_eq!(world.left_behind_but(&["tiphys-cmp-server"]), Vec::<std::path::PathBuf>::new());
    let views = world.path("tmp/tiphys-cmp-server/runs");
    let left = std::fs::read_dir(views).expect("read_dir");
    let left: Vec<_> =
        left.map(|entry| entry.expect("an entry").file_name()).filter(|name| name != "gate").collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
}

#[test]
fn a_variable_sets_the_directory_of_the_sockets() {
    let world = world();
    let (_server, _log) = serve(&world, "echo");
    let mut command = world.command(crate::world::TIPHYS);
    command
        .args(["plugin", "list", "--config=noDefaultPlugins=true", "-o", "json"])
        .env("ARGOCD_PLUGINSOCKFILEPATH", "sockets");
    let output = world.finish(command);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let expected = serde_json::json!([{
        "name": "echo",
        "from": "$WORLD/sockets/echo.sock",
        "discovery": "by its server",
        "parameters": null,
        "problem": null,
    }]);
    let list: serde_json::Value = serde_json::from_str(&output.stdout).expect("the output is JSON");
    assert_eq!(list, expected);
}

#[test]
fn failure_of_a_server_includes_its_standard_error() {
    let world = world();
    let (_server, _log) = serve(&world, "failing");
    let application = std::fs::read_to_string(world.path("store/web.yaml")).expect("read application");
    world.write("store/web.yaml", &application.replace("plugin: {", "plugin: {name: failing, "));
    let output = render(&world, &[]);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    let expected = "error: application argocd/web (store/web.yaml:1:1): source https://git.example.org/team/apps.git at HEAD, path \
                    marked: plugin \"failing\": plugin server $WORLD/sockets/failing.sock: ";
    assert!(output.stderr.starts_with(expected), "{}", output.stderr);
    assert!(output.stderr.contains("exit status 7: no moon"), "{}", output.stderr);
    let repo = format!("--repo={URL}=repo");
    let args = ["params", "list", "web", "--store=store", "--config=pluginSockets=sockets", &repo];
    let listed = world.run(&args);
    assert_eq!(listed.code, 0);
    assert!(listed.stdout.contains("\nphase   string"), "{}", listed.stdout);
}

#[test]
fn socket_without_a_server_is_named() {
    let world = world();
    drop(UnixListener::bind(world.path("sockets/dead.sock")).expect("the socket can be made"));
    let output = render(&world, &[]);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    assert!(output.stderr.contains("plugin \"dead\" cannot determine"), "{}", output.stderr);
    assert!(output.stderr.contains("$WORLD/sockets/dead.sock"), "{}", output.stderr);
}
