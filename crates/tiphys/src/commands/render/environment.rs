//! `render --print-env`: what each plugin's commands get.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tiphys_render::Work;
use tiphys_store::StoredApplication;

use crate::args::OutputFormat;
use crate::context::Workplace;
use crate::failure::Failure;
use crate::output;
use crate::terminal::one_line;

/// The environment of every plugin's commands: as text, or as JSON or YAML.
pub(super) async fn text(
    place: &Workplace,
    applications: &[Arc<StoredApplication>],
    format: OutputFormat,
) -> Result<String, Failure> {
    let mut found = Vec::new();
    for stored in applications {
        let prepared = place.renderer.prepare_all(&stored.application).await;
        let prepared = prepared.map_err(|error| Failure::of_application(stored, &error))?;
        for (position, one) in prepared {
            if let Work::Plugin { chosen, request, .. } = &one.work {
                found.push((
                    stored.full_name(),
                    position,
                    chosen.plugin.name().to_owned(),
                    chosen.plugin.environment(request),
                ));
            }
        }
    }
    if matches!(format, OutputFormat::Json) {
        let list = found.into_iter().map(|(application, source, plugin, env)| {
            let env: Map<String, Value> =
                env.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
            json!({"application": application, "source": source, "plugin": plugin, "env": env})
        });
        return Ok(output::json(&Value::Array(list.collect())));
    }
    let mut text = String::new();
    for (application, source, plugin, env) in found {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# {}, source {source}, plugin {}", one_line(&application), one_line(&plugin));
        text.push_str(&env_lines(&env));
    }
    Ok(text)
}

/// One line a variable, in the form that a POSIX shell reads.
pub(crate) fn env_lines(env: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| [name, "='", &value.replace('\'', "'\\''"), "'\n"].concat();
    env.iter().map(line).collect()
}
