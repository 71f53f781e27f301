//! Any bytes are accepted or rejected as a plugin's file, and the check of the file reports each error.

use tiphys_plugin::config::{
    self,
    check::{Level, ProgramState},
};

pub(crate) fn body(bytes: &[u8]) {
    let report = config::check::check(bytes, "plugin.yaml", &|_| ProgramState::Found);
    let in_order = report.findings.is_sorted_by_key(|finding| finding.position);
    assert!(in_order, "findings in the order of the file");
    let has_errors = report.findings.iter().any(|finding| finding.rule.level() == Level::Error);
    match config::read(bytes) {
        Err(error) => assert!(has_errors, "not found by the check: {error}"),
        Ok(config) => {
            assert!(!config.name.is_empty());
            assert!(!config.generate.command.is_empty());
            assert_eq!(report.socket, Some(config.socket_name()));
            assert!(report.plugin.is_some());
            if let Err(error) = config.checked_announcements() {
                assert!(has_errors, "not found by the check: {error}");
            }
        }
    }
}
