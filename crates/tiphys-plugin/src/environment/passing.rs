//! Whether an environment can be given to a command, and what is given as a file instead.
//!
//! Linux bounds every text and all of them together (`execve(2)`); a program that gets too much is not started, with no more than
//! "argument list too long". So it is decided here, before anything runs, and never by leaving something out.

use tiphys_process::ExecLimits;

use crate::config::LargeParameters;

/// Variables that a plugin may ask for as files: those that hold as much as the application or the cluster has.
pub(crate) const LARGE: [&str; 2] = ["ARGOCD_APP_PARAMETERS", "KUBE_API_VERSIONS"];

/// The first of [`LARGE`], whose file has the values of all parameters.
const PARAMETERS: &str = LARGE[0];

/// What the names of variables begin with that hold one value of a parameter each.
const PARAMETER_PREFIX: &str = "PARAM_";

/// What the name of a variable is with that holds the path of the file.
const FILE_SUFFIX: &str = "_FILE";

/// Bytes of the path that such a variable may hold, counted before it is known.
const PATH_BYTES_MAX: usize = 4096;

/// What to do about an argument that is too large.
const ARGUMENT_REMEDY: &str = "put it into a file";

/// Why a command cannot be given its environment.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The end of a text is marked by a NUL.
    #[error(
        "environment variable {name} has a NUL byte, which no program can be given: remove it from the value"
    )]
    Nul {
        /// The variable, or what its name is with the NUL shown.
        name: String,
    },
    /// One variable is too large.
    #[error(
        "environment variable {name} has {bytes} bytes, and the system passes at most {bytes_max} in one (name, `=`, value and a NUL): {remedy}"
    )]
    Variable {
        /// The variable.
        name: String,
        /// Its bytes as the system counts them.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// One argument is too large.
    #[error(
        "argument {index} of the command has {bytes} bytes, and the system passes at most {bytes_max}: {ARGUMENT_REMEDY}"
    )]
    Argument {
        /// Its number; the program is 0.
        index: usize,
        /// Its bytes as the system counts them.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// All texts together are too large.
    #[error(
        "arguments and environment of the command have {bytes} bytes, and the system passes at most {bytes_max} (a quarter of the stack's limit, `ulimit -s`); \
         the largest is {largest} with {largest_bytes} bytes: {remedy}"
    )]
    Total {
        /// The sum as the system counts it.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
        /// The name of the largest variable, or `argument NUMBER`.
        largest: String,
        /// Its bytes.
        largest_bytes: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// A file for a large variable could not be written.
    #[error("cannot write the file that {variable} names")]
    File {
        /// The variable.
        variable: String,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
}

/// What commands are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passing {
    /// The variables, without those of [`Passing::files`].
    pub(crate) env: Vec<(String, String)>,
    /// Large variables that are given as files, too, or only: name and value.
    pub(crate) files: Vec<(&'static str, String)>,
}

/// The name of the variable that holds the path of a large variable's file.
pub(crate) fn file_variable(name: &str) -> String {
    format!("{name}{FILE_SUFFIX}")
}

/// Decides what commands with these arguments are given of an environment.
pub(crate) fn pass(
    env: Vec<(String, String)>,
    commands: &[&[String]],
    large: LargeParameters,
    limits: ExecLimits,
) -> Result<Passing, EnvironmentError> {
    refuse_nul(&env)?;
    let mut passing = Passing { env, files: Vec::new() };
    if large == LargeParameters::File {
        passing.take_out(commands, limits);
    }
    passing.check(commands, limits, large)?;
    Ok(passing)
}

impl Passing {
    /// Makes files of the large variables, whether they came with the request or are of this program's own environment, and removes those
    /// that do not fit: each by its own size, then the larger one first as long as all together are too much. So it goes with the
    /// variables of single parameters, which the file of all parameters makes superfluous, once these have gone.
    fn take_out(&mut self, commands: &[&[String]], limits: ExecLimits) {
        for name in LARGE {
            if let Some((_, value)) = self.env.iter().rfind(|(variable, _)| variable == name) {
                self.files.push((name, value.clone()));
            }
        }
        self.remove_what_does_not_fit(|name| LARGE.contains(&name), commands, limits);
        if self.files.iter().any(|(name, _)| *name == PARAMETERS) {
            self.remove_what_does_not_fit(|name| name.starts_with(PARAMETER_PREFIX), commands, limits);
        }
    }

    fn remove_what_does_not_fit(
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

    /// What the system counts for the largest of the commands, the variables with the files' paths included.
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
            "`spec.largeParameters: file` in the plugin's file gives it as a file, which the plugin then has to read"
        }
        (LargeParameters::Refuse, _) if name.starts_with(PARAMETER_PREFIX) => {
            "make the parameter smaller, or keep its content in a file of the repository"
        }
        (_, _) => "make it smaller, or pass it in another way",
    }
}

#[cfg(test)]
mod tests;
