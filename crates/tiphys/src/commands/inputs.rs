//! `tiphys inputs`: the paths that applications are made from.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_engine::GENERATE_PATHS_ANNOTATION;
use tiphys_render::{InputFiles, InputPaths, SourceInputs, UnselectedPaths};
use tiphys_service::{
    ApplicationInputs, ApplicationSelection, SelectedApplications, Workspace, WorkspaceOptions,
};
use tiphys_tree::RepoPath;

use super::checkouts;
use crate::args::{InputsArgs, OutputFormat, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;
use crate::terminal::one_line;

/// Prints what applications are made from. Nothing is rendered.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &InputsArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form = match shared.output {
        None | Some(OutputFormat::Table) => text,
        Some(OutputFormat::Json) => json,
        Some(_) => return Err(ServiceError::invalid_input("inputs are printed with -o table or json")),
    };
    let selection = ApplicationSelection::from(&args.applications);
    let needs = WorkspaceOptions::for_selection(&selection);
    let workspace = Workspace::open_with_sets(&open_service(shared, host)?, needs).await?;
    error::warn_all(workspace.warnings());
    error::warn_all(&workspace.plugins_in_checkout());
    let SelectedApplications { applications, errors, warnings, .. } =
        tiphys_service::select(&workspace, &selection, "look at")?;
    let mut worst = error::print_all(&errors, None);
    error::warn_all(&warnings);
    checkouts::report(&workspace, &applications).await;
    let collecting = Box::pin(tiphys_service::inputs(&workspace, &applications));
    let collected = lifecycle::unless_interrupted(workspace.cancel(), collecting).await?;
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for one in collected {
        match one {
            Ok(inputs) => found.push(inputs),
            Err(failure) => failures.push(failure),
        }
    }
    worst = error::print_all(&failures, worst);
    for warning in found.iter().flat_map(unselected_warnings) {
        tracing::warn!("{warning}");
    }
    output::print(&form(&found))?;
    Ok(error::exit_code_of(worst))
}

/// Returns a warning for each source with paths that `manifest-generate-paths` does not select.
fn unselected_warnings(one: &ApplicationInputs) -> impl Iterator<Item = String> {
    one.unselected.iter().map(|UnselectedPaths { position, paths }| {
        let items: Vec<String> = paths.iter().map(|path| format!("/{path}")).collect();
        format!(
            "{}: source {position}: {GENERATE_PATHS_ANNOTATION} does not select {}; add what is missing to the annotation",
            one.application,
            items.join(", ")
        )
    })
}

/// Formats an indented list: applications, their sources, and the paths of each.
fn text(found: &[ApplicationInputs]) -> String {
    let mut text = String::new();
    for one in found {
        text.push_str(&output::lines([one.application.clone()]));
        for SourceInputs { position, reference, repository, files, outside } in &one.sources {
            let reference = reference.as_ref().map_or_else(String::new, |name| format!(", ${name}"));
            text.push_str("  ");
            text.push_str(&output::lines([format!("source {position}{reference}: {repository}")]));
            let lines = match files {
                InputFiles::Whole { reason } => vec![format!("all files: {reason}")],
                InputFiles::Remote { revision, .. } if revision.is_empty() => {
                    vec!["the default revision".to_owned()]
                }
                InputFiles::Remote { revision, .. } => vec![format!("revision {revision}")],
                InputFiles::Paths { paths, .. } => path_lines(paths),
            };
            for line in lines.into_iter().chain(outside.iter().map(|reason| format!("and more: {reason}"))) {
                text.push_str("    ");
                text.push_str(&output::lines([line]));
            }
        }
    }
    text
}

/// Returns a line for each path, with the reasons in a column.
fn path_lines(paths: &InputPaths) -> Vec<String> {
    let names: Vec<String> = paths.all.keys().map(|path| one_line(shown(path))).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let lines = paths.all.iter().zip(&names).map(|((path, reason), name)| {
        let rest = if paths.shallow.contains(path) { ", without the directories in it" } else { "" };
        format!("{name:width$}   {reason}{rest}")
    });
    lines.collect()
}

/// Returns a path, `.` for the root of the repository.
fn shown(path: &RepoPath) -> &str {
    if path.is_root() { "." } else { path.as_str() }
}

/// Formats `-o json`.
///
/// ```json
/// [{"application": "argocd/shop",
///   "sources": [{"source": 1, "ref": null, "repository": "https://…", "whole": null, "revision": null, "digest": "5f…", "outside": null,
///                "paths": [{"path": "charts/shop", "reason": "the chart", "shallow": false}],
///                "unselected": ["shared/values.yaml"]}]}]
/// ```
///
/// `outside` is the reason why something that is in no file of a repository may change the result. `whole` is the reason why all files of the
/// revision count, `revision` the target revision of a repository that no folder stands for, or of a chart. `digest` is `null` and `paths`
/// empty with either.
/// `unselected` are the paths that the annotation `manifest-generate-paths` does not select.
fn json(found: &[ApplicationInputs]) -> String {
    let entry = |one: &ApplicationInputs| {
        let sources: Vec<Value> =
            one.sources.iter().map(|source| source_json(source, &one.unselected)).collect();
        json!({"application": one.application, "sources": sources})
    };
    output::json(&Value::Array(found.iter().map(entry).collect()))
}

fn source_json(
    SourceInputs { position, reference, repository, files, outside }: &SourceInputs,
    unselected: &[UnselectedPaths],
) -> Value {
    let own = unselected.iter().filter(|one| one.position == *position && reference.is_none());
    let unselected: Vec<&str> = own.flat_map(|one| &one.paths).map(shown).collect();
    let (mut whole, mut revision, mut digest, mut paths) = (None, None, None, Vec::new());
    match files {
        InputFiles::Whole { reason } => whole = Some(reason),
        InputFiles::Remote { revision: target, .. } => revision = Some(target),
        InputFiles::Paths { paths: found, digest: bytes } => {
            digest = Some(hexadecimal(bytes));
            paths = found
                .all
                .iter()
                .map(|(path, reason)| {
                    json!({"path": shown(path), "reason": reason, "shallow": found.shallow.contains(path)})
                })
                .collect();
        }
    }
    json!({
        "source": position,
        "ref": reference,
        "repository": repository,
        "whole": whole,
        "revision": revision,
        "digest": digest,
        "outside": outside,
        "paths": paths,
        "unselected": unselected,
    })
}

/// Returns lower-case hexadecimal digits.
fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}
