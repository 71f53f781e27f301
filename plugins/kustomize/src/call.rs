//! The program's inputs, read once: arguments, environment, working directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiphys_process::{Tool, ToolError, ToolOutput};

use crate::{GIT_PROGRAM, HELM_PROGRAM};

/// Maximum output of one program in bytes: Argo CD's maximum message size. The output stays in memory until the program succeeds.
const OUTPUT_BYTES_MAX: usize = 100 << 20;

/// The variable that sets another maximum.
const OUTPUT_MAX_VARIABLE: &str = "TIPHYS_KUSTOMIZE_OUTPUT_MAX";

/// The programs whose work a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The plugin.
    Plugin,
    /// Helm, called by kustomize.
    Helm,
    /// Git, called by kustomize.
    Git,
}

/// One call of the program.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The program that the call replaces.
    pub(crate) role: Role,
    /// The arguments after the program's name.
    pub(crate) arguments: Vec<OsString>,
    /// The environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The working directory: absolute, without links.
    pub(crate) folder: PathBuf,
    /// The file of the program; `None` if the system does not report it.
    pub(crate) executable: Option<PathBuf>,
}

/// An error of a program that a call runs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("{OUTPUT_MAX_VARIABLE}: {0:?} is not a number of bytes")]
    OutputMax(String),
    #[error("{0}; increase {OUTPUT_MAX_VARIABLE}")]
    OutputTooLarge(ToolError),
    #[error(transparent)]
    Tool(ToolError),
}

impl Call {
    /// Reads this process's environment. `arguments` begin with the program's name.
    #[expect(clippy::disallowed_methods, reason = "the one place of the program that reads them")]
    pub(crate) fn of_process(arguments: Vec<OsString>) -> Self {
        let mut arguments = arguments.into_iter();
        let program = arguments.next().unwrap_or_default();
        Self {
            role: match Path::new(&program).file_name() {
                Some(name) if name == HELM_PROGRAM => Role::Helm,
                Some(name) if name == GIT_PROGRAM => Role::Git,
                _ => Role::Plugin,
            },
            arguments: arguments.collect(),
            variables: std::env::vars_os().collect(),
            folder: std::env::current_dir().unwrap_or_default(),
            executable: std::env::current_exe().ok(),
        }
    }

    /// Runs a program in the directory of the call. kustomize waits for the programs that it calls, and the caller of the plugin limits the time.
    pub(crate) async fn run(
        &self,
        program: &Path,
        env: &[(OsString, OsString)],
        arguments: &[OsString],
    ) -> Result<ToolOutput, CallError> {
        let given = self.variable(OUTPUT_MAX_VARIABLE).map(|text| (text, text.parse()));
        let stdout_bytes_max = match given {
            None => OUTPUT_BYTES_MAX,
            Some((_, Ok(bytes))) => bytes,
            Some((text, Err(_))) => return Err(CallError::OutputMax(text.to_owned())),
        };
        let (program, env) = (program.to_path_buf(), env.to_vec());
        let tool = Tool { program, env, timeout: Duration::MAX, stdout_bytes_max };
        tool.run(arguments, &self.folder, None).await.map_err(|error| match error {
            error @ ToolError::OutputTooLarge { .. } => CallError::OutputTooLarge(error),
            error => CallError::Tool(error),
        })
    }

    /// Returns a variable that is set, not empty, and UTF-8.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().rfind(|(other, _)| other == name)?;
        found.1.to_str().filter(|value| !value.is_empty())
    }
}
