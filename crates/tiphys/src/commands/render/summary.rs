//! The sources of rendered applications with their plugins and durations, as a table and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::Done;
use crate::output::Table;

/// The number of columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Narrow,
    Wide,
}

/// One row per source.
pub(super) fn table(done: &[Done], width: Width) -> String {
    let mut heading = vec!["APPLICATION", "SOURCE", "PLUGIN", "PARAMETERS", "OBJECTS", "TIME", "PLUGIN TIME"];
    if width == Width::Wide {
        heading.extend(["REVISION", "ALSO MATCHING", "REPOSITORY"]);
    }
    let mut table = Table::new(&heading);
    for one in done {
        let several = one.rendered.sources.len() > 1;
        for source in &one.rendered.sources {
            let path = if source.path.is_empty() { "." } else { &source.path };
            let place = if several { format!("{}: {path}", source.position) } else { path.to_owned() };
            let mut row = vec![
                one.stored.full_name(),
                place,
                source.plugin.clone().unwrap_or_else(|| source.source_type.to_string().to_lowercase()),
                source.parameters.len().to_string(),
                source.objects.to_string(),
                milliseconds(source.duration),
                milliseconds(source.plugin_duration),
            ];
            if width == Width::Wide {
                row.extend([
                    short(&source.revision),
                    source.also_matching.join(", "),
                    source.repo_url.clone(),
                ]);
            }
            table.row(row);
        }
    }
    table.render()
}

/// Formats `render --report`.
pub(super) fn json(done: &[Done]) -> Value {
    let applications = done.iter().map(|one| {
        let sources = one.rendered.sources.iter().map(|source| {
            json!({
                "position": source.position,
                "name": source.name,
                "repoURL": source.repo_url,
                "path": source.path,
                "revision": source.revision,
                "type": source.source_type.to_string(),
                "plugin": source.plugin,
                "alsoMatching": source.also_matching,
                "parameters": source.parameters,
                "objects": source.objects,
                "stderr": source.stderr,
                "seconds": source.duration.as_secs_f64(),
                "pluginSeconds": source.plugin_duration.as_secs_f64(),
            })
        });
        json!({
            "namespace": one.stored.application.metadata.namespace,
            "name": one.stored.application.metadata.name,
            "objects": one.objects,
            "seconds": one.rendered.duration.as_secs_f64(),
            "sources": sources.collect::<Vec<_>>(),
            "warnings": one.rendered.warnings,
        })
    });
    json!({"applications": applications.collect::<Vec<_>>()})
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1_000.0)
}

/// The beginning of a commit hash; other revisions are not shortened.
fn short(revision: &str) -> String {
    let is_commit = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { revision[..8].to_owned() } else { revision.to_owned() }
}
