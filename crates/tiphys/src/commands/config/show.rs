//! `tiphys config show`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_model::limits::Limit;
use tiphys_service::{ProjectFile, ServiceOptions, Setting, SettingOrigin};
use tiphys_source::redact_url;

use crate::args::{OutputFormat, SharedOptions};
use crate::error::ServiceError;
use crate::output::{self, Table};
use crate::settings::Process;

/// A setting or limit with its values.
struct Row {
    key: String,
    values: Vec<String>,
    origin: Origin,
    needs_consent: bool,
    is_used: bool,
}

/// Where values are from.
enum Origin {
    Option(String),
    Variable(String),
    File { path: String, line: usize },
    Default,
}

/// Prints the values of all settings, and of the limits that are set, with their origins.
pub(super) fn run(shared: &SharedOptions, host: &Process) -> Result<ExitCode, ServiceError> {
    // Invalid values are those of no setting.
    shared.given.apply(&mut ServiceOptions::default(), host)?;
    let file = ProjectFile::find(&shared.project_file, host)?;
    let settings = Setting::ALL.iter().copied().filter(|setting| *setting != Setting::LIMITS);
    let rows: Vec<Row> = settings
        .map(|setting| row(setting, file.as_ref(), shared))
        .chain(limits(file.as_ref(), shared))
        .collect();
    let list = || Value::Array(rows.iter().map(Row::to_json).collect());
    output::print(&match shared.output {
        None | Some(OutputFormat::Table | OutputFormat::Wide) => table(&rows),
        Some(OutputFormat::Json) => output::json(&list()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&list()),
        Some(OutputFormat::Name | OutputFormat::Diff | OutputFormat::Markdown | OutputFormat::Html) => {
            return Err(ServiceError::invalid_input("`config show` prints -o table, json or yaml"));
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(setting: &Setting, file: Option<&ProjectFile>, shared: &SharedOptions) -> Row {
    let key = setting.key.to_owned();
    if let Some(given) = shared.given.get(setting) {
        let origin = match given.origin {
            SettingOrigin::Variable => Origin::Variable(setting.variable()),
            SettingOrigin::Option | SettingOrigin::ProjectFile => Origin::Option(setting.argument()),
        };
        let values = given.values.iter().map(|value| redact_url(value)).collect();
        return Row { key, values, origin, needs_consent: false, is_used: true };
    }
    let of_file =
        file.and_then(|file| Some((file, file.values().iter().find(|value| value.setting == setting)?)));
    if let Some((file, value)) = of_file {
        return Row {
            key,
            values: value.shown(),
            origin: Origin::File { path: file.shown().to_owned(), line: value.line },
            needs_consent: value.needs_consent(),
            is_used: file.takes_effect(value),
        };
    }
    let default = Some(setting.default.to_owned()).filter(|default| !default.is_empty());
    let values = default.into_iter().collect();
    Row { key, values, origin: Origin::Default, needs_consent: false, is_used: true }
}

/// Returns the limits that are set.
fn limits(file: Option<&ProjectFile>, shared: &SharedOptions) -> Vec<Row> {
    let row = |limit: Limit, value: String, origin, needs_consent, is_used| Row {
        key: format!("{}.{}", Setting::LIMITS.key, limit.name()),
        values: vec![value],
        origin,
        needs_consent,
        is_used,
    };
    let given = shared.given.limits().map(|(limit, origin, value)| {
        let origin = match origin {
            SettingOrigin::Variable => Origin::Variable(limit.variable()),
            SettingOrigin::Option | SettingOrigin::ProjectFile => Origin::Option("--limit".to_owned()),
        };
        row(limit, limit.unit().write(value), origin, false, true)
    });
    let mut rows: Vec<Row> = given.collect();
    let of_file = file
        .and_then(|file| Some((file, file.values().iter().find(|value| value.setting == Setting::LIMITS)?)));
    if let Some((file, value)) = of_file {
        for (name, written) in value.values.iter().filter_map(|written| written.split_once('=')) {
            let is_given = shared.given.limits().any(|(limit, ..)| limit.name() == name);
            if let Some(limit) = Limit::named(name).filter(|_| !is_given) {
                let origin = Origin::File { path: file.shown().to_owned(), line: value.line };
                rows.push(row(
                    limit,
                    written.to_owned(),
                    origin,
                    value.needs_consent(),
                    file.takes_effect(value),
                ));
            }
        }
    }
    rows
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new(&["KEY", "VALUE", "ORIGIN"]);
    for row in rows {
        let origin = match &row.origin {
            Origin::Option(name) | Origin::Variable(name) => name.clone(),
            Origin::File { path, line } if row.is_used => format!("{path}:{line}"),
            Origin::File { path, line } => format!("{path}:{line}, not used without `tiphys config allow`"),
            Origin::Default => "default".to_owned(),
        };
        table.row([row.key.clone(), row.values.join(", "), origin]);
    }
    table.render()
}

impl Row {
    fn to_json(&self) -> Value {
        let origin = match &self.origin {
            Origin::Option(name) => json!({"kind": "option", "name": name}),
            Origin::Variable(name) => json!({"kind": "variable", "name": name}),
            Origin::File { path, line } => json!({"kind": "file", "path": path, "line": line}),
            Origin::Default => json!({"kind": "default"}),
        };
        json!({
            "key": self.key,
            "values": self.values,
            "origin": origin,
            "needsConsent": self.needs_consent,
            "used": self.is_used,
        })
    }
}
