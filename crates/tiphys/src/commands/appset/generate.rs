//! `tiphys appset generate`.

use std::process::ExitCode;

use serde_json::Value;
use tiphys_service::{
    GeneratedSets, SetApplications, SetSelection, Workspace, WorkspaceOptions, generate_sets,
    unusable_checkout,
};

use crate::args::{AppSetGenerateArgs, OutputFormat, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;

use super::wide;

/// Prints the Applications of sets.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &AppSetGenerateArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print: fn(&mut dyn Iterator<Item = Value>) -> String = match shared
        .output
        .unwrap_or(OutputFormat::Yaml)
    {
        OutputFormat::Yaml => |applications| output::documents(applications),
        OutputFormat::Json => |applications| output::json(&output::list(&applications.collect::<Vec<_>>())),
        OutputFormat::Name => names,
        OutputFormat::Wide | OutputFormat::Table => {
            |applications| wide::table(&applications.collect::<Vec<_>>())
        }
        _ => return Err(ServiceError::invalid_input("`appset generate` prints yaml, json, name or wide")),
    };
    let selection =
        SetSelection { sets: args.sets.clone(), answers: super::answers(args.answers.as_deref(), host)? };
    let needs = WorkspaceOptions::for_sets(&selection);
    let workspace = Workspace::open(&open_service(shared, host)?, needs).await?;
    error::warn_all(workspace.warnings());
    let generating = Box::pin(generate_sets(&workspace, &selection));
    let GeneratedSets { sets, asked } =
        lifecycle::unless_interrupted(workspace.cancel(), generating).await??;
    error::warn_all(&unusable_checkout(&workspace));
    for SetApplications { warnings, .. } in &sets {
        error::warn_all(warnings);
    }
    let worst = error::print_all(sets.iter().flat_map(SetApplications::errors), None);
    // The answers of a failed set are not complete.
    if let Some(file) = args.record.as_ref().filter(|_| worst.is_none()) {
        output::write_private_file("--record", &host.absolute(file), &output::json(&asked.to_json()))?;
    }
    if worst.is_none() || args.keep_going {
        // Each is converted when it is printed, because maps need much memory.
        let applications = sets.into_iter().flat_map(SetApplications::into_applications);
        output::print(&print(&mut applications.map(|generated| with_kind(generated.application.value()))))?;
    }
    Ok(error::exit_code_of(worst))
}

fn with_kind(application: Value) -> Value {
    let mut document = serde_json::json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"});
    if let (Value::Object(document), Value::Object(application)) = (&mut document, application) {
        document.extend(application);
    }
    document
}

fn names(applications: &mut dyn Iterator<Item = Value>) -> String {
    let name = |application: Value| {
        let name = application["metadata"]["name"].as_str().unwrap_or_default();
        format!("application.argoproj.io/{name}")
    };
    output::lines(applications.map(name))
}
