//! `plugin check --in`: the announcement is run for one application.

use std::path::Path;

use serde_json::Value;
use tiphys_params::{Parameter, collisions};
use tiphys_plugin::config::check::{Finding, Level, Report, Rule, announcing_failed, check_announced};
use tiphys_plugin::{Phase, Request};
use tiphys_render::Work;

use super::super::trial::{Subject, Trial};
use super::super::try_on::set_block;
use super::form::Form;
use crate::args::{CommonArgs, OneFolderArgs, PluginCheckArgs};
use crate::context::Wishes;
use crate::failure::{Failure, chain};
use crate::settings::Host;

/// What trying gave.
pub(super) struct Tried {
    /// The application's folder, as a person would name it.
    folder: String,
    /// `None` if nothing was announced.
    form: Option<Form>,
    /// Whether people would get the form: nobody gets one with an error in it.
    errors: bool,
    /// Why the plugin could not even be asked.
    pub(super) failure: Option<Failure>,
}

impl Tried {
    /// `form` of `plugin check -o json`: `null` if there is none.
    pub(super) fn to_json(&self) -> Value {
        self.form.as_ref().map_or(Value::Null, Form::to_json)
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let Some(form) = &self.form else { return vec![format!("{}: no form", self.folder)] };
        let heading = if self.errors {
            "the form without what is wrong; people get none before that is mended"
        } else {
            "the form"
        };
        let mut lines = vec![format!("{}: {heading}", self.folder), String::new()];
        lines.extend(form.lines());
        lines
    }
}

/// Runs the announcement; what is wrong with it becomes findings of the report.
pub(super) async fn run(
    common: &CommonArgs,
    args: &PluginCheckArgs,
    repository: &Path,
    host: &Host,
    file: &str,
    report: &mut Report,
) -> Result<Tried, Failure> {
    let folder = OneFolderArgs {
        repository: repository.to_path_buf(),
        path: args.path.clone(),
        app: args.app.clone(),
    };
    let mut tried =
        Tried { folder: folder.shown().display().to_string(), form: None, errors: false, failure: None };
    if report.socket.is_none() {
        return Ok(tried);
    }
    let mut subject = Subject::of_arguments(&args.plugin, &folder, host)?;
    set_block(subject.block(), &args.params, &args.plugin_env, host)?;
    let trial = subject.trial(common, host, Wishes::default())?;
    let asked = match trial.place.run(ask(&trial)).await? {
        Ok(asked) => asked,
        Err(failure) => {
            tried.failure = Some(failure);
            return Ok(tried);
        }
    };
    let stdout = match asked.stdout {
        Ok(stdout) => stdout,
        Err(message) => {
            report.findings.push(announcing_failed(file, &message));
            return Ok(tried);
        }
    };
    let announced = check_announced(trial.local.config(), file, stdout.as_deref());
    report.findings.extend(announced.findings);
    for collision in collisions(&asked.parameters, &asked.build_environment) {
        tracing::warn!("{collision}");
    }
    let unusable = |finding: &Finding| finding.rule == Rule::AnnouncementOutput;
    tried.errors = report.findings.iter().any(|finding| finding.rule.level() == Level::Error);
    if !report.findings.iter().any(unusable) {
        tried.form = Some(Form::new(&announced.announcements, &asked.parameters));
    }
    Ok(tried)
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
