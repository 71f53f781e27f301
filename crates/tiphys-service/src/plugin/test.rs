//! Testing a plugin with its own cases.

mod case;
mod judge;

use std::path::{Path, PathBuf};

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tiphys_engine::{Manifest, TrackingMethod};
use tiphys_plugin::{LoadedPlugin, Phase};
use tokio_util::sync::CancellationToken;

use super::trial::{Trial, TrialSubject, only_plugin};
use crate::context::host::Host;
use crate::context::options::StepCallback;
use crate::context::service::Service;
use crate::context::workspace::WorkspaceOptions;
use crate::error::ServiceError;
use crate::warning::Warning;

use case::{FoundCase, TestCase};
use judge::{CaseError, CaseOutput};

/// The directory of the cases, next to the plugin's file.
const CASES: &str = "testdata";

/// Whether the expected results are compared or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMode {
    /// Compares the results with the expected ones.
    Compare,
    /// Writes the results as the expected ones.
    Update,
}

/// The result of a case.
#[derive(Debug)]
pub struct TestResult {
    /// The name of the case.
    pub name: String,
    /// The outcome.
    pub outcome: TestOutcome,
    /// Warnings of rendering.
    pub warnings: Vec<Warning>,
}

/// The outcome of a case.
#[derive(Debug)]
pub enum TestOutcome {
    /// The results are the expected ones.
    Passed,
    /// These files were updated.
    Updated(Vec<&'static str>),
    /// Problems, and the files that were updated nevertheless.
    Failed(Vec<TestProblem>, Vec<&'static str>),
    /// The directory is not a valid case, and why.
    Malformed(Warning),
}

/// A result that differs from the expected one.
#[derive(Debug)]
pub struct TestProblem {
    /// The file with the expected result.
    pub file: &'static str,
    /// The difference.
    pub message: String,
    /// A unified diff from the expected to the actual result.
    pub diff: Option<String>,
}

/// A plugin and its cases.
pub struct PluginTest {
    plugin: LoadedPlugin,
    /// The directory of the cases for messages.
    shown: PathBuf,
    found: Vec<FoundCase>,
    mode: TestMode,
    cancel: CancellationToken,
}

impl PluginTest {
    /// Loads a plugin, a file or directory, and finds its cases: all, or those with these names.
    pub fn load(host: &Host, plugin: &Path, cases: &[String], mode: TestMode) -> Result<Self, ServiceError> {
        let absolute = host.absolute(plugin);
        let loaded = only_plugin(&absolute)?;
        let shown = if absolute.is_dir() { plugin.join(CASES) } else { plugin.with_file_name(CASES) };
        let cases_dir = loaded.folder().unwrap_or(&absolute).join(CASES);
        let found = case::find(&cases_dir, &shown, cases, mode)?;
        Ok(Self { plugin: loaded, shown, found, mode, cancel: CancellationToken::new() })
    }

    /// Returns the plugin's name.
    pub fn plugin_name(&self) -> String {
        self.plugin.config.display_name()
    }

    /// Returns the number of cases.
    pub fn cases(&self) -> usize {
        self.found.len()
    }

    /// Returns the token that cancels the test. Cancelled plugins are stopped in order, so the test should still be awaited.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Runs the cases concurrently. The results are in the order of the cases.
    pub async fn run(
        mut self,
        service: &Service,
        progress: StepCallback<'_>,
    ) -> Result<Vec<TestResult>, ServiceError> {
        let found = std::mem::take(&mut self.found);
        let test = &self;
        let results: Vec<Result<TestResult, ServiceError>> = stream::iter(found)
            .map(|FoundCase { name, case }| async move {
                if test.cancel.is_cancelled() {
                    return Err(ServiceError::interrupted());
                }
                let mut warnings = Vec::new();
                let outcome = match case {
                    Ok(case) => test.test(service, &name, *case, &mut warnings).await?,
                    Err(why) => TestOutcome::Malformed(why),
                };
                progress(&name);
                Ok(TestResult { name, outcome, warnings })
            })
            .buffered(service.jobs())
            .collect()
            .await;
        results.into_iter().collect()
    }

    async fn test(
        &self,
        service: &Service,
        name: &str,
        case: TestCase,
        warnings: &mut Vec<Warning>,
    ) -> Result<TestOutcome, ServiceError> {
        let tree = self.shown.join(name).join(case::TREE);
        let folder = if case.path == "." { tree } else { tree.join(&case.path) };
        let (repository, path) = (case.folder.join(case::TREE), case.path);
        let subject = TrialSubject::new(
            self.plugin.clone(),
            repository,
            path,
            folder,
            case.resources,
            case.application,
        );
        // Tracking is not the plugin's output, so a case does not contain it.
        let workspace = WorkspaceOptions {
            tracking: Some(TrackingMethod::None),
            cancel: self.cancel.clone(),
            ..WorkspaceOptions::default()
        };
        let trial = subject.open(service, workspace)?;
        warnings.extend(trial.workspace.warnings().iter().cloned());
        let required = judge::required_runs(&case.expected, self.mode);
        let mut given = CaseOutput::default();
        if required.manifests {
            given.manifests = Some(generated(&trial, name, warnings).await);
        }
        if required.announcement {
            given.announcement = Some(announced(&trial).await);
        }
        trial.workspace.runs.endings.drained().await;
        // The output of a cancelled plugin is neither compared nor written.
        if self.cancel.is_cancelled() {
            return Err(ServiceError::interrupted());
        }
        judge::judge(&case.folder, &case.expected, &given, self.mode)
    }
}

async fn generated(trial: &Trial, name: &str, warnings: &mut Vec<Warning>) -> Result<Vec<Value>, CaseError> {
    trial.log_commands(&[Phase::Find, Phase::Init, Phase::Generate]);
    let rendered = Box::pin(trial.workspace.renderer.render(&trial.application)).await;
    let rendered = rendered.map_err(|error| CaseError::new(&trial.error(&error), &error))?;
    warnings.extend(rendered.warnings.iter().map(|warning| Warning::new(format!("case {name}: {warning}"))));
    Ok(rendered.manifests.into_iter().map(Manifest::into_value).collect())
}

async fn announced(trial: &Trial) -> Result<Value, CaseError> {
    trial.log_commands(&[Phase::Find, Phase::Announce]);
    let announced = Box::pin(trial.workspace.renderer.announce(&trial.application, |_, _| true)).await;
    let announced = announced.map_err(|error| CaseError::new(&trial.error(&error), &error))?;
    let list: Vec<_> = announced.into_iter().flat_map(|source| source.announcements).collect();
    serde_json::to_value(list).map_err(|error| CaseError::of_message(error.to_string()))
}
