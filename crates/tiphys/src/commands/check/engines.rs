//! `tiphys check --helm-compare`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::{
    ApplicationSelection, ComparedEngines, EngineComparison, Host, SelectedApplications, Service,
    ServiceOptions, Setting, SettingOrigin, compare_engines,
};

use super::counted;
use crate::args::{CheckArgs, OutputFormat, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::lifecycle;
use crate::options::service_options;
use crate::output::{self, Table};
use crate::progress::Progress;
use crate::settings::Process;

/// Renders charts with both engines, and prints how the results differ.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &CheckArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let print: fn(&ComparedEngines) -> String = match shared.output {
        None | Some(OutputFormat::Table) => text,
        Some(OutputFormat::Json) => |compared| output::json(&document(compared)),
        Some(OutputFormat::Yaml) => |compared| tiphys_yaml::write_yaml(&document(compared)),
        Some(_) => {
            return Err(ServiceError::invalid_input(
                "`check --helm-compare` prints a table, or with -o json or yaml a document",
            ));
        }
    };
    if shared.given.by(Setting::HELM_ENGINE) == Some(SettingOrigin::Option) {
        let message = "--helm-compare uses both engines; leave the option for one engine out";
        return Err(ServiceError::invalid_input(message));
    }
    let selection = ApplicationSelection::from(&args.applications);
    let mut needs = args.following.needs(&selection);
    needs.reads_clusters = true;
    let options = ServiceOptions { helm_engine: Some("compare"), ..service_options(shared, host)? };
    let service = Service::open(options, Host::clone(host))?;
    let workspace = lifecycle::opened(&service, needs).await?;
    error::warn_all(workspace.warnings());
    let selected = tiphys_service::select(&workspace, &selection, "check")?;
    let SelectedApplications { applications, errors, warnings, .. } = selected;
    error::warn_all(&warnings);
    let progress = Progress::new(host, "compared", applications.len());
    let step = |name: &str| progress.step(name);
    let comparing = Box::pin(compare_engines(&workspace, &applications, &step));
    let compared = lifecycle::unless_interrupted(workspace.cancel(), comparing).await?;
    output::print(&print(&compared))?;
    let worst = error::print_all(errors.iter().chain(&compared.errors), None);
    let has_errors = compared.charts.iter().any(|(_, result)| result.is_error());
    Ok(error::exit_code_of(worst.max(has_errors.then_some(ErrorKind::InvalidInput))))
}

/// Returns the result in one word.
fn word(result: &EngineComparison) -> &'static str {
    match result {
        EngineComparison::Different(_) => "different",
        EngineComparison::Fails(_) => "fails",
        EngineComparison::LeftToHelm(_) => "left to helm",
        EngineComparison::Equal => "equal",
    }
}

fn text(compared: &ComparedEngines) -> String {
    let mut table = Table::new(&["APPLICATION", "RESULT", "DETAILS"]);
    for (application, result) in &compared.charts {
        let reason = result.reason().unwrap_or_default().to_owned();
        table.row([application.clone(), word(result).to_owned(), reason]);
    }
    let table = if compared.charts.is_empty() { String::new() } else { table.render() };
    table + &output::lines([summary(compared)])
}

/// Returns the numbers of applications by result.
fn summary(compared: &ComparedEngines) -> String {
    let with_charts = format!("{} with charts", counted(compared.charts.len(), "application"));
    let of_word = |wanted: &str| compared.charts.iter().filter(|(_, result)| word(result) == wanted).count();
    let results = ["equal", "different", "left to helm", "fails"].map(|word| (of_word(word), word));
    let results: Vec<String> = results
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {}", if *word == "fails" { "failed" } else { word }))
        .collect();
    let without_charts = match compared.without_charts {
        0 => String::new(),
        count => format!("; {} without charts", counted(count, "application")),
    };
    let results = if results.is_empty() { String::new() } else { format!(": {}", results.join(", ")) };
    format!("{with_charts}{results}{without_charts}")
}

fn document(compared: &ComparedEngines) -> Value {
    let chart = |(application, result): &(String, EngineComparison)| {
        json!({
            "application": application,
            "result": word(result).replace(' ', "-"),
            "message": result.reason(),
        })
    };
    json!({
        "charts": compared.charts.iter().map(chart).collect::<Vec<_>>(),
        "withoutCharts": compared.without_charts,
    })
}
