//! Modes of the files that `render` writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::write_report;

#[test]
fn report_is_readable_by_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    // Replaces a file that other users can read.
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    write_report(&path, &serde_json::json!({})).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
