//! The plugin server's folder: removed by somebody, and on a file system that is full.

use std::fs;
use std::path::PathBuf;

use crate::server_life::{render, server, serving, world};
use crate::world::{TIPHYS, World};

/// Tells which large files are in the server's folder, and renders something.
const SCRIPT: &str = "find \"$WORK\" -type f -size +64k -path '*session-*' >&3
echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'";

/// Bytes of the file system that is to be full.
const ROOM: usize = 8 << 20;

#[test]
fn a_folder_that_was_removed_below_a_server_is_made_anew_by_the_next_call() {
    let world = world("echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'");
    let mut command = server(&world, &["--workdir=work"]);
    command.env("PIPE", "/dev/null");
    let (server, _log) = serving(command);
    let before = render(&world).finish(&world);
    assert_eq!((before.code, before.stderr.as_str()), (0, ""));
    fs::remove_dir_all(world.path("work")).expect("removed");
    for time in ["first", "second"] {
        assert_eq!(render(&world).finish(&world), before, "the {time} call after it");
    }
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
    assert_eq!(world.left_behind_but(&["work"]), Vec::<PathBuf>::new());
    for folder in ["work/tiphys-cmp-server", "work/tiphys-cmp-server/runs"] {
        let left = fs::read_dir(world.path(folder)).expect("made anew").flatten();
        let sessions = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("session-"));
        assert_eq!(sessions.count(), 0, "{folder}");
    }
}

/// Writes a file of the application's folder that no packer makes smaller.
fn write_noise(world: &World, bytes: usize) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise = (0..bytes / 8).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    fs::write(world.path("repo/plain/noise"), noise.collect::<Vec<u8>>()).expect("written");
}

#[test]
fn a_full_disk_fails_the_call_and_the_next_one_has_its_room() {
    let world = world(SCRIPT);
    let mut probe = world.command("unshare");
    probe.args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "tmp"]);
    if world.finish(probe).code != 0 {
        // Only a machine on which nobody may make such a namespace has no answer.
        return;
    }
    fs::create_dir(world.path("work")).expect("made");
    let script = format!("mount -t tmpfs -o size={ROOM} tmpfs work && exec \"$0\" \"$@\"");
    let mut command = world.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script, TIPHYS]);
    command.args(server(&world, &["--workdir=work"]).get_args());
    command.env("PIPE", world.path("found")).env("WORK", world.path("work"));
    let (server, _log) = serving(command);

    write_noise(&world, ROOM * 3 / 2);
    let full = render(&world).finish(&world);
    assert_eq!((full.code, full.stdout.as_str()), (3, ""));
    let expected = "error decompressing tgz file: cannot write plain/noise: No space left on device";
    assert!(full.stderr.contains(expected), "{}", full.stderr);
    assert!(!world.path("found").exists(), "the plugin did not run");

    // What has room only if nothing of the other is there: once in the store, and once where a run gets a copy.
    write_noise(&world, ROOM * 3 / 8);
    let fits = render(&world).finish(&world);
    assert_eq!((fits.code, fits.stderr.as_str()), (0, ""));
    fs::remove_file(world.path("repo/plain/noise")).expect("removed");
    write_noise(&world, ROOM * 3 / 2);
    assert_eq!(render(&world).finish(&world).code, 3);
    fs::remove_file(world.path("repo/plain/noise")).expect("removed");
    assert_eq!(render(&world).finish(&world).code, 0);
    assert_eq!(
        world.read("found"),
        "",
        "what was in the way of the full disk is gone, and so is what did not fit"
    );
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
}
