//! Look-ups of applications in tables and JSON.

use serde_json::{Value, json};
use tiphys_service::documents::ReferenceDocument;
use tiphys_service::{ApplicationLookUps, ClusterReference};
use tiphys_store::StoredApplication;

use super::permits::rule_text;
use crate::args::{OutputFormat, SharedOptions};
use crate::error::{self, ErrorKind, ServiceError};
use crate::output::{self, Table};

/// The output of look-ups.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Table,
    /// With the clusters.
    Wide,
    Json,
    Yaml,
}

impl Form {
    /// Returns the form for an output format.
    pub(super) fn of(shared: &SharedOptions) -> Result<Self, ServiceError> {
        match shared.output {
            None | Some(OutputFormat::Table) => Ok(Self::Table),
            Some(OutputFormat::Wide) => Ok(Self::Wide),
            Some(OutputFormat::Json) => Ok(Self::Json),
            Some(OutputFormat::Yaml) => Ok(Self::Yaml),
            Some(_) => Err(ServiceError::invalid_input("look-ups are printed as table, wide, json or yaml")),
        }
    }
}

/// Prints the look-ups, and the errors of applications. Returns the worst kind among these and `worst`.
pub(super) fn print(
    found: &[ApplicationLookUps],
    form: Form,
    worst: Option<ErrorKind>,
) -> Result<Option<ErrorKind>, ServiceError> {
    let worst = error::print_all(found.iter().filter_map(|one| one.result.as_ref().err()), worst);
    output::print(&match form {
        Form::Table => table(found, false),
        Form::Wide => table(found, true),
        Form::Json => output::json(&to_json(found)),
        Form::Yaml => tiphys_yaml::write_yaml(&to_json(found)),
    })?;
    Ok(worst)
}

/// Returns all look-ups: the application, the position of the source, from 1, and what is read.
pub(super) fn all(
    found: &[ApplicationLookUps],
) -> impl Iterator<Item = (&StoredApplication, usize, &ClusterReference)> + Clone {
    found.iter().flat_map(|one| {
        one.result.iter().flatten().map(|(source, read)| (one.stored.as_ref(), *source, read))
    })
}

/// Returns the rule that permits a look-up, or why it is not permitted.
fn permission(read: &ClusterReference) -> String {
    match &read.permitted_by {
        Ok(rule) => rule_text(rule),
        Err(problem) => format!("not permitted: {problem}"),
    }
}

fn to_json(found: &[ApplicationLookUps]) -> Value {
    all(found)
        .map(|(stored, source, read)| {
            json!({
                "application": stored.full_name(),
                "sourcePosition": source,
                "parameter": read.parameter,
                "reference": ReferenceDocument::from(read),
                "problem": read.permitted_by.as_ref().err().map(ToString::to_string),
            })
        })
        .collect()
}

fn table(found: &[ApplicationLookUps], is_wide: bool) -> String {
    let mut heading = vec!["APPLICATION", "SOURCE", "PARAMETER", "READS", "PERMITTED BY"];
    if is_wide {
        heading.push("CLUSTER");
    }
    let mut table = Table::new(&heading);
    for (stored, source, read) in all(found) {
        let mut cells = vec![
            stored.full_name(),
            source.to_string(),
            read.parameter.clone(),
            read.reference.to_string(),
            permission(read),
        ];
        if is_wide {
            cells.push(read.cluster.clone());
        }
        table.row(cells);
    }
    table.render()
}
