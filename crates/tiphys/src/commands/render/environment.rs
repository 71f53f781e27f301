//! `render --print-env`: the environment of each plugin's commands.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tiphys_service::PluginEnvironment;

use crate::args::OutputFormat;
use crate::output;
use crate::terminal::one_line;

/// Formats the environments as shell assignments or as JSON.
pub(super) fn text(environments: Vec<PluginEnvironment>, format: OutputFormat) -> String {
    if matches!(format, OutputFormat::Json) {
        let list = environments.into_iter().map(|one| {
            let PluginEnvironment { application, source, plugin, variables } = one;
            let env: Map<String, Value> =
                variables.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
            json!({"application": application, "source": source, "plugin": plugin, "env": env})
        });
        return output::json(&Value::Array(list.collect()));
    }
    let mut text = String::new();
    for PluginEnvironment { application, source, plugin, variables } in environments {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# {}, source {source}, plugin {}", one_line(&application), one_line(&plugin));
        text.push_str(&env_lines(&variables));
    }
    text
}

/// One line per variable, quoted for a POSIX shell.
pub(crate) fn env_lines(env: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| [name, "='", &value.replace('\'', "'\\''"), "'\n"].concat();
    env.iter().map(line).collect()
}
