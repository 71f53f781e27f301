//! Executable files that tests write.

use std::path::Path;
use std::process::Command;

/// Replaces a file by an executable copy.
///
/// A file cannot be executed (`ETXTBSY`) while any process has it open for writing. A process that another thread forks at that moment has
/// inherited the descriptor until it calls exec. So another process writes the copy.
pub fn make_executable(path: &Path) {
    let script = r#"cp -- "$1" "$1.new" && chmod 755 "$1.new" && mv -f -- "$1.new" "$1""#;
    #[expect(clippy::disallowed_methods, reason = "tests may start processes")]
    let mut shell = Command::new("sh");
    let status = shell.args(["-c", script, "sh"]).arg(path).status().expect("sh starts");
    assert!(status.success(), "{}: {status}", path.display());
}
