//! The log of the plugin server about calls, in both formats, and about connections that it cannot accept.

use std::os::unix::net::UnixStream;

use serde_json::{Value, json};
use tiphys_testkit::wait::until;

use crate::running::Running;
use crate::server_life::{event, get, render, server, serving, world};
use crate::world::TIPHYS;

/// The script of a working plugin.
const PRINTS: &str = "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'";

/// Log lines about the calls of a server that rendered one application.
fn lines(script: &str, args: &[&str]) -> Vec<String> {
    let world = world(script);
    let pipe = world.pipe("pipe");
    let (running, log) = serving(server(&world, args));
    render(&world).finish(&world);
    pipe.ends();
    running.signal(&world, "TERM");
    let lines = log.rest();
    assert_eq!(running.finish(&world).code, 0);
    lines.into_iter().filter(|line| line.contains("ed call")).collect()
}

/// Replaces valid values that differ between runs by a placeholder.
fn masked(mut line: Value) -> Value {
    for (name, value) in line.as_object_mut().expect("a line is an object") {
        let is_time = |text: &str| text.len() == 20 && text.starts_with("20") && text.ends_with('Z');
        match name.as_str() {
            "grpc.start_time" | "grpc.request.deadline" if value.as_str().is_some_and(is_time) => {
                *value = json!("TIME");
            }
            "grpc.time_ms" if value.as_f64().is_some_and(|took| took > 0.0) => *value = json!("TOOK"),
            _ => {}
        }
    }
    line
}

#[test]
fn log_of_calls_has_argo_cds_fields_in_both_formats() {
    let call = |method: &str, method_type: &str, more: &Value| {
        let mut line = json!({
            "protocol": "grpc",
            "peer.address": "@",
            "grpc.component": "server",
            "grpc.service": "plugin.ConfigManagementPluginService",
            "grpc.method": method,
            "grpc.method_type": method_type,
            "grpc.start_time": "TIME",
            "grpc.request.deadline": "TIME",
        });
        let more = more.as_object().expect("fields").clone();
        line.as_object_mut().expect("fields").extend(more);
        line
    };
    let started = json!({"level": "info", "msg": "started call"});
    let well = json!({"level": "info", "msg": "finished call", "grpc.code": "OK", "grpc.time_ms": "TOOK"});
    let badly = json!({
        "level": "error",
        "msg": "finished call",
        "grpc.code": "Unknown",
        "grpc.error": "error generating manifests: `holder.sh` failed exit status 3: no moon",
        "grpc.time_ms": "TOOK",
    });
    for (script, ended) in [(PRINTS, &well), ("echo no moon >&2; exit 3", &badly)] {
        let lines: Vec<Value> = lines(script, &[]).iter().map(|line| masked(event(line))).collect();
        let expected = [
            call("CheckPluginConfiguration", "unary", &started),
            call("CheckPluginConfiguration", "unary", &well),
            call("GenerateManifest", "client_stream", &started),
            call("GenerateManifest", "client_stream", ended),
        ];
        assert_eq!(lines, expected);
    }
    let words = |line: &String| -> Vec<String> {
        let names = line.split(' ').filter_map(|word| word.split_once('=')).map(|(name, _)| name.to_owned());
        names.collect()
    };
    let lines = lines(PRINTS, &["--logformat=text"]);
    let started = "time level msg grpc.component grpc.method grpc.method_type grpc.request.deadline grpc.service grpc.start_time peer.address \
                   protocol";
    let ended = "time level msg grpc.code grpc.component grpc.method grpc.method_type grpc.request.deadline grpc.service grpc.start_time \
                 grpc.time_ms peer.address protocol";
    let expected = [started, ended, started, ended];
    let expected: Vec<Vec<String>> =
        expected.iter().map(|names| names.split(' ').map(str::to_owned).collect()).collect();
    assert_eq!(lines.iter().map(words).collect::<Vec<_>>(), expected);
    assert!(
        lines[3].contains(" level=info msg=\"finished call\" grpc.code=OK grpc.component=server "),
        "{}",
        lines[3]
    );
}

#[test]
fn server_without_descriptors_logs_it_once_and_recovers() {
    /// Descriptors of the server, which needs about 20.
    const DESCRIPTORS: usize = 64;
    let world = world(PRINTS);
    let pipe = world.pipe("pipe");
    // The self-check would end the server because its limits were changed.
    let mut running =
        Running::of(server(&world, &["--metrics-address=0", "--limit=self-check-interval=3600"]));
    let log = running.stderr();
    let metrics = log.rest_of_line_with("metrics are on http://");
    let address = metrics.split('/').next().expect("an address").to_owned();
    log.line_with("serving on");
    // Set after the start, because the server limits its connections to the descriptors.
    running.limit_descriptors(&world, DESCRIPTORS);
    let connect = || UnixStream::connect(world.path("sockets/holder.sock")).expect("connect");
    let connections: Vec<UnixStream> = (0..2 * DESCRIPTORS).map(|_| connect()).collect();
    log.line_with("cannot accept connections");
    drop(connections);
    let failures = || -> u64 {
        let (_, text) = get(&address, "/metrics");
        let count = text.lines().find_map(|line| line.strip_prefix("tiphys_cmp_accept_failures_total "));
        count.expect("metric").parse().expect("a number")
    };
    until(|| {
        let (_, text) = get(&address, "/metrics");
        text.lines().any(|line| line == "tiphys_cmp_connections_open 0").then_some(())
    });
    assert!(failures() > 0);
    let rendered = render(&world).finish(&world);
    assert_eq!(rendered.code, 0, "{}", rendered.stderr);
    pipe.ends();
    running.signal(&world, "TERM");
    let again: Vec<String> = log.rest().into_iter().filter(|line| line.contains("cannot accept")).collect();
    assert_eq!(again, Vec::<String>::new());
    assert_eq!(running.finish(&world).code, 0);
}

#[test]
fn read_only_socket_directory_is_named() {
    let world = world(PRINTS);
    let mut probe = world.command("unshare");
    probe.args(UNPRIVILEGED).arg("true");
    if world.finish(probe).code != 0 {
        // A system without user namespaces cannot run this.
        return;
    }
    // Root may write anywhere; the user in this namespace may not.
    let mut command = world.command("unshare");
    let script = "mkdir sockets && chmod 0555 sockets && exec \"$0\" \"$@\"";
    command.args(UNPRIVILEGED).args(["sh", "-c", script, TIPHYS]).args(server(&world, &[]).get_args());
    let ended = world.finish(command);
    assert_eq!((ended.code, ended.stdout.as_str()), (20, ""), "{}", ended.stderr);
    let last = event(ended.stderr.lines().last().expect("last log line"));
    let text = "cannot listen on $WORLD/sockets/holder.sock: Permission denied (os error 13)";
    assert_eq!(last, json!({"level": "fatal", "msg": text}));
}

/// Runs the following command without privileges.
const UNPRIVILEGED: [&str; 3] = ["--user", "--map-user=1000", "--map-group=1000"];
