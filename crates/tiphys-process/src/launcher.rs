//! The launcher process: single-threaded, a child subreaper, owner of one run's processes and view.

/// First argument that turns the program into a launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launcher";

/// The launcher's main function; returns the exit code. Must be called before any thread is started.
pub fn launcher_main() -> i32 {
    todo!()
}
