//! Checking the announcements of a plugin for one application.

use tiphys_model::params::{Announcement, Parameter, collisions};
use tiphys_plugin::config::check::{Finding, Level, Report, Rule, announcing_failed, check_announced};
use tiphys_plugin::{Phase, PluginError};
use tiphys_render::Work;
use tokio_util::sync::CancellationToken;

use super::TrialOptions;
use super::trial::{Trial, TrialSubject};
use super::try_on::set_block;
use crate::context::service::Service;
use crate::context::workspace::WorkspaceOptions;
use crate::error::{ServiceError, chain};
use crate::warning::Warning;

/// A plugin and the application that its announcements are checked for.
#[derive(Clone, Copy)]
pub struct FormCheck<'a> {
    /// Runs the plugin.
    pub service: &'a Service,
    /// The plugin and the application.
    pub trial: &'a TrialOptions,
    /// The plugin's file for findings.
    pub file: &'a str,
}

/// The parameters that a user can set for one application.
#[derive(Debug, Default)]
pub struct CheckedForm {
    /// The application's directory for messages.
    pub folder: String,
    /// The application's name, if it was read from a file.
    pub application: Option<String>,
    /// The parameters that the Application sets.
    pub in_application: Vec<Parameter>,
    /// The parameters that are set by the Application, the caller and override files.
    pub parameters: Vec<Parameter>,
    /// The announcements. None if the plugin could not announce anything.
    pub announcements: Option<Vec<Announcement>>,
    /// Whether a finding is an error. Then users get no form.
    pub errors: bool,
    /// Environment variables that several parameters set.
    pub collisions: Vec<String>,
    /// Warnings about the source.
    pub warnings: Vec<Warning>,
    /// Why the plugin could not be asked.
    pub failure: Option<ServiceError>,
}

impl FormCheck<'_> {
    /// Runs the announcement and adds findings to the report. `cancel` stops the plugin.
    pub async fn run(
        self,
        cancel: CancellationToken,
        report: &mut Report,
    ) -> Result<CheckedForm, ServiceError> {
        let (mut form, trial) = self.prepare(report, cancel)?;
        if let Some(trial) = trial {
            let answer = trial.workspace.drained(Box::pin(ask(&trial))).await;
            form.add(answer, &trial, self.file, report);
        }
        Ok(form)
    }

    /// Returns the result of a check that could not start.
    pub fn failed(&self, failure: ServiceError) -> CheckedForm {
        let folder = self.trial.folder.shown().display().to_string();
        CheckedForm { folder, failure: Some(failure), ..CheckedForm::default() }
    }

    /// Returns what is known without asking the plugin, and the trial if the plugin's file is valid.
    fn prepare(
        self,
        report: &Report,
        cancel: CancellationToken,
    ) -> Result<(CheckedForm, Option<Trial>), ServiceError> {
        let Self { service, trial: TrialOptions { plugin, folder, params, plugin_env, .. }, .. } = self;
        let host = service.host();
        let mut form = CheckedForm { folder: folder.shown().display().to_string(), ..CheckedForm::default() };
        if report.socket.is_none() {
            return Ok((form, None));
        }
        let mut subject = TrialSubject::load(plugin, folder, host)?;
        form.in_application = subject.block().parameters.clone().unwrap_or_default();
        set_block(subject.block(), params, plugin_env, host)?;
        form.parameters = subject.block().parameters.clone().unwrap_or_default();
        let trial = subject.open(service, WorkspaceOptions { cancel, ..WorkspaceOptions::default() })?;
        form.warnings.extend(trial.workspace.warnings().iter().cloned());
        form.application = folder.app.as_ref().map(|_| trial.application.metadata.name.clone());
        Ok((form, Some(trial)))
    }
}

impl CheckedForm {
    fn add(&mut self, asked: Result<Answer, ServiceError>, trial: &Trial, file: &str, report: &mut Report) {
        let asked = match asked {
            Ok(asked) => asked,
            Err(failure) => {
                self.failure = Some(failure);
                return;
            }
        };
        self.parameters = asked.parameters;
        self.warnings.extend(asked.warnings);
        let stdout = match asked.stdout {
            Ok(stdout) => stdout,
            Err(error) => return report.findings.push(announcing_failed(file, &chain(&error))),
        };
        let announced = check_announced(trial.local.config(), file, stdout.as_deref(), report);
        let collisions = collisions(&self.parameters, &asked.build_environment);
        self.collisions = collisions.iter().map(ToString::to_string).collect();
        let unusable = |finding: &Finding| finding.rule == Rule::AnnouncementOutput;
        self.errors = report.findings.iter().any(|finding| finding.rule.level() == Level::Error);
        if !report.findings.iter().any(unusable) {
            self.announcements = Some(announced);
        }
    }
}

/// Input of the plugin's dynamic command, and its output or error.
struct Answer {
    stdout: Result<Option<Vec<u8>>, PluginError>,
    parameters: Vec<Parameter>,
    build_environment: Vec<String>,
    warnings: Vec<Warning>,
}

async fn ask(trial: &Trial) -> Result<Answer, ServiceError> {
    trial.log_commands(&[Phase::Find, Phase::Announce]);
    let prepared = Box::pin(trial.workspace.renderer.prepare_all(&trial.application)).await;
    let prepared = prepared.map_err(|error| trial.error(&error))?;
    let Some(prepared) = prepared.into_iter().next() else {
        return Err(ServiceError::bug("a source with a plugin block was not prepared"));
    };
    let Work::Plugin { request, plan, .. } = &prepared.work else {
        return Err(ServiceError::bug("a source with a plugin block is not rendered by a plugin"));
    };
    let stdout = trial.local.announcement_output(request).await;
    let variables = prepared.build.variables().iter();
    Ok(Answer {
        stdout,
        parameters: plan.parameters.clone().unwrap_or_default(),
        build_environment: variables.map(|variable| variable.name.clone()).collect(),
        warnings: prepared.warnings.iter().cloned().map(Warning::from).collect(),
    })
}
