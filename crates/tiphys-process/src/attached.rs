//! A program that a person has chosen, in front of the person: with this process's own standard input, output and error.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::program::resolve;
use crate::tether::Start;
use crate::tool::ToolError;

/// A program that a person looks at.
#[derive(Clone)]
pub struct Attached {
    /// Program: with a `/` in it a path, else a name looked up in `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
}

/// Values of the environment may be secret.
impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Attached {
    /// Runs the program to its end in a directory. There is no deadline: a person may look as long as they like. The program is killed
    /// if the future is dropped. Gives the exit code, or `None` if a signal ended it.
    pub async fn run(&self, dir: &Path) -> Result<Option<i32>, ToolError> {
        let name = || self.program.display().to_string();
        let start = |source| ToolError::Start { program: name(), source };
        let program = resolve(&self.program, &self.env).map_err(start)?;
        // Not tethered: what a person looks at does not vanish because this process does.
        let mut process = Start::Direct.command(&program, &self.program);
        process
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(dir)
            .kill_on_drop(true);
        let mut child = Start::Direct.spawn(process).map_err(start)?;
        let status = child.wait().await.map_err(|source| ToolError::Io { program: name(), source })?;
        Ok(status.code())
    }
}

#[cfg(test)]
mod tests;
