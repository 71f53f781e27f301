use std::io;

use super::*;

/// A check of a socket in a folder, and the folder.
async fn check() -> (SelfCheck, tiphys_cmp::SocketGuard, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let (_listener, guard) = tiphys_cmp::bind(&folder.path().join("p.sock")).await.expect("it is free");
    (SelfCheck::new(guard.file().clone()), guard, folder)
}

#[tokio::test]
async fn a_server_that_is_well_has_no_fault() {
    let (mut check, _guard, _folder) = check().await;
    assert_eq!(check.fault(), None);
}

#[tokio::test]
async fn a_socket_that_was_removed_or_replaced_is_a_fault() {
    let (mut check, guard, _folder) = check().await;
    let path = guard.file().path().to_path_buf();
    std::fs::rename(&path, path.with_extension("real")).expect("renamed");
    let gone = check.fault().expect("a fault");
    assert!(gone.contains(&format!("socket {} is not this server's any more", path.display())), "{gone}");
    let _other = std::os::unix::net::UnixListener::bind(&path).expect("the path is free");
    let replaced = check.fault().expect("a fault");
    assert!(replaced.contains("another file replaced it"), "{replaced}");
    std::fs::rename(path.with_extension("real"), &path).expect("renamed");
    assert_eq!(check.fault(), None);
}

#[tokio::test]
async fn only_a_lasting_lack_of_room_is_a_fault() {
    let (mut check, _guard, _folder) = check().await;
    let full = || Err(io::Error::other("full"));
    for _ in 0..2 {
        for _ in 1..STARVED_LOOKS_MAX {
            assert_eq!(check.starvation(full()), None);
        }
        assert_eq!(check.starvation(Ok(())), None, "a busy moment passes");
    }
    let faults: Vec<_> = (0..STARVED_LOOKS_MAX).filter_map(|_| check.starvation(full())).collect();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].contains("can open no connection or start no process: full"), "{faults:?}");
}
