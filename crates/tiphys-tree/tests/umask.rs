//! The process' umask does not change what is in a tree. Alone in its program, because the mask belongs to the whole process.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::Mode;
use tiphys_tree::{RepoPath, Store, StoreError, StoreOptions, TreeKey, TreeLimits};

#[test]
fn umask_does_not_change_the_modes_of_a_tree() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let limits = TreeLimits { entries_max: 10, bytes_max: 10 };
    let store =
        Store::open(StoreOptions { dir: dir.path().join("s"), runs_dir: dir.path().join("r"), limits });
    rustix::process::umask(Mode::from_raw_mode(0o077));
    let fill = |writer: &mut tiphys_tree::TreeWriter| {
        writer.file(RepoPath::new("d/script").expect("inside"), true, b"")?;
        Ok::<_, StoreError>(writer.file(RepoPath::new("d/file").expect("inside"), false, b"")?)
    };
    let tree = store.expect("the store opens").get_or_write(TreeKey([0; 32]), fill).expect("written");
    for (name, mode) in [("d", 0o755), ("d/script", 0o755), ("d/file", 0o644)] {
        let metadata = fs::metadata(tree.root().join(name)).expect("an entry");
        assert_eq!(metadata.permissions().mode() & 0o7777, mode, "{name}");
    }
}
