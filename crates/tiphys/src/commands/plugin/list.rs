//! `tiphys plugin list`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::{OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::options::service_options;
use crate::output::{self, Table};
use crate::remote_plugins;
use crate::settings::Process;

/// A plugin that can be used.
struct Listed {
    name: String,
    place: String,
    discovery: Option<String>,
    parameters: Option<String>,
    problem: Option<String>,
}

/// Lists in-process plugins and plugin servers, sorted by name.
pub(crate) async fn run(shared: &SharedOptions, host: &Process) -> Result<ExitCode, ServiceError> {
    let mut listed = Vec::new();
    let options = service_options(shared, host)?;
    for plugin in tiphys_service::plugin::load_plugins(&options, host)? {
        let config = &plugin.config;
        let discover = &config.discover;
        let discovery = if !discover.file_name.is_empty() {
            Some(format!("fileName {}", discover.file_name))
        } else if !discover.find_glob.is_empty() {
            Some(format!("find.glob {}", discover.find_glob))
        } else {
            discover
                .find_command
                .as_ref()
                .map(|command| format!("find.command {}", tiphys_plugin::quote_command(&command.argv())))
        };
        let count = config.static_announcements.len();
        let dynamic = if config.dynamic.is_some() { ", dynamic" } else { "" };
        listed.push(Listed {
            name: config.display_name(),
            place: plugin.shown_file(),
            discovery: Some(discovery.unwrap_or_else(|| "by name only".to_owned())),
            parameters: Some(format!("{count} static{dynamic}")),
            problem: None,
        });
    }
    let sockets = options.plugin_socket_dir(host);
    let servers = sockets.map(|dir| remote_plugins::listed(&dir, host)).transpose()?;
    for plugin in servers.into_iter().flatten() {
        use tiphys_plugin::Plugin as _;
        let (discovery, problem) = match plugin.configuration().await {
            Ok(answer) if answer.discovery_configured => (Some("by its server".to_owned()), None),
            Ok(_) => (Some("by name only".to_owned()), None),
            Err(error) => (None, Some(tiphys_plugin::chain(&error))),
        };
        listed.push(Listed {
            name: plugin.name().to_owned(),
            place: plugin.socket().display().to_string(),
            discovery,
            parameters: None,
            problem,
        });
    }
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    output::print(&printed(&listed, shared.output))?;
    Ok(ExitCode::SUCCESS)
}

fn printed(listed: &[Listed], format: Option<OutputFormat>) -> String {
    match format {
        Some(OutputFormat::Name) => output::lines(listed.iter().map(|plugin| plugin.name.clone())),
        Some(OutputFormat::Json) => output::json(&Value::Array(listed.iter().map(to_json).collect())),
        Some(OutputFormat::Yaml) => {
            tiphys_yaml::write_yaml(&Value::Array(listed.iter().map(to_json).collect()))
        }
        None
        | Some(
            OutputFormat::Table
            | OutputFormat::Wide
            | OutputFormat::Diff
            | OutputFormat::Markdown
            | OutputFormat::Html,
        ) => {
            let mut table = Table::new(&["NAME", "DISCOVERY", "PARAMETERS", "FROM"]);
            for plugin in listed {
                let discovery = plugin.problem.as_ref().map_or_else(
                    || plugin.discovery.clone().unwrap_or_default(),
                    |problem| format!("does not answer: {problem}"),
                );
                table.row([
                    plugin.name.clone(),
                    discovery,
                    plugin.parameters.clone().unwrap_or_default(),
                    plugin.place.clone(),
                ]);
            }
            table.render()
        }
    }
}

fn to_json(plugin: &Listed) -> Value {
    json!({
        "name": plugin.name,
        "from": plugin.place,
        "discovery": plugin.discovery,
        "parameters": plugin.parameters,
        "problem": plugin.problem,
    })
}
