//! The answers of a plugin service that is tried out: from a file, or from a command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tiphys_model::limits::{Limit, Limits};
use tiphys_plugin::{chain, quote_command};
use tiphys_process::{Tool, ToolOutput};
use tiphys_yaml::read_json_as_any;

use crate::context::host::Host;
use crate::context::sets::RecordedAnswers;
use crate::context::sets::answers::{objects, read_answers};
use crate::error::ServiceError;

/// The answers to all requests.
#[derive(Clone, Debug)]
pub struct PluginAnswers(Origin);

#[derive(Clone, Debug)]
enum Origin {
    Same(Vec<Map<String, Value>>),
    Recorded(RecordedAnswers),
    Command { tool: Tool, arguments: Vec<OsString>, directory: PathBuf, shown: String },
}

impl PluginAnswers {
    /// Parses a file: a list of parameter objects, which answers every request, or recorded answers.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Self, ServiceError> {
        let invalid = |message: String| ServiceError::invalid_input(format!("{}: {message}", file.display()));
        match read_answers(content).map_err(|error| invalid(error.to_string()))? {
            list @ Value::Array(_) => {
                let sets = objects(&list).ok_or_else(|| invalid("expected a list of objects".to_owned()))?;
                Ok(Self(Origin::Same(sets)))
            }
            recorded if recorded.get("answers").is_some() => {
                Ok(Self(Origin::Recorded(RecordedAnswers::parse(file, content)?)))
            }
            _ => Err(invalid("expected a list of objects, or an object with a list `answers`".to_owned())),
        }
    }

    /// Runs a command for each request, in the caller's directory and environment without the variables `hidden`. It gets the body on standard
    /// input and prints a JSON list of objects. Its time and output are limited as those of requests to plugin services.
    pub fn of_command(command: &[String], hidden: &[&str], limits: &Limits, host: &Host) -> Self {
        let (program, arguments) = command.split_first().map_or(("", command), |(first, rest)| (first, rest));
        let program = if program.contains('/') { host.absolute(program) } else { PathBuf::from(program) };
        let variables = host.variables().filter(|(name, _)| !hidden.contains(&name.as_str()));
        let tool = Tool {
            program,
            env: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            timeout: limits.duration(Limit::PLUGIN_REQUEST_TIMEOUT),
            stdout_bytes_max: limits.size(Limit::PLUGIN_ANSWER_BYTES_MAX),
        };
        Self(Origin::Command {
            tool,
            arguments: arguments.iter().map(OsString::from).collect(),
            directory: host.current_dir.clone(),
            shown: quote_command(command),
        })
    }

    /// Returns the parameter sets for a request. `contract` is `shipped` or `proposal`, `object` the decoded body.
    pub async fn answer(
        &self,
        contract: &str,
        body: Vec<u8>,
        object: &Value,
    ) -> Result<Vec<Map<String, Value>>, String> {
        match &self.0 {
            Origin::Same(sets) => Ok(sets.clone()),
            Origin::Recorded(answers) => answers.answer_plugin(contract, object),
            Origin::Command { tool, arguments, directory, shown } => {
                let output = tool.run(arguments, directory, Some(body)).await;
                output
                    .map_err(|error| chain(&error))
                    .and_then(printed)
                    .map_err(|error| format!("`{shown}`: {error}"))
            }
        }
    }
}

/// Returns the parameter sets that a command printed.
fn printed(output: ToolOutput) -> Result<Vec<Map<String, Value>>, String> {
    let ToolOutput { code, stdout, stderr } = output;
    if code != Some(0) {
        let code = code.map_or("a signal".to_owned(), |code| format!("exit status {code}"));
        return Err(format!("failed with {code}: {}", stderr.trim_end()));
    }
    let list = read_json_as_any(&stdout).map_err(|error| format!("standard output: {error}"))?;
    objects(&list.to_any_value()).ok_or_else(|| "standard output: expected a JSON list of objects".to_owned())
}
