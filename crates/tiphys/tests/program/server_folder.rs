//! The plugin server's directory: removed while the server runs, and on a full file system.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use crate::server_life::{render, server, serving, world};
use crate::world::{TIPHYS, World};

/// Reports large files in the server's directory, and renders an object.
const SCRIPT: &str = "find \"$WORK\" -type f -size +64k -path '*session-*' >&3
echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'";

/// Size of the file system in bytes.
const ROOM: usize = 8 << 20;

#[test]
fn removed_directory_is_created_again_by_the_next_call() {
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
    assert_eq!(left_below_work(&world), Vec::<PathBuf>::new());
}

#[test]
fn directory_of_another_user_does_not_stop_a_server() {
    let world = world("echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'");
    let taken = world.path("work/tiphys-cmp-server");
    let elsewhere = world.path("elsewhere");
    for folder in [&world.path("work"), &elsewhere] {
        fs::create_dir(folder).expect("made");
    }
    let folders = || -> Vec<PathBuf> {
        let entries = fs::read_dir(world.path("work")).expect("read_dir").flatten();
        entries.map(|entry| entry.path()).filter(|path| *path != taken).collect()
    };
    let serves = || {
        let mut command = server(&world, &["--workdir=work"]);
        command.env("PIPE", "/dev/null");
        let (server, _log) = serving(command);
        assert_eq!(render(&world).finish(&world).code, 0);
        let own = folders();
        assert_eq!(own.len(), 1);
        let mode = own[0].metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        server.signal(&world, "TERM");
        assert_eq!(server.finish(&world).code, 0);
        assert_eq!(folders(), Vec::<PathBuf>::new());
    };
    symlink(&elsewhere, &taken).expect("symlink");
    serves();
    assert_eq!(fs::read_dir(&elsewhere).expect("read_dir").count(), 0);
    fs::remove_file(&taken).expect("removed");
    fs::write(&taken, "").expect("write");
    serves();
    fs::remove_file(&taken).expect("removed");
    fs::create_dir(&taken).expect("made");
    // Only root can change the owner.
    if chown(&taken, Some(12_345), None).is_ok() {
        serves();
    }
}

/// The directories of servers below `work`.
fn left_below_work(world: &World) -> Vec<PathBuf> {
    let folders = ["work/tiphys-cmp-server", "work/tiphys-cmp-server/runs"];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(world.path(folder)).expect("read_dir"));
    let paths = entries.map(|entry| entry.expect("entry").path());
    let is_session =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("session-"));
    paths.filter(is_session).collect()
}

/// The beginning of an HTTP/2 connection: the preface and an empty SETTINGS frame.
const BEGINNING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[test]
fn connections_that_callers_keep_open_leave_no_files() {
    let world = world("echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'");
    for said in [0, 9, BEGINNING.len()] {
        let mut command = server(&world, &["--workdir=work"]);
        command.env("PIPE", "/dev/null");
        let (server, _log) = serving(command);
        let mut caller = UnixStream::connect(world.path("sockets/holder.sock")).expect("connect");
        caller.write_all(&BEGINNING[..said]).expect("sent");
        // Connections are accepted in order, so this one is accepted before the call is answered.
        assert_eq!(render(&world).finish(&world).code, 0);
        assert_eq!(left_below_work(&world).len(), 2, "trees and runs have a folder each");
        server.signal(&world, "TERM");
        assert_eq!(server.finish(&world).code, 0);
        assert_eq!(left_below_work(&world), Vec::<PathBuf>::new(), "{said} bytes were sent");
        drop(caller);
    }
}

#[test]
fn tree_that_loses_a_file_during_a_run_fails_only_this_call() {
    let world = world(
        "[ -e \"$PIPE-go\" ] && { echo started >&3; read -r go < \"$PIPE-go\"; }
echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'",
    );
    for view in ["overlay", "copy"] {
        let pipe = world.pipe("pipe");
        let mut mkfifo = world.command("mkfifo");
        mkfifo.arg("pipe-go");
        assert_eq!(world.finish(mkfifo).code, 0);
        let (server, _log) =
            serving(server(&world, &["--workdir=work", &format!("--config=privateView={view}")]));
        let call = render(&world);
        assert_eq!(pipe.line(), "started");
        let session = left_below_work(&world)
            .into_iter()
            .find(|path| !path.parent().is_some_and(|runs| runs.ends_with("runs")));
        let numbers = fs::read_dir(session.expect("session")).expect("read_dir").flatten();
        let trees: Vec<PathBuf> = numbers
            .map(|entry| entry.path().join("tree/plain/configmap.yaml"))
            .filter(|path| path.exists())
            .collect();
        let [file] = &trees[..] else { panic!("one tree: {trees:?}") };
        fs::remove_file(file).expect("removed");
        fs::write(world.path("pipe-go"), "go\n").expect("the plugin reads");
        let answer = call.finish(&world);
        assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{view}: {answer:?}");
        let expected = "the files in the server's directory were changed while the plugin ran; the next call unpacks them again";
        assert!(answer.stderr.contains(expected), "{view}: {}", answer.stderr);
        for file in ["pipe", "pipe-go"] {
            fs::remove_file(world.path(file)).expect("removed");
        }
        let next = render(&world).finish(&world);
        assert_eq!((next.code, next.stderr.as_str()), (0, ""), "{view}");
        server.signal(&world, "TERM");
        assert_eq!(server.finish(&world).code, 0);
        fs::remove_file(world.path("pipe")).expect("removed");
    }
}

/// Writes an incompressible file into the application's directory.
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

/// A server whose work directory is a file system of its own, or `None` on a system without user namespaces.
fn server_on_tmpfs(world: &World, options: &str, args: &[&str]) -> Option<Command> {
    let mut probe = world.command("unshare");
    probe.args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "tmp"]);
    if world.finish(probe).code != 0 {
        return None;
    }
    fs::create_dir_all(world.path("work")).expect("made");
    let script = format!("mount -t tmpfs -o {options} tmpfs work && exec \"$0\" \"$@\"");
    let mut command = world.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script, TIPHYS]);
    command.args(server(world, &["--workdir=work"]).get_args()).args(args);
    Some(command)
}

/// Inode limits of the file system: enough for a store with a few trees and a run. A tree takes five, so that the limit is reached at a
/// tree's directory, at a file in it, or at a run.
const FILES: std::ops::Range<usize> = 100..105;
/// Number of trees that fills the file system at least once.
const TREES: usize = 8;

#[test]
fn call_that_fails_for_lack_of_inodes_frees_space_for_the_next() {
    let world = world("echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'");
    let views = ["--config=privateView=overlay", "--config=privateView=copy"];
    for (view, files) in views.into_iter().flat_map(|view| FILES.map(move |files| (view, files))) {
        let options = format!("nr_inodes={files}");
        let Some(mut command) = server_on_tmpfs(&world, &options, &[view]) else { return };
        command.env("PIPE", "/dev/null");
        let (server, _log) = serving(command);
        for tree in 0..TREES {
            world.write("repo/plain/number", &tree.to_string());
            let answer = render(&world).finish(&world);
            if answer.code != 0 {
                let full = "No space left on device";
                assert!(answer.stderr.contains(full), "{view} {files} {tree}: {}", answer.stderr);
                let next = render(&world).finish(&world);
                assert_eq!((next.code, next.stderr.as_str()), (0, ""), "{view} {files} {tree}");
            }
        }
        server.signal(&world, "TERM");
        assert_eq!(server.finish(&world).code, 0);
    }
}

#[test]
fn full_disk_fails_the_call_and_the_next_one_succeeds() {
    let world = world(SCRIPT);
    let Some(mut command) = server_on_tmpfs(&world, &format!("size={ROOM}"), &[]) else { return };
    command.env("PIPE", world.path("found")).env("WORK", world.path("work"));
    let (server, _log) = serving(command);

    write_noise(&world, ROOM * 3 / 2);
    let full = render(&world).finish(&world);
    assert_eq!((full.code, full.stdout.as_str()), (3, ""));
    let expected = "error decompressing tgz file: cannot write plain/noise: No space left on device";
    assert!(full.stderr.contains(expected), "{}", full.stderr);
    assert!(!world.path("found").exists(), "the plugin did not run");

    // Fits only if nothing of the failed call is left: once in the store, and once in the copy of a run.
    write_noise(&world, ROOM * 3 / 8);
    let fits = render(&world).finish(&world);
    assert_eq!((fits.code, fits.stderr.as_str()), (0, ""));
    fs::remove_file(world.path("repo/plain/noise")).expect("removed");
    write_noise(&world, ROOM * 3 / 2);
    assert_eq!(render(&world).finish(&world).code, 3);
    fs::remove_file(world.path("repo/plain/noise")).expect("removed");
    assert_eq!(render(&world).finish(&world).code, 0);
    assert_eq!(world.read("found"), "", "no files of the failed call are left");
    server.signal(&world, "TERM");
    assert_eq!(server.finish(&world).code, 0);
}
