//! Keeping processes of the same user out of this one: the commands that it runs are such processes.

/// Closes `/proc/<this process>/fd`, its memory and its environment to other processes of the same user, which could otherwise speak in its
/// name, or read what it knows. A program that is started from here is open again, and root with the right to trace is not kept out. There
/// are no core dumps of a closed process. Does nothing on systems other than Linux.
pub fn close_to_others() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _as_before: rustix::io::Result<()> = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
