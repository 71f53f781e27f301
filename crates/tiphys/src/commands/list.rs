//! `tiphys list`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::documents::ApplicationDocument;
use tiphys_service::{ApplicationSelection, ListedApplication, Workspace, WorkspaceOptions};

use crate::args::{ListArgs, OutputFormat, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::{self, Table};
use crate::settings::Process;

/// Lists the selected applications. One that fails does not hide the others.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &ListArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let form: fn(&[ListedApplication]) -> String = match shared.output {
        None | Some(OutputFormat::Table | OutputFormat::Wide) => table,
        Some(OutputFormat::Json) => |listed| output::json(&to_json(listed)),
        Some(OutputFormat::Yaml) => |listed| tiphys_yaml::write_yaml(&to_json(listed)),
        Some(OutputFormat::Name) => |listed| output::lines(listed.iter().map(|one| one.stored.full_name())),
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "applications are printed with -o table, json, yaml or name",
            ));
        }
    };
    let selection = ApplicationSelection::from(&args.applications);
    let options = WorkspaceOptions::for_selection(&selection);
    let workspace = Workspace::open_with_sets(&open_service(shared, host)?, options).await?;
    error::warn_all(workspace.warnings());
    let selected = tiphys_service::select(&workspace, &selection, "list")?;
    error::warn_all(&selected.warnings);
    let listing = Box::pin(tiphys_service::list(&workspace, &selected.applications));
    let listed = lifecycle::unless_interrupted(workspace.cancel(), listing).await?;
    output::page(&form(&listed), host).await?;
    let failures = selected.errors.iter().chain(listed.iter().flat_map(|one| &one.failures));
    Ok(error::exit_code_of(error::print_all(failures, None)))
}

fn table(listed: &[ListedApplication]) -> String {
    let mut table = Table::new(&["NAME", "PROJECT", "PLUGIN", "SET", "PLACE"]);
    for one in listed {
        let set = one.stored.generated_by.as_ref();
        let of_set = set.map(|set| format!(" (ApplicationSet {set})")).unwrap_or_default();
        table.row([
            one.stored.full_name(),
            one.stored.application.spec.project.clone(),
            one.plugins.join(","),
            one.set_parameters.to_string(),
            format!("{}{of_set}", place(one)),
        ]);
    }
    table.render()
}

/// Returns `file:line`.
fn place(one: &ListedApplication) -> String {
    let place = &one.stored.place;
    match place.position {
        Some(position) => format!("{}:{}", place.file, position.line),
        None => place.file.to_string(),
    }
}

fn to_json(listed: &[ListedApplication]) -> Value {
    listed.iter().map(ApplicationDocument::from).map(|entry| json!(entry)).collect()
}
