//! Programs that tests write and then run.

use std::path::Path;
use std::process::Command;

/// Replaces a file by a copy that anybody may execute.
///
/// A file that was open for writing in this process cannot be executed (`ETXTBSY`) as long as any process has it open, and a process that
/// another thread starts at the same moment has, until it executes its own program. The copy is made by a process of its own.
pub fn make_executable(path: &Path) {
    let script = r#"cp -- "$1" "$1.new" && chmod 755 "$1.new" && mv -f -- "$1.new" "$1""#;
    #[expect(clippy::disallowed_methods, reason = "tests may start processes")]
    let mut shell = Command::new("sh");
    let status = shell.args(["-c", script, "sh"]).arg(path).status().expect("sh starts");
    assert!(status.success(), "{}: {status}", path.display());
}
