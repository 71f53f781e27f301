//! The plugin server from start to end: settings, log, HTTP endpoint, shutdown.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::running::{Pipe, Running};
use crate::world::{Output, TIPHYS, URL, World};

/// A world with the directory of sockets, and an Application of a plugin that opens the pipe `$PIPE` as descriptor 3 and runs the
/// script.
pub(crate) fn world(script: &str) -> World {
    let world = World::new();
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web, namespace: argocd}}
spec:
  source: {{repoURL: {URL}, path: plain, plugin: {{name: holder}}}}
  destination: {{namespace: shop}}
"
    );
    let plugin = "apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: holder}
spec: {generate: {command: [holder.sh]}}
";
    world
        .write("store/web.yaml", &application)
        .write("plugins/holder/plugin.yaml", plugin)
        .write("plugins/holder/holder.sh", &format!("#!/bin/sh\nexec 3> \"$PIPE\"\n{script}\n"));
    world
}

/// The server's command.
pub(crate) fn server(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(TIPHYS);
    command.args(["cmp-server", "--config-dir-path=plugins/holder", "--plugin-sockets=sockets"]).args(args);
    command.env("PIPE", world.path("pipe"));
    command
}

/// Starts a server and waits until it serves.
pub(crate) fn serving(command: Command) -> (Running, Pipe) {
    let mut server = Running::of(command);
    let log = server.stderr();
    log.line_with("serving on");
    (server, log)
}

pub(crate) fn render(world: &World) -> Running {
    let repo = format!("--repo={URL}=repo");
    world.start(&["render", "--store=store", "--config=pluginSockets=sockets", &repo])
}

/// A log line without its time.
pub(crate) fn event(line: &str) -> Value {
    let mut event: Value = serde_json::from_str(line).expect("a line is JSON");
    let time = event.as_object_mut().expect("a line is an object").remove("time").expect("a line has a time");
    assert_eq!(time.as_str().map(str::len), Some("2026-01-02T03:04:05Z".len()), "{line}");
    event
}

/// The last log line of a server that did not start.
fn fatal(output: &Output) -> String {
    assert_eq!((output.code, output.stdout.as_str()), (20, ""), "{output:?}");
    let line = event(output.stderr.lines().last().expect("last log line"));
    assert_eq!(line["level"], "fatal", "{line}");
    line["msg"].as_str().expect("a string").to_owned()
}

#[test]
fn failure_to_start_is_the_last_log_line_with_code_20() {
    let world = world("");
    let run = |command: Command| fatal(&world.finish(command));
    let missing = run(server(&world, &["--config-dir-path=gone"]));
    assert!(missing.contains("cannot read $WORLD/gone"), "{missing}");

    world.write("sockets/file.sock", "").write(
        "plugins/file/plugin.yaml",
        "kind: ConfigManagementPlugin\nmetadata: {name: file}\nspec: {generate: {command: [a]}}\n",
    );
    let in_the_way = run(server(&world, &["--config-dir-path=plugins/file"]));
    assert_eq!(in_the_way, "$WORLD/sockets/file.sock is not a socket; remove it");

    let long = format!("--plugin-sockets={}", "s".repeat(120));
    let too_long = run(server(&world, &[&long]));
    assert!(
        too_long.contains("at most 107 are possible: shorten the plugin's name or version"),
        "{too_long}"
    );

    world.write("busy", "");
    let work = run(server(&world, &["--workdir=busy"]));
    assert!(work.starts_with("error initializing plugin service: "), "{work}");

    let address = run(server(&world, &["--metrics-address=192.0.2.1:1"]));
    assert!(address.starts_with("--metrics-address 192.0.2.1:1: "), "{address}");
}

#[test]
fn socket_of_a_live_server_is_kept_and_a_dead_one_replaced() {
    let world = world("");
    std::fs::create_dir(world.path("sockets")).expect("the folder can be made");
    drop(UnixListener::bind(world.path("sockets/holder.sock")).expect("the socket can be made"));
    let (first, _log) = serving(server(&world, &[]));
    let second = fatal(&world.finish(server(&world, &[])));
    assert_eq!(
        second,
        "socket $WORLD/sockets/holder.sock is in use by another plugin server; end it, or give this plugin another name or version"
    );
    assert!(world.path("sockets/holder.sock").exists(), "the first server's socket");
    first.signal(&world, "TERM");
    assert_eq!(first.finish(&world).code, 0);
}

#[test]
fn invalid_flag_under_argo_cds_name_is_logged_with_code_20() {
    let world = world("");
    for called in ["name", "variable"] {
        let mut command = if called == "name" {
            let link = world.path("argocd-cmp-server");
            std::os::unix::fs::symlink(TIPHYS, &link).expect("the link can be made");
            world.command(link.to_str().expect("the path is UTF-8"))
        } else {
            let mut command = world.command(TIPHYS);
            command.env("ARGOCD_BINARY_NAME", "argocd-cmp-server");
            command
        };
        command.arg("--no-such-flag");
        assert_eq!(fatal(&world.finish(command)), "unexpected argument '--no-such-flag' found", "{called}");
    }
    let as_tiphys = world.run(&["cmp-server", "--no-such-flag"]);
    assert_eq!(as_tiphys.code, 2, "a usage error");
    let mut help = world.command(TIPHYS);
    help.env("ARGOCD_BINARY_NAME", "argocd-cmp-server").arg("--help");
    let help = world.finish(help);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("--otlp-sample-ratio"), "{}", help.stdout);
}

#[test]
fn log_has_argo_cds_lines_and_keys() {
    let world = world("");
    let mut command = server(&world, &[]);
    command.env("ARGOCD_CMP_SERVER_LOGLEVEL", "loud").env("ARGOCD_EXEC_TIMEOUT", "");
    let mut running = Running::of(command);
    let log = running.stderr();
    let mut starting = event(&log.line());
    starting.as_object_mut().expect("an object").remove("commit").expect("commit");
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({"level": "info", "msg": "ArgoCD ConfigManagementPlugin Server is starting", "version": version});
    assert_eq!(starting, expected);
    let warned = "ARGOCD_CMP_SERVER_LOGLEVEL: \"loud\" is not a log level; using the default info";
    assert_eq!(event(&log.line()), json!({"level": "warning", "msg": warned}));
    let none = "No discovery configuration is defined for plugin holder. To use this plugin, specify \"holder\" in the Application's \
                spec.source.plugin.name field.";
    assert_eq!(event(&log.line()), json!({"level": "info", "msg": none}));
    let socket = world.path("sockets/holder.sock");
    let serving = format!("argocd-cmp-server {version} serving on {}", socket.display());
    assert_eq!(event(&log.line()), json!({"level": "info", "msg": serving}));
    log.line_with(r#""private_view":"#);
    running.signal(&world, "TERM");
    log.line_with("shutting down");
    log.line_with("all calls have ended");
    assert_eq!(running.finish(&world), Output { code: 0, stdout: String::new(), stderr: String::new() });
}

#[test]
fn log_format_and_level_can_be_set() {
    let world = world("");
    let (running, log) = serving(server(&world, &["--logformat=text"]));
    running.signal(&world, "INT");
    let line = loop {
        let line = log.line();
        if line.contains("shutting down") {
            break line;
        }
    };
    assert!(line.starts_with("time=\"20"), "{line}");
    assert!(line.contains("Z\" level=info msg=\"shutting down: "), "{line}");
    assert_eq!(running.finish(&world).code, 0);
    let quiet = world.finish(server(&world, &["--loglevel=error", "--config-dir-path=gone"]));
    assert_eq!(quiet.stderr.lines().count(), 1, "only the fatal error: {}", quiet.stderr);
}

/// Status line and body of a response.
pub(crate) fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("the address is served");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").expect("request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the answer is UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("head");
    (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
}

#[test]
fn metrics_count_calls_without_their_content() {
    let world = world("echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'");
    let pipe = world.pipe("pipe");
    let mut running = Running::of(server(&world, &["--metrics-address=0"]));
    let log = running.stderr();
    let address = loop {
        let line = log.line();
        if let Some((_, rest)) = line.split_once("metrics are on http://") {
            break rest.split('/').next().expect("an address").to_owned();
        }
    };
    log.line_with("serving on");
    assert_eq!(render(&world).finish(&world).code, 0);
    pipe.ends();
    assert_eq!(get(&address, "/healthz"), ("HTTP/1.1 200 OK".to_owned(), "serving\n".to_owned()));
    let (status, text) = get(&address, "/metrics");
    assert_eq!(status, "HTTP/1.1 200 OK");
    for line in [
        r#"tiphys_cmp_calls_total{method="GenerateManifest",code="OK"} 1"#,
        r#"tiphys_cmp_commands_total{step="generate",ended="succeeded"} 1"#,
        r#"tiphys_cmp_step_seconds_count{step="parse"} 1"#,
        "tiphys_cmp_queue_length 0",
        "tiphys_cmp_serving 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
    }
    for secret in ["web", "argocd", "plain", "shop", "apps.git"] {
        assert!(!text.contains(secret), "{secret}:\n{text}");
    }
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 0);
}

#[test]
fn running_call_is_finished_after_sigterm_and_new_ones_refused() {
    let world = world(
        "echo started >&3\nread -r go < \"$PIPE-go\"\necho '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'",
    );
    let pipe = world.pipe("pipe");
    let mut mkfifo = world.command("mkfifo");
    mkfifo.arg("pipe-go");
    assert_eq!(world.finish(mkfifo).code, 0);
    let (running, log) = serving(server(&world, &[]));
    let call = render(&world);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "TERM");
    log.line_with("shutting down");
    let refused = render(&world).finish(&world);
    assert!(
        refused.stderr.contains("could not find plugin \"holder\""),
        "the socket is removed: {refused:?}"
    );
    std::fs::write(world.path("pipe-go"), "go\n").expect("the plugin reads");
    let answered = call.finish(&world);
    assert_eq!((answered.code, answered.stderr.as_str()), (0, ""));
    assert!(answered.stdout.contains("name: a\n"), "{}", answered.stdout);
    log.line_with("all calls have ended");
    assert_eq!(running.finish(&world).code, 0);
    pipe.ends();
    assert!(!world.path("sockets/holder.sock").exists());
}

#[test]
fn second_signal_ends_the_server_and_removes_the_socket() {
    let world = world("trap 'echo asked >&3' TERM\necho started >&3\nwhile :; do sleep 1000; done");
    let pipe = world.pipe("pipe");
    let (running, log) = serving(server(&world, &[]));
    let call = render(&world);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "TERM");
    log.line_with("shutting down");
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 130);
    assert!(!world.path("sockets/holder.sock").exists());
    assert_eq!(call.finish(&world).code, 3);
}
#[test]
fn call_that_exceeds_the_grace_period_is_ended() {
    let world = world("setsid sleep 1000 &\necho started >&3\nwait");
    let pipe = world.pipe("pipe");
    let (running, _log) = serving(server(&world, &["--limit=shutdown-grace=0"]));
    let call = render(&world);
    assert_eq!(pipe.line(), "started");
    running.signal(&world, "TERM");
    assert_eq!(running.finish(&world).code, 0);
    pipe.ends();
    assert_eq!(call.finish(&world).code, 3);
    assert_eq!(world.left_behind_but(&["tiphys-cmp-server"]), Vec::<std::path::PathBuf>::new());
}
