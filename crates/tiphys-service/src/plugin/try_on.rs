//! Running the phases of one plugin on a directory, without a store.

use std::collections::HashSet;

use tiphys_engine::Manifest;
use tiphys_model::params::{Announcement, Edited, apply};
use tiphys_model::resources::{EnvEntry, PluginSource};
use tiphys_plugin::{Match, Phase};
use tiphys_render::Work;

use super::trial::Trial;
use crate::context::assignments;
use crate::context::host::Host;
use crate::error::{Input, ServiceError, chain};
use crate::problems::problems_of;
use crate::warning::Warning;

/// Runs the plugin's discovery rule.
pub async fn matches(trial: &Trial) -> Result<Match, ServiceError> {
    trial.log_commands(&[Phase::Find]);
    let matching = async {
        // The plugin is selected by name, since its rule is what is asked.
        let prepared = Box::pin(trial.workspace.renderer.question(&trial.application, &trial.plugin)).await;
        let (plugin, request) = prepared.map_err(|error| trial.error(&error))?;
        plugin.matches(&request).await.map_err(|error| {
            let place = trial.folder.display();
            ServiceError::rendering(format!("{place}: plugin {:?}", trial.plugin)).because(error)
        })
    };
    trial.workspace.drained(matching).await
}

/// Returns the announced parameters.
pub async fn announce(trial: &Trial) -> Result<Vec<Announcement>, ServiceError> {
    trial.log_commands(&[Phase::Find, Phase::Announce]);
    let announcing = trial.workspace.renderer.announce(&trial.application, |_, _| true);
    let announced = trial.workspace.drained(Box::pin(announcing)).await;
    let announced = announced.map_err(|error| trial.error(&error))?;
    Ok(announced.into_iter().flat_map(|source| source.announcements).collect())
}

/// Generates the manifests. Returns them with the warnings, also about the parameters that the caller sets.
pub async fn generate(trial: &Trial) -> Result<(Vec<Manifest>, Vec<Warning>), ServiceError> {
    let checked = Box::pin(check_given(trial)).await;
    trial.log_commands(&[Phase::Find, Phase::Init, Phase::Generate]);
    let rendering = trial.workspace.renderer.render(&trial.application);
    let rendered = trial.workspace.drained(Box::pin(rendering)).await;
    let rendered = rendered.map_err(|error| trial.error(&error))?;
    let warnings = checked.into_iter().chain(rendered.warnings).map(Warning::from).collect();
    Ok((rendered.manifests, warnings))
}

/// Checks the parameters that the caller sets against the announcements. A trial may use any values, so problems are warnings.
async fn check_given(trial: &Trial) -> Vec<String> {
    if trial.given.is_empty() {
        return Vec::new();
    }
    let announcing = trial.workspace.renderer.announce(&trial.application, |_, _| true);
    match trial.workspace.drained(Box::pin(announcing)).await {
        Ok(sources) => sources.iter().flat_map(|source| problems_of(source, &trial.given)).collect(),
        Err(error) => vec![format!("the parameters are not checked: {}", chain(&error))],
    }
}

/// Returns the environment of the plugin's commands: names and values. Only discovery runs.
pub async fn environment(trial: &Trial, phases: &[Phase]) -> Result<Vec<(String, String)>, ServiceError> {
    trial.log_commands(phases);
    let preparing = trial.workspace.renderer.prepare_all(&trial.application);
    let prepared = trial.workspace.drained(Box::pin(preparing)).await;
    let prepared = prepared.map_err(|error| trial.error(&error))?;
    let environments = prepared.iter().map(|one| match &one.work {
        Work::Plugin { chosen, request, .. } => chosen.plugin.environment(request),
        Work::Directory { .. } => Vec::new(),
    });
    Ok(environments.flatten().collect())
}

/// Adds parameters and environment to those of the Application. Returns the names of the parameters.
pub(super) fn set_block(
    block: &mut PluginSource,
    params: &[String],
    env: &[String],
    host: &Host,
) -> Result<Vec<String>, ServiceError> {
    let names = set_params(block, params, host)?;
    set_env(block, env)?;
    Ok(names)
}

/// Sets parameters without checking them against the announcements: a trial may use any values.
fn set_params(block: &mut PluginSource, texts: &[String], host: &Host) -> Result<Vec<String>, ServiceError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let before = block.parameters.clone().unwrap_or_default();
    let known: HashSet<&str> = before.iter().map(|parameter| parameter.name.as_str()).collect();
    let read = |text: &String| {
        assignments::read(text, &known, host).map_err(|failure| failure.of_input(Input::Parameter))
    };
    let wanted = texts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let edited = Edited {
        parameters: &before,
        announcements: &[],
        names_are_free: true,
        free_prefixes: &[],
        read_names: &[],
    };
    let applied = apply(edited, &wanted).map_err(|error| {
        let failure = ServiceError::invalid_input(error.to_string()).of_input(Input::Parameter);
        match error.remedy() {
            Some(remedy) => failure.with_hint(remedy),
            None => failure,
        }
    })?;
    block.parameters = Some(applied.parameters);
    let mut names: Vec<String> = wanted.into_iter().map(|one| one.target.name).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn set_env(block: &mut PluginSource, texts: &[String]) -> Result<(), ServiceError> {
    for text in texts {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let message = format!("{text:?}: write NAME=VALUE");
            return Err(ServiceError::invalid_input(message).of_input(Input::PluginVariable));
        };
        block.env.push(EnvEntry { name: name.to_owned(), value: value.to_owned() });
    }
    Ok(())
}
