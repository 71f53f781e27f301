//! `tiphys appset preview`.

use std::process::ExitCode;

use serde_json::Value;
use tiphys_service::compare::preview_change;
use tiphys_service::{
    ControllerSettings, ErrorKind, ExistingApplications, PreviewRequest, Previews, Service, ServiceOptions,
    SetInclusion, SetSelection, Workspace, WorkspaceOptions, preview,
};
use tokio_util::sync::CancellationToken;

use crate::args::{AppSetPreviewArgs, CommonArgs, ControllerArgs, OutputFormat};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::{kubernetes, service_options};
use crate::output::{self, Table};
use crate::settings::Process;

/// Exit code if an Application is not unchanged.
const DIFFERENT: u8 = 1;

/// Prints what the controller would do.
pub(super) async fn run(
    common: &CommonArgs,
    args: &AppSetPreviewArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print: fn(&Previews) -> String = match common.output.unwrap_or(OutputFormat::Json) {
        OutputFormat::Json => |previews| output::json(&previews.to_json()),
        OutputFormat::Yaml => |previews| output::documents(&[previews.to_json()]),
        OutputFormat::Table => table,
        _ => return Err(ServiceError::invalid_input("`appset preview` prints json, yaml or table")),
    };
    let previews = previews(common, args, host).await?;
    error::warn_all(&previews.warnings);
    let worst = error::print_all(&previews.errors, None);
    let is_guarded = print_guards(&previews);
    output::print(&print(&previews))?;
    Ok(match worst {
        Some(kind) => error::exit_code_of(Some(kind)),
        None if is_guarded && args.strict => error::exit_code_of(Some(ErrorKind::InvalidInput)),
        None if previews.differ() => ExitCode::from(DIFFERENT),
        None => ExitCode::SUCCESS,
    })
}

/// Previews the sets of the arguments.
async fn previews(
    common: &CommonArgs,
    args: &AppSetPreviewArgs,
    host: &Process,
) -> Result<Previews, ServiceError> {
    let selection =
        SetSelection { sets: args.sets.clone(), answers: super::answers(args.answers.as_deref(), host)? };
    let settings = ControllerSettings::from(&args.controller);
    let cancel = CancellationToken::new();
    if let Some(revision) = args.base.revision() {
        let sets = match &selection.answers {
            Some(answers) => SetInclusion::Answered(answers.clone()),
            None => SetInclusion::All,
        };
        let options = ServiceOptions { sets, ..service_options(common, host)? };
        let service = Service::open(options, tiphys_service::Host::clone(host))?;
        let work = Box::pin(preview_change(&service, &revision, &selection, &settings, &cancel));
        return lifecycle::unless_interrupted(&cancel, work).await?;
    }
    let has_cluster = !common.clusters.cluster_state.is_empty() || kubernetes(common).is_given();
    let request = PreviewRequest {
        generated: args.generated.as_ref().map(|file| super::documents(file, host)).transpose()?,
        existing: if has_cluster { ExistingApplications::Cluster } else { ExistingApplications::Store },
        selection,
        settings,
    };
    let mut needs = WorkspaceOptions::for_sets(&request.selection);
    needs.cancel = cancel;
    let service = Service::open(service_options(common, host)?, tiphys_service::Host::clone(host))?;
    let workspace = Workspace::open(&service, needs)?;
    error::warn_all(workspace.warnings());
    let work = Box::pin(preview(&workspace, &request));
    lifecycle::unless_interrupted(workspace.cancel(), work).await?
}

/// Prints the refusals to delete too many Applications, and returns whether there are any.
fn print_guards(previews: &Previews) -> bool {
    for (set, guard) in previews.guards() {
        tracing::warn!("application set {set}: {guard}: --allow-deletions {set}");
    }
    previews.guards().next().is_some()
}

fn table(previews: &Previews) -> String {
    let mut table = Table::new(&["SET", "NAME", "CHANGE", "ACTION", "GENERATOR", "ERROR"]);
    for row in previews.to_json().as_array().into_iter().flatten() {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let action = if row["guarded"] == Value::Bool(true) {
            format!("{} (guarded)", text("action"))
        } else {
            text("action")
        };
        table.row([text("set"), text("name"), text("change"), action, text("generator"), text("error")]);
    }
    table.render()
}

impl From<&ControllerArgs> for ControllerSettings {
    fn from(args: &ControllerArgs) -> Self {
        Self {
            policy: args.policy.clone().unwrap_or_default(),
            is_policy_override_enabled: args.policy_override.unwrap_or(args.policy.is_none()),
            preserved_labels: args.preserved_labels.clone(),
            preserved_annotations: args.preserved_annotations.clone(),
            adoptions: args.adopt.iter().cloned().collect(),
            max_deletions_percent: args.max_deletions.into(),
            allowed_deletions: args.allow_deletions.iter().cloned().collect(),
        }
    }
}
