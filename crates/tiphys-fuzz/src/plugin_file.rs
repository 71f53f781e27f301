//! Any bytes are read as a plugin's file or refused, and the check of the file says of each mistake that it is one.

use tiphys_plugin::config;

pub(crate) fn body(bytes: &[u8]) {
    let report = config::check::check(bytes, "plugin.yaml");
    let in_order = report.findings.is_sorted_by_key(|finding| finding.position);
    assert!(in_order, "findings in the order of the file");
    match config::read(bytes) {
        Err(error) => assert!(report.has_errors(), "not found by the check: {error}"),
        Ok(config) => {
            assert!(!config.name.is_empty());
            assert!(!config.generate.command.is_empty());
            assert_eq!(report.socket, Some(config.socket_name()));
            assert!(report.plugin.is_some());
            if let Err(error) = config.checked_announcements() {
                assert!(report.has_errors(), "not found by the check: {error}");
            }
        }
    }
}
