use std::io;

use super::*;

/// A self-check of a socket in a temporary directory.
async fn check() -> (SelfCheck, tiphys_cmp::SocketGuard, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("temporary directory");
    let (_listener, guard) = tiphys_cmp::bind(&folder.path().join("p.sock")).await.expect("bind");
    (SelfCheck::new(guard.file().clone()), guard, folder)
}

#[tokio::test]
async fn healthy_server_has_no_fault() {
    let (mut check, _guard, _folder) = check().await;
    assert_eq!(check.fault(), None);
}

#[tokio::test]
async fn removed_or_replaced_socket_is_a_fault() {
    let (mut check, guard, _folder) = check().await;
    let path = guard.file().path().to_path_buf();
    std::fs::rename(&path, path.with_extension("real")).expect("renamed");
    let gone = check.fault().expect("a fault");
    assert!(gone.contains(&format!("socket {} no longer belongs to this server", path.display())), "{gone}");
    let _other = std::os::unix::net::UnixListener::bind(&path).expect("bind");
    let replaced = check.fault().expect("a fault");
    assert!(replaced.contains("another file replaced it"), "{replaced}");
    std::fs::rename(path.with_extension("real"), &path).expect("renamed");
    assert_eq!(check.fault(), None);
}

#[tokio::test]
async fn only_lasting_exhaustion_is_a_fault() {
    let (mut check, _guard, _folder) = check().await;
    let full = || Err(io::Error::other("full"));
    for _ in 0..2 {
        for _ in 1..STARVED_CHECKS_MAX {
            assert_eq!(check.starvation(full()), None);
        }
        assert_eq!(check.starvation(Ok(())), None, "a short peak passes");
    }
    let faults: Vec<_> = (0..STARVED_CHECKS_MAX).filter_map(|_| check.starvation(full())).collect();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].contains("cannot open connections or start processes: full"), "{faults:?}");
}
