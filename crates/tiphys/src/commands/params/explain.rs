//! `tiphys params explain`: the definition of a parameter and the origin of its value.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::SystemTime;

use serde_json::{Value, json};
use tiphys_engine::{SourceType, Used, handed_on_name, is_structure};
use tiphys_model::params::{CollectionType, Parameter, escape, parameter_variables};
use tiphys_process::escape_text;
use tiphys_service::documents::{LayerDocument, ParameterDocument, RuleDocument};
use tiphys_service::params::{self, ParameterLocation, ParameterRow, ResolvedReference};
use tiphys_service::{ClusterReference, ProjectRule};

use super::row::{self, value_text};
use crate::args::{OutputFormat, ParamsExplainArgs, SharedOptions};
use crate::commands::project::rule_text;
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output::{self, Table};
use crate::settings::{Process, now};
use crate::telemetry::rfc3339;

/// Maximum characters of a line.
const LINE_CHARS_MAX: usize = 80;

/// Explains one parameter.
pub(super) async fn run(
    shared: &SharedOptions,
    args: &ParamsExplainArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let application = &args.application.app;
    let workspace = params::open_reading_workspace(&open_service(shared, host)?, application).await?;
    let parameters = super::inspect_in(&workspace, application, &args.source).await?;
    let mut row = parameters.row(&args.name)?;
    let explaining = Box::pin(params::explain(&workspace, &parameters, &mut row));
    let unexplained = match lifecycle::unless_interrupted(workspace.cancel(), explaining).await? {
        Ok(warnings) => {
            error::warn_all(&warnings);
            None
        }
        Err(error) => Some(error),
    };
    let resolving = Box::pin(params::resolve(&workspace, &parameters, &row));
    let resolved = lifecycle::unless_interrupted(workspace.cancel(), resolving).await?;
    let read =
        resolved.as_ref().map(|resolved| ReadNow { resolved, at: now(), shows_value: args.show_values });
    for problem in parameters.problems(std::slice::from_ref(&row)) {
        tracing::warn!("{problem}");
    }
    let text = match shared.output {
        Some(OutputFormat::Json) => output::json(&to_json(&row, read.as_ref())),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&to_json(&row, read.as_ref())),
        Some(OutputFormat::Name) => format!("{}\n", row.name),
        Some(OutputFormat::Wide) => escape_text(&page(&row, read.as_ref(), None)),
        _ => escape_text(&page(&row, read.as_ref(), host.columns())),
    };
    output::print(&text)?;
    let failure = resolved.as_ref().and_then(|resolved| resolved.failure.as_ref());
    Ok(error::exit_code_of(error::print_all(parameters.failures().chain(&unexplained).chain(failure), None)))
}

/// The value of a dynamic parameter, and when it was read.
struct ReadNow<'a> {
    resolved: &'a ResolvedReference,
    at: SystemTime,
    shows_value: bool,
}

impl ReadNow<'_> {
    fn to_json(&self) -> Value {
        let ResolvedReference { resource_version, result, .. } = self.resolved;
        let mut json = json!({
            "at": rfc3339(self.at),
            "resourceVersion": resource_version,
            "used": result.as_ref().ok().map(|value| used_word(value.used)),
            "error": result.as_ref().err().map(ToString::to_string),
        });
        if self.shows_value {
            json["value"] = json!(result.as_ref().ok().and_then(|value| value.value.as_ref()));
        }
        json
    }

    /// Returns the rule that permits the look-up. Without an answer of the cluster, kinds have the scopes that Kubernetes gives them.
    fn rule<'a>(&'a self, read: &'a ClusterReference) -> Option<&'a ProjectRule> {
        self.resolved.rule.as_ref().or(read.permitted_by.as_ref().ok())
    }

    /// Returns the fields of the page, each with its label.
    fn fields(&self, read: &ClusterReference) -> Vec<(&'static str, String)> {
        let ResolvedReference { resource_version, result, .. } = self.resolved;
        let version = resource_version.as_ref().map(|version| format!(" (resource version {version})"));
        let mut fields = vec![("Cluster", read.cluster.clone())];
        fields.extend(self.rule(read).map(|rule| ("Permitted", format!("by {}", rule_text(rule)))));
        match result {
            Ok(value) => {
                fields.push(("Used", format!("{}{}", value.used, version.unwrap_or_default())));
                if self.shows_value {
                    let shown = value.value.as_ref().map(|value| match value.as_str() {
                        Some(text) if !text.contains(char::is_control) => text.to_owned(),
                        _ => value.to_string(),
                    });
                    fields.push((
                        "Read",
                        shown.unwrap_or_else(|| "(values of Secrets are not shown)".to_owned()),
                    ));
                }
            }
            Err(problem) => fields.push(("Error", problem.to_string())),
        }
        fields
    }
}

/// Returns a value of `used` in JSON.
fn used_word(used: Used) -> &'static str {
    match used {
        Used::Existence => "existence",
        Used::Field => "field",
        Used::DefaultForObject => "defaultForMissingObject",
        Used::DefaultForField => "defaultForMissingField",
    }
}

/// The row of `params list` with the variables and all values, in decreasing precedence.
fn to_json(row: &ParameterRow<'_>, read: Option<&ReadNow<'_>>) -> Value {
    let mut value = json!(ParameterDocument::from(row));
    value["chain"] = json!(LayerDocument::all(row));
    value["variables"] = json!(variables(row));
    value["resolved"] = json!(read.map(ReadNow::to_json));
    if let Some(rule) = read.and_then(|read| read.resolved.rule.as_ref()) {
        value["reference"]["permittedBy"] = json!(RuleDocument::from(rule));
    }
    value
}

/// The name under which the plugin gets the value. It differs from the parameter's name only if it forces a string.
fn handed_on(row: &ParameterRow<'_>) -> String {
    handed_on_name(&row.source.source, row.source.plugin.as_deref(), row.name, row.announcement)
}

/// The names of the variables that carry the value; none for a dynamic parameter, whose type is unknown until it is read, and for a list or
/// a map of a chart, which is a part of the inline values. The plugin gets set values and no defaults, so for an unset parameter these are the
/// variables that it would get.
fn variables(row: &ParameterRow<'_>) -> Vec<String> {
    if row.dynamic.is_some() {
        return Vec::new();
    }
    if row.parameter.is_none() && row.announcement.is_some_and(is_structure) {
        return Vec::new();
    }
    if let Some(parameter) = row.parameter {
        let given = Parameter { name: handed_on(row), ..parameter.clone() };
        let variables = parameter_variables(&[given]);
        return variables.into_iter().map(|variable| variable.name).collect();
    }
    let name = format!("PARAM_{}", escape(&handed_on(row)));
    match row.announcement.map(|announcement| announcement.collection_type) {
        Some(CollectionType::Array) => vec![format!("{name}_0")],
        Some(CollectionType::Map) => {
            let keys = row.announcement.and_then(|announcement| announcement.map.as_ref());
            keys.into_iter().flatten().map(|(key, _)| format!("{name}_{}", escape(key))).collect()
        }
        _ => vec![name],
    }
}

fn page(row: &ParameterRow<'_>, read: Option<&ReadNow<'_>>, columns: Option<usize>) -> String {
    let mut page = String::new();
    let mut field = |label: &str, text: &str| {
        if !text.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(page, "{:<11}{}", format!("{label}:"), text);
        }
    };
    field("Name", row.name);
    field("Title", &words(row::text(row, |announcement| announcement.title.as_deref())));
    field("Type", &row::kind(row));
    field("Required", row::required(row));
    let choices = row.announcement.map(|announcement| announcement.choices.join(", ")).unwrap_or_default();
    field("Choices", &choices);
    field("Default", &row.default().as_ref().map(value_text).unwrap_or_default());
    let note = if row.parameter.is_some() { "" } else { " (once it is set)" };
    let handed_on = handed_on(row);
    if handed_on != row.name && row.dynamic.is_none() {
        let by = if row.source.source_type == SourceType::HELM { "`forceString`" } else { "this name" };
        field("Given as", &format!("{handed_on}{note}: {by} keeps it a string"));
    }
    let variables = variables(row);
    if !variables.is_empty() {
        field("Variables", &format!("{}{note}", variables.join(", ")));
    }
    field("Value", &row::shown_value(row));
    if let (Some((reference, _)), Some(read)) = (row.dynamic, read) {
        for (label, text) in read.fields(reference) {
            field(label, &text);
        }
    }
    let tooltip = row::text(row, |announcement| announcement.tooltip.as_deref());
    if !tooltip.is_empty() {
        page.push('\n');
        page.push_str(&wrapped(tooltip));
    }
    if !row.chain.links.is_empty() {
        page.push('\n');
        let mut table = Table::new(&["IN EFFECT", "ORIGIN", "VALUE", "PLACE"]);
        for (effective, link) in row.chain.marked() {
            table.row([
                if effective { "yes" } else { "no" }.to_owned(),
                link.words().to_owned(),
                link.reference.as_ref().map_or_else(|| value_text(&link.value), row::dynamic_text),
                link.location.as_ref().map(ParameterLocation::line).unwrap_or_default(),
            ]);
        }
        page.push_str(
            &columns.map_or_else(|| table.render(), |columns| table.render_within(columns, "VALUE")),
        );
    }
    page
}

/// The words of a string on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Wraps a string at `LINE_CHARS_MAX`. Its own line breaks stay.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    for paragraph in text.lines() {
        let mut length = 0;
        for word in paragraph.split_whitespace() {
            let chars = word.chars().count();
            if length > 0 && length + 1 + chars > LINE_CHARS_MAX {
                lines.push('\n');
                length = 0;
            }
            if length > 0 {
                lines.push(' ');
                length += 1;
            }
            lines.push_str(word);
            length += chars;
        }
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests;
