//! `tiphys config show`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_service::{ProjectFile, ProjectKey};

use crate::args::{CommonArgs, OutputFormat};
use crate::error::ServiceError;
use crate::output::{self, Table};
use crate::project_file::{self, GivenBy, GivenKeys};
use crate::settings::Process;

/// A key with its values.
struct Row {
    key: ProjectKey,
    values: Vec<String>,
    origin: Origin,
    needs_consent: bool,
    is_used: bool,
}

/// Where values are from.
enum Origin {
    Given(GivenBy),
    File { path: String, line: usize },
    Default,
}

/// Prints the values of all keys with their origins.
pub(super) fn run(common: &CommonArgs, given: &GivenKeys, host: &Process) -> Result<ExitCode, ServiceError> {
    let file = ProjectFile::find(&project_file::choice(common), host)?;
    let rows: Vec<Row> =
        ProjectKey::ALL.into_iter().map(|key| row(key, file.as_ref(), common, given, host)).collect();
    let list = || Value::Array(rows.iter().map(Row::to_json).collect());
    output::print(&match common.output {
        None | Some(OutputFormat::Table | OutputFormat::Wide) => table(&rows),
        Some(OutputFormat::Json) => output::json(&list()),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&list()),
        Some(OutputFormat::Name | OutputFormat::Diff | OutputFormat::Markdown) => {
            return Err(ServiceError::invalid_input("`config show` prints -o table, json or yaml"));
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(
    key: ProjectKey,
    file: Option<&ProjectFile>,
    common: &CommonArgs,
    given: &GivenKeys,
    host: &Process,
) -> Row {
    let plain = |origin| Row {
        key,
        values: project_file::values(common, key, host),
        origin,
        needs_consent: false,
        is_used: true,
    };
    if let Some(by) = given.by(key) {
        return plain(Origin::Given(by));
    }
    let of_file = file.and_then(|file| Some((file, file.values().iter().find(|value| value.key == key)?)));
    match of_file {
        Some((file, value)) => Row {
            key,
            values: value.shown(),
            origin: Origin::File { path: file.shown().to_owned(), line: value.line },
            needs_consent: value.needs_consent(),
            is_used: file.takes_effect(value),
        },
        None => plain(Origin::Default),
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new(&["KEY", "VALUE", "ORIGIN"]);
    for row in rows {
        let origin = match &row.origin {
            Origin::Given(GivenBy::Option(name) | GivenBy::Variable(name)) => (*name).to_owned(),
            Origin::File { path, line } if row.is_used => format!("{path}:{line}"),
            Origin::File { path, line } => format!("{path}:{line}, not used without `tiphys config allow`"),
            Origin::Default => "default".to_owned(),
        };
        table.row([row.key.name().to_owned(), row.values.join(", "), origin]);
    }
    table.render()
}

impl Row {
    fn to_json(&self) -> Value {
        let origin = match &self.origin {
            Origin::Given(GivenBy::Option(name)) => json!({"kind": "option", "name": name}),
            Origin::Given(GivenBy::Variable(name)) => json!({"kind": "variable", "name": name}),
            Origin::File { path, line } => json!({"kind": "file", "path": path, "line": line}),
            Origin::Default => json!({"kind": "default"}),
        };
        json!({
            "key": self.key.name(),
            "values": self.values,
            "origin": origin,
            "needsConsent": self.needs_consent,
            "used": self.is_used,
        })
    }
}
