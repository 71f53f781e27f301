//! The sources of rendered applications with their plugins and durations, as a table and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use crate::error::ServiceError;
use crate::output::Table;

/// The number of columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Narrow,
    Wide,
}

/// One row per source of the rendered applications.
pub(super) fn table(outcomes: &[Outcome], width: Width) -> String {
    let mut heading = vec!["APPLICATION", "SOURCE", "PLUGIN", "PARAMETERS", "OBJECTS", "TIME", "PLUGIN TIME"];
    if width == Width::Wide {
        heading.extend(["REVISION", "ALSO MATCHING", "REPOSITORY"]);
    }
    let mut table = Table::new(&heading);
    for Outcome { stored, result } in outcomes {
        let Ok(done) = result else { continue };
        let several = done.rendered.sources.len() > 1;
        for source in &done.rendered.sources {
            let path = [&source.chart, &source.path].into_iter().find(|name| !name.is_empty());
            let path = path.map_or(".", String::as_str);
            let place = if several { format!("{}: {path}", source.position) } else { path.to_owned() };
            let mut row = vec![
                stored.full_name(),
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

/// Formats `render --report`. `errors` are those of applications that could not be selected.
pub(super) fn json(errors: &[ServiceError], outcomes: &[Outcome]) -> Value {
    let applications = outcomes.iter().map(|Outcome { stored, result }| {
        let rendered = result.as_ref().map(|done| &done.rendered).ok();
        let sources = rendered.into_iter().flat_map(|rendered| &rendered.sources).map(|source| {
            json!({
                "position": source.position,
                "name": source.name,
                "repoURL": source.repo_url,
                "path": source.path,
                "chart": source.chart,
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
            "namespace": stored.application.metadata.namespace,
            "name": stored.application.metadata.name,
            "error": result.as_ref().err().map(ServiceError::message),
            "objects": result.as_ref().map_or(0, |done| done.objects),
            "seconds": rendered.map(|rendered| rendered.duration.as_secs_f64()),
            "sources": sources.collect::<Vec<_>>(),
            "warnings": rendered.map_or(&[][..], |rendered| &rendered.warnings),
        })
    });
    let errors: Vec<String> = errors.iter().map(ServiceError::message).collect();
    json!({"applications": applications.collect::<Vec<_>>(), "errors": errors})
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1_000.0)
}

/// The beginning of a commit hash; other revisions are not shortened.
fn short(revision: &str) -> String {
    let is_commit = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { revision[..8].to_owned() } else { revision.to_owned() }
}
