use std::os::unix::net::{UnixDatagram, UnixListener as StdListener};
use std::sync::Barrier;
use std::thread;

use tempfile::TempDir;
use tokio::net::UnixSocket;

use super::*;

/// A folder, and a path for a socket in it.
fn place() -> (TempDir, PathBuf) {
    let dir = TempDir::new().expect("a temporary folder");
    let path = dir.path().join("p.sock");
    (dir, path)
}

#[tokio::test]
async fn the_folder_of_a_socket_is_made() {
    let (dir, _) = place();
    let path = dir.path().join("a/b/p.sock");
    let bound = bind(&path).await;
    assert!(bound.is_ok() && path.exists(), "{:?}", bound.err());
}

#[tokio::test]
async fn a_live_server_whose_queue_of_callers_is_full_keeps_its_socket() {
    let (_dir, path) = place();
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
async fn a_socket_that_cannot_be_asked_is_not_removed() {
    let (_dir, path) = place();
    // Streams cannot be opened to a socket of another kind; what the system says is not that nobody listens.
    let _other = UnixDatagram::bind(&path).expect("bound");
    let error = bind(&path).await.expect_err("not ours");
    assert!(matches!(error, SocketError::Unknown { .. }), "{error:?}");
    assert!(path.exists());
}

#[test]
fn of_servers_that_start_on_one_dead_socket_one_gets_it() {
    const SERVERS: usize = 8;
    for round in 0..20 {
        let (_dir, path) = place();
        drop(StdListener::bind(&path).expect("bound"));
        let together = Barrier::new(SERVERS);
        let start = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            runtime.block_on(async {
                together.wait();
                let bound = bind(&path).await;
                // Nobody ends before all have tried.
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
async fn a_server_that_ends_leaves_anothers_socket() {
    let (_dir, path) = place();
    let (first, guard) = bind(&path).await.expect("free");
    fs::rename(&path, path.with_extension("old")).expect("moved away");
    let (_second, second_guard) = bind(&path).await.expect("free again");
    drop((first, guard));
    assert!(path.exists(), "it is the second's");
    drop(second_guard);
    assert!(!path.exists());
}
