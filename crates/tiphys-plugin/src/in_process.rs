//! Commands of built-in plugins that this process does itself.

use std::fmt;

use crate::native::{NativeCall, NativeOutput};

/// A `generate` command of a built-in plugin that needs no process of its own.
#[derive(Clone, Copy)]
pub struct InProcessCommand {
    /// The program of the command.
    pub program: &'static str,
    /// Returns the output of the command; `None` if the command must run, which also reports errors.
    pub generate: fn(&NativeCall<'_>) -> Option<NativeOutput>,
}

impl fmt::Debug for InProcessCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessCommand").field("program", &self.program).finish_non_exhaustive()
    }
}
