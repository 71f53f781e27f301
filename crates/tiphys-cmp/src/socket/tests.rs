use std::os::unix::net::{UnixDatagram, UnixListener as StdListener};
use std::sync::Barrier;
use std::thread;

use tempfile::TempDir;
use tokio::net::UnixSocket;

use super::*;

/// Returns a directory and a path for a socket in it.
fn socket_path() -> (TempDir, PathBuf) {
    let dir = TempDir::new().expect("a temporary directory");
    let path = dir.path().join("p.sock");
    (dir, path)
}

#[tokio::test]
async fn directory_of_the_socket_is_created() {
    let (dir, _) = socket_path();
    let path = dir.path().join("a/b/p.sock");
    let bound = bind(&path).await;
    assert!(bound.is_ok() && path.exists(), "{:?}", bound.err());
}

#[tokio::test]
async fn running_server_with_a_full_queue_keeps_its_socket() {
    let (_dir, path) = socket_path();
    let socket = UnixSocket::new_stream().expect("a socket");
    socket.bind(&path).expect("bound");
    let _listener = socket.listen(0).expect("it listens");
    let mut waiting = Vec::new();
    let refused = loop {
        match UnixStream::connect(&path).await {
            Ok(stream) => waiting.push(stream),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock, "{refused}");
    assert!(matches!(bind(&path).await, Err(SocketError::InUse { .. })));
    assert!(path.exists());
}

#[tokio::test]
async fn socket_of_unknown_state_is_not_removed() {
    let (_dir, path) = socket_path();
    // Streams cannot connect to a datagram socket; the error differs from that of a dead socket.
    let _other = UnixDatagram::bind(&path).expect("bound");
    let error = bind(&path).await.expect_err("not ours");
    assert!(matches!(error, SocketError::Unknown { .. }), "{error:?}");
    assert!(path.exists());
}

#[test]
fn one_of_several_servers_replaces_a_dead_socket() {
    const SERVERS: usize = 8;
    for round in 0..20 {
        let (_dir, path) = socket_path();
        drop(StdListener::bind(&path).expect("bound"));
        let together = Barrier::new(SERVERS);
        let start = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            runtime.block_on(async {
                together.wait();
                let bound = bind(&path).await;
                // No server ends before all have tried.
                together.wait();
                bound.is_ok()
            })
        };
        let bound = thread::scope(|scope| {
            let servers: Vec<_> = (0..SERVERS).map(|_| scope.spawn(start)).collect();
            servers.into_iter().map(|server| server.join().expect("it ends")).collect::<Vec<_>>()
        });
        assert_eq!(bound.iter().filter(|bound| **bound).count(), 1, "round {round}");
    }
}

#[tokio::test]
async fn server_does_not_remove_the_socket_of_another() {
    let (_dir, path) = socket_path();
    let (first, guard) = bind(&path).await.expect("free");
    fs::rename(&path, path.with_extension("old")).expect("moved away");
    let (_second, second_guard) = bind(&path).await.expect("free again");
    drop((first, guard));
    assert!(path.exists(), "the socket of the second server");
    drop(second_guard);
    assert!(!path.exists());
}
