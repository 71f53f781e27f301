//! Checks whether an environment fits into a process, and decides what is passed in files instead.
//!
//! Linux limits each string and all of them together (`execve(2)`). A program that gets more does not start, and the error is only
//! "argument list too long". So this is decided before anything runs, and no variable is silently omitted.

use tiphys_model::params::{APP_PARAMETERS, ResolvedParameter, with_resolved};
use tiphys_process::ExecLimits;

use crate::config::LargeParameters;
use crate::many::REQUESTS;

/// Variables that a plugin may get as files, because their size depends on the application or the cluster.
pub(crate) const LARGE: [&str; 3] = [APP_PARAMETERS, "KUBE_API_VERSIONS", REQUESTS];

/// The first of [`LARGE`]. Its file contains the values of all parameters.
const PARAMETERS: &str = APP_PARAMETERS;

/// Prefix of the variables that contain one parameter value each.
const PARAMETER_PREFIX: &str = "PARAM_";

/// Suffix of the variable with the path of a file.
const FILE_SUFFIX: &str = "_FILE";

/// Bytes reserved for the path in such a variable.
const PATH_BYTES_MAX: usize = 4096;

/// Remedy for an argument that is too large.
const ARGUMENT_REMEDY: &str = "put it into a file";

/// An error of a command's environment.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// A string contains a NUL byte, which ends a string in C.
    #[error("environment variable {name} contains a NUL byte: remove it from the value")]
    Nul {
        /// The variable, with a NUL in its name escaped.
        name: String,
    },
    /// One variable is too large.
    #[error(
        "environment variable {name} has {bytes} bytes, and the system passes at most {bytes_max} in one (name, `=`, value and a NUL): {remedy}"
    )]
    Variable {
        /// The variable.
        name: String,
        /// Its bytes, as counted by the system.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
        /// The remedy.
        remedy: &'static str,
    },
    /// One argument is too large.
    #[error(
        "argument {index} of the command has {bytes} bytes, and the system passes at most {bytes_max}: {ARGUMENT_REMEDY}"
    )]
    Argument {
        /// Its index; the program is 0.
        index: usize,
        /// Its bytes, as counted by the system.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// All strings together are too large.
    #[error(
        "arguments and environment of the command have {bytes} bytes, and the system passes at most {bytes_max} (a quarter of the stack's limit, `ulimit -s`); \
         the largest is {largest} with {largest_bytes} bytes: {remedy}"
    )]
    Total {
        /// The sum, as counted by the system.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
        /// The name of the largest variable, or `argument NUMBER`.
        largest: String,
        /// Its bytes.
        largest_bytes: usize,
        /// The remedy.
        remedy: &'static str,
    },
    /// A file for a large variable could not be written.
    #[error("cannot write the file for {variable}")]
    File {
        /// The variable.
        variable: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

/// The environment of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passing {
    /// The variables except those of [`Passing::files`].
    pub(crate) env: Vec<(String, String)>,
    /// Large variables that are also or only passed as files: name and value.
    pub(crate) files: Vec<(&'static str, String)>,
}

/// Returns the name of the variable with the path of a large variable's file.
pub(crate) fn file_variable(name: &str) -> String {
    format!("{name}{FILE_SUFFIX}")
}

/// Decides how an environment is passed to commands with these arguments.
pub(crate) fn pass(
    env: Vec<(String, String)>,
    commands: &[&[String]],
    large: LargeParameters,
    limits: ExecLimits,
) -> Result<Passing, EnvironmentError> {
    refuse_nul(&env)?;
    let mut passing = Passing { env, files: Vec::new() };
    if large == LargeParameters::File {
        passing.move_to_files(commands, limits);
    }
    passing.check(commands, limits, large)?;
    Ok(passing)
}

impl Passing {
    /// Adds parameters to the file with all parameters. The environment does not get them.
    pub(crate) fn add_to_file(&mut self, resolved: &[ResolvedParameter]) {
        if resolved.is_empty() {
            return;
        }
        match self.files.iter_mut().find(|(name, _)| *name == PARAMETERS) {
            Some((_, list)) => *list = with_resolved(list, resolved),
            None => self.files.push((PARAMETERS, with_resolved("null", resolved))),
        }
    }

    /// Passes large variables in files, whether they came with the request or from this process. Removes from the environment those that do
    /// not fit: each that is too large by itself, then the largest while the total is too large. Then the variables of single parameters
    /// are removed likewise, because the file of all parameters contains their values.
    fn move_to_files(&mut self, commands: &[&[String]], limits: ExecLimits) {
        for name in LARGE {
            if let Some((_, value)) = self.env.iter().rfind(|(variable, _)| variable == name) {
                self.files.push((name, value.clone()));
            }
        }
        self.remove_oversized(|name| LARGE.contains(&name), commands, limits);
        if self.files.iter().any(|(name, _)| *name == PARAMETERS) {
            self.remove_oversized(|name| name.starts_with(PARAMETER_PREFIX), commands, limits);
        }
    }

    fn remove_oversized(
        &mut self,
        may_go: impl Fn(&str) -> bool,
        commands: &[&[String]],
        limits: ExecLimits,
    ) {
        let mut by_size: Vec<(usize, String)> = self
            .env
            .iter()
            .filter(|(name, _)| may_go(name))
            .map(|(name, value)| (variable_bytes(name, value), name.clone()))
            .collect();
        by_size.sort_unstable();
        let mut total = self.total(commands);
        while let Some((bytes, name)) = by_size.pop() {
            if bytes <= limits.text_bytes_max && total <= limits.total_bytes_max {
                break;
            }
            self.env.retain(|(variable, _)| *variable != name);
            total = self.total(commands);
        }
    }

    fn check(
        &self,
        commands: &[&[String]],
        limits: ExecLimits,
        large: LargeParameters,
    ) -> Result<(), EnvironmentError> {
        let bytes_max = limits.text_bytes_max;
        for (name, value) in &self.env {
            let bytes = variable_bytes(name, value);
            if bytes > bytes_max {
                let remedy = remedy(name, large);
                return Err(EnvironmentError::Variable { name: name.clone(), bytes, bytes_max, remedy });
            }
        }
        for argv in commands {
            for (index, argument) in argv.iter().enumerate() {
                let bytes = argument.len() + 1;
                if bytes > bytes_max {
                    return Err(EnvironmentError::Argument { index, bytes, bytes_max });
                }
            }
        }
        let bytes = self.total(commands);
        if bytes <= limits.total_bytes_max {
            return Ok(());
        }
        let variables = self
            .env
            .iter()
            .map(|(name, value)| (variable_bytes(name, value), name.clone(), remedy(name, large)));
        let arguments = commands
            .iter()
            .flat_map(|argv| argv.iter().enumerate())
            .map(|(index, argument)| (argument.len() + 1, format!("argument {index}"), ARGUMENT_REMEDY));
        let (largest_bytes, largest, remedy) =
            variables.chain(arguments).max_by_key(|(bytes, ..)| *bytes).unwrap_or_default();
        let bytes_max = limits.total_bytes_max;
        Err(EnvironmentError::Total { bytes, bytes_max, largest, largest_bytes, remedy })
    }

    /// The bytes that the system counts for the largest command, including the variables with the paths of files.
    fn total(&self, commands: &[&[String]]) -> usize {
        let env: usize =
            self.env.iter().map(|(name, value)| ExecLimits::cost(variable_bytes(name, value) - 1)).sum();
        let paths: usize = self
            .files
            .iter()
            .map(|(name, _)| ExecLimits::cost(name.len() + FILE_SUFFIX.len() + 1 + PATH_BYTES_MAX))
            .sum();
        let argv =
            commands.iter().map(|argv| argv.iter().map(|text| ExecLimits::cost(text.len())).sum::<usize>());
        env + paths + argv.max().unwrap_or(0)
    }
}

/// Name, `=`, value and a NUL.
fn variable_bytes(name: &str, value: &str) -> usize {
    name.len() + 1 + value.len() + 1
}

fn refuse_nul(env: &[(String, String)]) -> Result<(), EnvironmentError> {
    match env.iter().find(|(name, value)| name.contains('\0') || value.contains('\0')) {
        Some((name, _)) => Err(EnvironmentError::Nul { name: name.escape_default().to_string() }),
        None => Ok(()),
    }
}

fn remedy(name: &str, large: LargeParameters) -> &'static str {
    match (large, LARGE.contains(&name)) {
        (LargeParameters::Refuse, true) => {
            "set `spec.largeParameters: file` in the plugin's file, and have the plugin read the file"
        }
        (LargeParameters::Refuse, _) if name.starts_with(PARAMETER_PREFIX) => {
            "make the parameter smaller, or keep its content in a file of the repository"
        }
        (_, _) => "make it smaller, or pass it differently",
    }
}

#[cfg(test)]
mod tests;
