//! Runs that attack the plugin server, which is a process of their own user.

use crate::server_life::{render, server, serving, world};

/// Ways to make the server's callers talk to somebody else. What is left at the end shows whether one of them worked.
const TAKEOVER: &str =
    "mv \"$SOCKETS/holder.sock\" \"$SOCKETS/real.sock\"; rm \"$SOCKETS/holder.sock\"; touch \"$SOCKETS/evil\"
mv \"$SOCKETS\" \"$SOCKETS-gone\"; echo 'echo evil' >\"$0\"; touch \"${0%/*}/evil\"
seen=runs; [ \"$(stat -f -c %T .)\" = overlayfs ] && seen=overlay
echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: seen-$seen}}\"";

#[test]
fn a_run_can_change_neither_the_socket_nor_the_plugin_of_the_server() {
    let world = world(TAKEOVER);
    let mut command = server(&world, &["--private-view=overlay"]);
    command.env("SOCKETS", world.path("sockets")).env("PIPE", "/dev/null");
    let (server, _log) = serving(command);
    let before = world.read("plugins/holder/holder.sh");
    for call in ["first", "second"] {
        let output = render(&world).finish(&world);
        if output.stderr.contains("the system refused") {
            return; // Nobody can mount here.
        }
        assert!(output.stdout.contains("name: seen-overlay\n"), "{call}: {output:?}");
        let names = |folder: &str| -> Vec<_> {
            let entries = std::fs::read_dir(world.path(folder)).expect("the folder is there").flatten();
            entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect()
        };
        assert_eq!(names("sockets"), ["holder.sock"], "{call}");
        assert_eq!(names("plugins/holder").len(), 2, "{call}");
        assert_eq!(world.read("plugins/holder/holder.sh"), before, "{call}");
    }
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
}
