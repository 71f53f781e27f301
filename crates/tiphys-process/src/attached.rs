//! A program that the user chose, with this process's own standard output and error.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;

use crate::pdeathsig::Start;
use crate::program::resolve;
use crate::tool::ToolError;

/// An interactive program.
#[derive(Clone)]
pub struct Attached {
    /// A path if it contains `/`, else a name that is looked up in `PATH` of `env`.
    pub program: PathBuf,
    /// The arguments.
    pub args: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input; this process's own one if `None`.
    pub input: Option<Vec<u8>>,
}

/// Environment values may be secret.
impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Attached {
    /// Runs the program in a directory and returns its exit code, `None` if a signal ended it. There is no deadline: the user ends the
    /// program. It is killed if the future is dropped.
    pub async fn run(&self, dir: &Path) -> Result<Option<i32>, ToolError> {
        let name = || self.program.display().to_string();
        let start = |source| ToolError::Start { program: name(), source };
        let program = resolve(&self.program, &self.env).map_err(start)?;
        // Without parent-death signal: an interactive program survives the end of this process.
        let mut process = Start::Direct.command(&program, &self.program);
        process
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(dir)
            .kill_on_drop(true);
        if self.input.is_some() {
            process.stdin(Stdio::piped());
        }
        let mut child = Start::Direct.spawn(process).map_err(start)?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), &self.input) {
            // A pager ends when the user has seen enough.
            drop(stdin.write_all(input).await);
        }
        let status = child.wait().await.map_err(|source| ToolError::Io { program: name(), source })?;
        Ok(status.code())
    }
}

#[cfg(test)]
mod tests;
