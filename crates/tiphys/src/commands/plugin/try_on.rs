//! `tiphys plugin match | announce | generate`: runs one plugin on a directory, without a store.

use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_engine::Manifest;
use tiphys_plugin::{Match, Phase};
use tiphys_service::plugin::{self, Trial};

use crate::args::{OutputFormat, PluginMatchArgs, PluginRunArgs, SharedOptions};
use crate::commands::render::env_lines;
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::settings::Process;

/// Runs `plugin match`.
pub(super) async fn matches(
    shared: &SharedOptions,
    args: &PluginMatchArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let trial = Trial::open(&open_service(shared, host)?, &args.into())?;
    let found = unless_interrupted(&trial, plugin::matches(&trial)).await?;
    let answer =
        json!({"supported": found == Match::Supported, "discovery": found != Match::DiscoveryNotConfigured});
    let text = match shared.output {
        Some(OutputFormat::Json) => output::json(&answer),
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&answer),
        _ => match found {
            Match::Supported => "supported\n",
            Match::NotSupported => "not supported\n",
            Match::DiscoveryNotConfigured => "no discovery rule: used by name only\n",
        }
        .to_owned(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `plugin announce`.
pub(super) async fn announce(
    shared: &SharedOptions,
    args: &PluginRunArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let trial = open(shared, args, host)?;
    if args.print_env {
        return print_env(&trial, &[Phase::Find, Phase::Announce]).await;
    }
    let list = unless_interrupted(&trial, plugin::announce(&trial)).await?;
    let value = serde_json::to_value(list).map_err(|error| ServiceError::bug(error.to_string()))?;
    output::print(&match shared.output {
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&value),
        _ => output::json(&value),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `plugin generate`.
pub(super) async fn generate(
    shared: &SharedOptions,
    args: &PluginRunArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let trial = open(shared, args, host)?;
    if args.print_env {
        return print_env(&trial, &[Phase::Find, Phase::Init, Phase::Generate]).await;
    }
    let (manifests, warnings) = unless_interrupted(&trial, plugin::generate(&trial)).await?;
    error::warn_all(&warnings);
    let values: Vec<Value> = manifests.into_iter().map(Manifest::into_value).collect();
    output::print(&match shared.output {
        Some(OutputFormat::Json) => output::json(&output::list(&values)),
        _ => output::documents(&values),
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn print_env(trial: &Trial, phases: &[Phase]) -> Result<ExitCode, ServiceError> {
    let environment = unless_interrupted(trial, plugin::environment(trial, phases)).await?;
    output::print(&env_lines(&environment))?;
    Ok(ExitCode::SUCCESS)
}

fn open(shared: &SharedOptions, args: &PluginRunArgs, host: &Process) -> Result<Trial, ServiceError> {
    let trial = Trial::open(&open_service(shared, host)?, &args.into())?;
    error::warn_all(trial.workspace().warnings());
    Ok(trial)
}

async fn unless_interrupted<T>(
    trial: &Trial,
    work: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ServiceError> {
    lifecycle::unless_interrupted(trial.workspace().cancel(), Box::pin(work)).await?
}
