//! Commands of built-in plugins that this process does itself.

use std::fmt;

use crate::native::{NativeCall, NativeOutput};

/// A `generate` command of a built-in plugin that needs no process of its own.
#[derive(Clone, Copy)]
pub struct InProcessCommand {
    /// The program of the command.
    pub program: &'static str,
    /// Returns the output of the command. The error is the reason why the command must run, which also reports what is invalid. It contains no
    /// secret.
    pub generate: fn(&NativeCall<'_>) -> Result<NativeOutput, String>,
}

impl fmt::Debug for InProcessCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessCommand").field("program", &self.program).finish_non_exhaustive()
    }
}
