//! Runs that attack the plugin server, which has the same user.

use crate::running::{Pipe, Running};
use crate::server_life::{event, render, server, serving, world};
use crate::world::World;

/// Attempts to make the server's callers connect to another process. The files that are left show which of them worked.
const TAKEOVER: &str =
    "mv \"$SOCKETS/holder.sock\" \"$SOCKETS/real.sock\"; rm \"$SOCKETS/holder.sock\"; touch \"$SOCKETS/evil\"
mv \"$SOCKETS\" \"$SOCKETS-gone\"; echo 'echo evil' >\"$0\"; touch \"${0%/*}/evil\"
seen=runs; [ \"$(stat -f -c %T .)\" = overlayfs ] && seen=overlay
echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: seen-$seen}}\"";

#[test]
fn run_can_change_neither_socket_nor_plugin_of_the_server() {
    let world = world(TAKEOVER);
    let mut command = server(&world, &["--config=privateView=overlay"]);
    command.env("SOCKETS", world.path("sockets")).env("PIPE", "/dev/null");
    let (server, _log) = serving(command);
    let before = world.read("plugins/holder/holder.sh");
    for call in ["first", "second"] {
        let output = render(&world).finish(&world);
        if output.stderr.contains("the system refused") {
            return; // The system has no overlays.
        }
        assert!(output.stdout.contains("name: seen-overlay\n"), "{call}: {output:?}");
        let names = |folder: &str| -> Vec<_> {
            let entries = std::fs::read_dir(world.path(folder)).expect("read_dir").flatten();
            entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect()
        };
        assert_eq!(names("sockets"), ["holder.sock"], "{call}");
        assert_eq!(names("plugins/holder").len(), 2, "{call}");
        assert_eq!(world.read("plugins/holder/holder.sh"), before, "{call}");
    }
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
}

/// Waits for the end of a server with a fault, and returns its last message.
fn fault(running: Running, log: &Pipe, world: &World) -> String {
    let lines = log.rest();
    assert_eq!(running.finish(world).code, 20, "{lines:?}");
    let last = event(lines.last().expect("last log line"));
    assert_eq!(last["level"], "fatal", "{last}");
    last["msg"].as_str().expect("a string").to_owned()
}

#[test]
fn server_whose_socket_was_replaced_or_removed_ends() {
    for (script, how) in [
        (
            "mv \"$SOCKETS/holder.sock\" \"$SOCKETS/real.sock\"; touch \"$SOCKETS/holder.sock\"",
            "another file replaced it",
        ),
        ("rm \"$SOCKETS/holder.sock\"", "it does not exist: No such file or directory (os error 2)"),
        ("mv \"$SOCKETS\" \"$SOCKETS-gone\"", "it does not exist: No such file or directory (os error 2)"),
    ] {
        let world = world(script);
        let pipe = world.pipe("pipe");
        // Without a mount namespace, runs are not restricted.
        let mut command = server(&world, &["--config=privateView=copy"]);
        command.env("SOCKETS", world.path("sockets"));
        let (running, log) = serving(command);
        render(&world).finish(&world);
        pipe.ends();
        let socket = world.path("sockets/holder.sock");
        let expected =
            format!("socket {} no longer belongs to this server: {how}; the server ends", socket.display());
        let fault = fault(running, &log, &world);
        assert!(fault.starts_with(&expected), "{script}: {fault}");
    }
}

#[test]
fn server_whose_limits_were_changed_by_a_run_ends() {
    for (option, limit) in [("--nofile=16:16", "nofile"), ("--nproc=1:1", "nproc"), ("--fsize=1:", "fsize")] {
        let script = format!(
            "server=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)\nprlimit --pid $server {option}"
        );
        let world = world(&script);
        let pipe = world.pipe("pipe");
        let (running, log) = serving(server(&world, &[]));
        render(&world).finish(&world);
        pipe.ends();
        let fault = fault(running, &log, &world);
        assert!(
            fault.starts_with(&format!("the server's resource limit {limit} was changed from outside; ")),
            "{fault}"
        );
    }
}

#[test]
fn log_warns_that_copies_do_not_isolate() {
    let world = world("");
    let (server, log) = serving(server(&world, &["--config=privateView=copy"]));
    let line = loop {
        let line = event(&log.line());
        if line["private_view"] == "copy" {
            break line;
        }
    };
    assert_eq!(line["level"], "warning", "{line}");
    assert!(line["msg"].as_str().is_some_and(|text| text.contains("runs are not isolated")), "{line}");
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
}
