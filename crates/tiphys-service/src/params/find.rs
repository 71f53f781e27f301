//! One parameter in many applications: who sets it, and to what.

use std::sync::Arc;

use serde_json::Value;
use tiphys_render::Inquiry;
use tiphys_store::StoredApplication;

use super::SourceChoice;
use super::each::each;
use super::inspect::{ApplicationParameters, inspect_stored};
use super::origin::{ParameterLocation, ParameterOrigin};
use crate::context::cluster_references::ClusterReference;
use crate::context::options::StepCallback;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;
use crate::warning::Warning;

/// Which parameters are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterQuery {
    /// The name. For a value of a chart, `set.` may be left out.
    pub name: String,
    /// The effective value: a string, or JSON of a list or a map.
    pub value: Option<String>,
    /// Only parameters that are set.
    pub set_only: bool,
}

/// A parameter that was found.
#[derive(Clone, Debug)]
pub struct FoundParameter {
    /// Its name.
    pub name: String,
    /// The position of its source, from 1.
    pub source_position: usize,
    /// The effective value: `{"string" | "array" | "map": …}`. None for a dynamic parameter, and for one without a value.
    pub value: Option<Value>,
    /// The object and field that a dynamic parameter reads.
    pub reference: Option<ClusterReference>,
    /// The origin of the value.
    pub origin: ParameterOrigin,
    /// The words for the origin.
    pub origin_words: String,
    /// The place of the value.
    pub location: Option<ParameterLocation>,
}

/// An application with the parameters that were found in it.
#[derive(Debug)]
pub struct FoundInApplication {
    /// The application.
    pub stored: Arc<StoredApplication>,
    /// The parameters, one for each source that has it.
    pub parameters: Vec<FoundParameter>,
    /// Errors of plugins, whose sources may have the parameter.
    pub failures: Vec<ServiceError>,
    /// Warnings about the application and its plugins.
    pub warnings: Vec<Warning>,
}

/// Finds a parameter in applications concurrently. Returns the results in the order of the applications.
pub async fn find(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
    query: &ParameterQuery,
    progress: StepCallback<'_>,
) -> Vec<FoundInApplication> {
    each(workspace, applications, progress, async |stored| find_in(workspace, stored, query).await).await
}

async fn find_in(
    workspace: &Workspace,
    stored: &Arc<StoredApplication>,
    query: &ParameterQuery,
) -> FoundInApplication {
    let mut found = FoundInApplication {
        stored: Arc::clone(stored),
        parameters: Vec::new(),
        failures: Vec::new(),
        warnings: Vec::new(),
    };
    match inspect_stored(workspace, stored, Inquiry::Origins, &SourceChoice::default()).await {
        Ok(parameters) => {
            found.parameters = query.select(&parameters);
            found.failures = parameters.failures().cloned().collect();
            found.warnings = parameters.warnings;
        }
        Err(error) => found.failures.push(error),
    }
    found
}

impl ParameterQuery {
    /// Parses `NAME` or `NAME=VALUE`.
    pub fn parse(text: &str, set_only: bool) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        Self { name: name.to_owned(), value, set_only }
    }

    fn select(&self, parameters: &ApplicationParameters) -> Vec<FoundParameter> {
        let rows = parameters.rows_named(&self.name).into_iter();
        let rows = rows.filter(|row| (row.is_set() || !self.set_only) && self.has_value(row.value()));
        let found = rows.map(|row| FoundParameter {
            name: row.name.to_owned(),
            source_position: row.source.position,
            value: row.value().cloned(),
            reference: row.dynamic.map(|(reference, _)| reference.clone()),
            origin: row.origin(),
            origin_words: row.origin_words().to_owned(),
            location: row.location().cloned(),
        });
        found.collect()
    }

    fn has_value(&self, value: Option<&Value>) -> bool {
        let Some(wanted) = &self.value else { return true };
        let inner = value.and_then(Value::as_object).and_then(|parts| parts.values().next());
        inner.is_some_and(|value| match value {
            Value::String(text) => text == wanted,
            other => serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == *other),
        })
    }
}
