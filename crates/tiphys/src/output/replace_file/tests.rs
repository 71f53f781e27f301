//! Modes of files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::write_private_file;

#[test]
fn private_file_is_readable_by_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    // Replaces a file that other users can read.
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    write_private_file("--report", &path, "{}").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
