//! Comparison of the engines that render charts, on the applications of a store.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tiphys_plugin::{CommandFailure, PluginError};
use tiphys_render::RenderError;
use tiphys_store::StoredApplication;

use crate::context::options::StepCallback;
use crate::context::workspace::Workspace;
use crate::error::ServiceError;

/// The result of rendering charts with both engines. Of several charts of an application, the first variant counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineComparison {
    /// The results differ: the chart, its object and field.
    Different(String),
    /// Both engines fail: the first line of the error.
    Fails(String),
    /// Only the `helm` program can render the chart, for this reason.
    LeftToHelm(String),
    /// The results are equal.
    Equal,
}

/// The results for applications.
#[derive(Debug, Default)]
pub struct ComparedEngines {
    /// The full names of the applications with charts, in their order.
    pub charts: Vec<(String, EngineComparison)>,
    /// Number of applications without charts.
    pub without_charts: usize,
    /// Errors of applications before a chart was rendered.
    pub errors: Vec<ServiceError>,
}

/// Compares the engines on the charts of applications. The setting `helmEngine` of the workspace must be `compare`.
pub async fn compare_engines(
    workspace: &Workspace,
    applications: &[Arc<StoredApplication>],
    progress: StepCallback<'_>,
) -> ComparedEngines {
    let mut compared = ComparedEngines::default();
    let comparing = async {
        let rendering = stream::iter(applications).map(|stored| async move {
            let charts = Box::pin(workspace.renderer.render_charts(&stored.application)).await;
            progress(&stored.full_name());
            (stored, charts)
        });
        let mut results = pin!(rendering.buffered(workspace.service.jobs() * 2));
        while let Some((stored, charts)) = results.next().await {
            match charts {
                Ok(mut charts) => {
                    if let Some(first) = charts.iter().position(lacks_program)
                        && let Err(error) = charts.swap_remove(first)
                    {
                        // The others would fail, too.
                        compared.errors.push(ServiceError::application(stored, error));
                        break;
                    }
                    let of_chart = |result| EngineComparison::of_chart(stored, result);
                    match charts.into_iter().map(of_chart).min() {
                        Some(worst) => compared.charts.push((stored.full_name(), worst)),
                        None => compared.without_charts += 1,
                    }
                }
                Err(error) => compared.errors.push(ServiceError::application(stored, error)),
            }
        }
    };
    workspace.drained(comparing).await;
    compared
}

impl EngineComparison {
    fn of_chart(stored: &StoredApplication, result: Result<(), RenderError>) -> Self {
        let Err(error) = result else { return Self::Equal };
        let kind = match command_failure(&error) {
            Some(CommandFailure::ENGINES_DIFFER) => Self::Different,
            Some(CommandFailure::ONLY_HELM) => Self::LeftToHelm,
            _ => Self::Fails,
        };
        let error = ServiceError::application(stored, error);
        let reason = error.cause().map(|cause| cause.reason.as_str()).unwrap_or_default();
        kind(reason.lines().next().unwrap_or_default().to_owned())
    }

    /// Returns what differs, fails, or leaves the chart to the program.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Different(reason) | Self::Fails(reason) | Self::LeftToHelm(reason) => Some(reason),
            Self::Equal => None,
        }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Different(_) | Self::Fails(_))
    }
}

/// Whether a chart could not be compared because a program is missing.
fn lacks_program(result: &Result<(), RenderError>) -> bool {
    result.as_ref().err().and_then(command_failure) == Some(CommandFailure::NOT_FOUND)
}

/// Returns how the plugin's command failed.
fn command_failure(error: &RenderError) -> Option<CommandFailure> {
    let RenderError::Source(source) = error else { return None };
    match source.failure.of_plugin()? {
        PluginError::Command { how, .. } => Some(*how),
        _ => None,
    }
}
