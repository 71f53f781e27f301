//! Protection of this process from the commands that it runs, which are processes of the same user.

/// Denies other processes of the same user access to `/proc/PID/fd`, the memory and the environment of this process (`PR_SET_DUMPABLE`).
/// They could otherwise impersonate it or read its secrets. Programs that it starts are accessible again, root with `CAP_SYS_PTRACE` keeps
/// access, and there are no core dumps. Does nothing on systems other than Linux.
pub fn set_not_dumpable() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _as_before: rustix::io::Result<()> = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
