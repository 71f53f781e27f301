//! `plugin check --in`: the announcement is run for one application.

use std::path::Path;

use serde_json::Value;
use tiphys_params::{Announcement, Parameter, collisions};
use tiphys_plugin::config::check::{Finding, Level, Report, Rule, announcing_failed, check_announced};
use tiphys_plugin::{Phase, Request};
use tiphys_render::Work;
use tokio_util::sync::CancellationToken;

use super::super::trial::{Subject, Trial};
use super::super::try_on::set_block;
use super::form::Form;
use crate::args::{CommonArgs, OneFolderArgs, PluginCheckArgs};
use crate::context::Wishes;
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// A plugin and the application that it is tried on.
#[derive(Clone, Copy)]
pub(super) struct Trying<'a> {
    pub(super) common: &'a CommonArgs,
    pub(super) args: &'a PluginCheckArgs,
    /// The folder of `--in`.
    pub(super) repository: &'a Path,
    pub(super) host: &'a Host,
    /// What the findings call the plugin's file.
    pub(super) file: &'a str,
}

/// What trying gave.
#[derive(Default)]
pub(super) struct Tried {
    /// The application's folder, as a person would name it.
    pub(super) folder: String,
    /// Name of the application, where a file says one.
    pub(super) application: Option<String>,
    /// What the application sets by itself.
    pub(super) in_application: Vec<Parameter>,
    /// What is set: by the application, by `--param`, by override files.
    pub(super) parameters: Vec<Parameter>,
    /// What the form is made of; `None` if nothing was announced.
    pub(super) announcements: Option<Vec<Announcement>>,
    /// Whether people would get the form: nobody gets one with an error in it.
    errors: bool,
    /// Variables that collide.
    pub(super) collisions: Vec<String>,
    /// Why the plugin could not even be asked.
    pub(super) failure: Option<Failure>,
}

impl Tried {
    /// `form` of `plugin check -o json`: `null` if there is none.
    pub(super) fn to_json(&self) -> Value {
        self.form().map_or(Value::Null, |form| form.to_json())
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let Some(form) = self.form() else { return vec![format!("{}: no form", self.folder)] };
        let heading = if self.errors {
            "the form without what is wrong; people get none before that is mended"
        } else {
            "the form"
        };
        let mut lines = vec![format!("{}: {heading}", self.folder), String::new()];
        lines.extend(form.lines());
        lines
    }

    fn form(&self) -> Option<Form> {
        let announcements = self.announcements.as_ref()?;
        Some(Form::new(announcements, &self.parameters))
    }
}

impl Trying<'_> {
    /// Runs the announcement; what is wrong with it becomes findings of the report.
    pub(super) async fn run(self, report: &mut Report) -> Result<Tried, Failure> {
        let (mut tried, trial) = self.prepare(report, CancellationToken::new())?;
        if let Some(trial) = trial {
            let asked = Box::pin(trial.place.run(ask(&trial))).await?;
            tried.take(asked, &trial, self.file, report);
        }
        for collision in &tried.collisions {
            tracing::warn!("{collision}");
        }
        Ok(tried)
    }

    /// The same until `cancel` fires, which ends the plugin in order.
    pub(super) async fn run_until(
        self,
        cancel: CancellationToken,
        report: &mut Report,
    ) -> Result<Tried, Failure> {
        let (mut tried, trial) = self.prepare(report, cancel)?;
        if let Some(trial) = trial {
            let asked = ask(&trial).await;
            trial.place.runs.endings.drained().await;
            tried.take(asked, &trial, self.file, report);
        }
        Ok(tried)
    }

    /// The folder of the command line.
    fn folder(&self) -> OneFolderArgs {
        OneFolderArgs {
            repository: self.repository.to_path_buf(),
            path: self.args.path.clone(),
            app: self.args.app.clone(),
        }
    }

    /// A trial that did not begin.
    pub(super) fn failed(&self, failure: Failure) -> Tried {
        let folder = self.folder().shown().display().to_string();
        Tried { folder, failure: Some(failure), ..Tried::default() }
    }

    /// What is known without asking, and the trial if the plugin's file can be used.
    fn prepare(self, report: &Report, cancel: CancellationToken) -> Result<(Tried, Option<Trial>), Failure> {
        let Self { common, args, host, .. } = self;
        let folder = self.folder();
        let mut tried = Tried { folder: folder.shown().display().to_string(), ..Tried::default() };
        if report.socket.is_none() {
            return Ok((tried, None));
        }
        let mut subject = Subject::of_arguments(&args.plugin, &folder, host)?;
        tried.in_application = subject.block().parameters.clone().unwrap_or_default();
        set_block(subject.block(), &args.params, &args.plugin_env, host)?;
        tried.parameters = subject.block().parameters.clone().unwrap_or_default();
        let trial = subject.trial(common, host, Wishes { cancel, ..Wishes::default() })?;
        tried.application = args.app.as_ref().map(|_| trial.application.metadata.name.clone());
        Ok((tried, Some(trial)))
    }
}

impl Tried {
    fn take(&mut self, asked: Result<Asked, Failure>, trial: &Trial, file: &str, report: &mut Report) {
        let asked = match asked {
            Ok(asked) => asked,
            Err(failure) => {
                self.failure = Some(failure);
                return;
            }
        };
        self.parameters = asked.parameters;
        let stdout = match asked.stdout {
            Ok(stdout) => stdout,
            Err(message) => return report.findings.push(announcing_failed(file, &message)),
        };
        let announced = check_announced(trial.local.config(), file, stdout.as_deref());
        report.findings.extend(announced.findings);
        let collisions = collisions(&self.parameters, &asked.build_environment);
        self.collisions = collisions.iter().map(ToString::to_string).collect();
        let unusable = |finding: &Finding| finding.rule == Rule::AnnouncementOutput;
        self.errors = report.findings.iter().any(|finding| finding.rule.level() == Level::Error);
        if !report.findings.iter().any(unusable) {
            self.announcements = Some(announced.announcements);
        }
    }
}

/// What the plugin was asked with, and what its dynamic command printed or how it failed.
struct Asked {
    stdout: Result<Option<Vec<u8>>, String>,
    parameters: Vec<Parameter>,
    build_environment: Vec<String>,
}

async fn ask(trial: &Trial) -> Result<Asked, Failure> {
    trial.tell_commands(&[Phase::Find, Phase::Announce]);
    let prepared = Box::pin(trial.place.renderer.prepare_all(&trial.application)).await;
    let prepared = prepared.map_err(|error| trial.failure(&error))?;
    let Some((_, prepared)) = prepared.into_iter().next() else {
        return Err(Failure::bug("a source with a plugin block was not prepared"));
    };
    for warning in &prepared.warnings {
        tracing::warn!("{warning}");
    }
    let Work::Plugin { request, plan, .. } = &prepared.work else {
        return Err(Failure::bug("a source with a plugin block is no work for a plugin"));
    };
    let stdout = output(trial, request).await;
    let variables = prepared.build.variables().iter();
    Ok(Asked {
        stdout,
        parameters: plan.parameters.clone().unwrap_or_default(),
        build_environment: variables.map(|variable| variable.name.clone()).collect(),
    })
}

async fn output(trial: &Trial, request: &Request) -> Result<Option<Vec<u8>>, String> {
    trial.local.announcement_output(request).await.map_err(|error| chain(&error))
}
