//! `tiphys plugin match | announce | generate`: one plugin against a folder, without a store.

use std::collections::HashSet;
use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_api::{EnvEntry, PluginSource};
use tiphys_engine::Manifest;
use tiphys_params::{Edited, apply};
use tiphys_plugin::{Match, Phase};
use tiphys_render::Work;

use super::trial::{Subject, Trial};
use crate::args::{CommonArgs, OutputFormat, PluginMatchArgs, PluginRunArgs};
use crate::assignments;
use crate::context::Wishes;
use crate::failure::{Failure, chain};
use crate::output;
use crate::settings::Host;

/// `plugin match`.
pub(super) async fn matches(
    common: &CommonArgs,
    args: &PluginMatchArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let subject = Subject::of_arguments(&args.plugin, &args.folder, host)?;
    let trial = subject.trial(common, host, Wishes::default())?;
    trial.tell_commands(&[Phase::Find]);
    let matching = async {
        // The plugin is named without asking its rule: whether that holds is the question.
        let prepared = Box::pin(trial.place.renderer.question(&trial.application, &trial.plugin)).await;
        let (plugin, request) = prepared.map_err(|error| trial.failure(&error))?;
        plugin.matches(&request).await.map_err(|error| {
            let place = trial.folder.display();
            Failure::rendering(format!("{place}: plugin {:?}: {}", trial.plugin, chain(&error)))
        })
    };
    let found = trial.place.run(matching).await??;
    let answer =
        json!({"supported": found == Match::Supported, "discovery": found != Match::DiscoveryNotConfigured});
    let text = match common.output {
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

/// `plugin announce`.
pub(super) async fn announce(
    common: &CommonArgs,
    args: &PluginRunArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let trial = trial(common, host, args)?;
    trial.tell_commands(&[Phase::Find, Phase::Announce]);
    if args.print_env {
        return print_env(&trial).await;
    }
    let announcing = trial.place.renderer.announce(&trial.application, |_, _| true);
    let announced = trial.place.run(announcing).await?.map_err(|error| trial.failure(&error))?;
    let list: Vec<_> = announced.into_iter().flat_map(|source| source.announcements).collect();
    let value = serde_json::to_value(list).map_err(|error| Failure::bug(error.to_string()))?;
    output::print(&match common.output {
        Some(OutputFormat::Yaml) => tiphys_yaml::write_yaml(&value),
        _ => output::json(&value),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `plugin generate`.
pub(super) async fn generate(
    common: &CommonArgs,
    args: &PluginRunArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let trial = trial(common, host, args)?;
    trial.tell_commands(&[Phase::Find, Phase::Init, Phase::Generate]);
    if args.print_env {
        return print_env(&trial).await;
    }
    let rendering = trial.place.renderer.render(&trial.application);
    let rendered = trial.place.run(rendering).await?.map_err(|error| trial.failure(&error))?;
    for warning in &rendered.warnings {
        tracing::warn!("{warning}");
    }
    let values: Vec<Value> = rendered.manifests.into_iter().map(Manifest::into_value).collect();
    output::print(&match common.output {
        Some(OutputFormat::Json) => output::json(&output::list(&values)),
        _ => output::documents(&values),
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn print_env(trial: &Trial) -> Result<ExitCode, Failure> {
    let preparing = trial.place.renderer.prepare_all(&trial.application);
    let prepared = trial.place.run(preparing).await?.map_err(|error| trial.failure(&error))?;
    for (_, one) in &prepared {
        if let Work::Plugin { chosen, request, .. } = &one.work {
            output::print(&super::super::render::env_lines(&chosen.plugin.environment(request)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn trial(common: &CommonArgs, host: &Host, args: &PluginRunArgs) -> Result<Trial, Failure> {
    let mut subject = Subject::of_arguments(&args.plugin, &args.folder, host)?;
    set_block(subject.block(), &args.params, &args.plugin_env, host)?;
    let wishes = Wishes {
        keep_workdirs: args.keep_workdir.then(|| host.kept_workdirs()).transpose()?,
        ..Wishes::default()
    };
    subject.trial(common, host, wishes)
}

/// `--param` and `--plugin-env`, on top of what the Application sets.
pub(super) fn set_block(
    block: &mut PluginSource,
    params: &[String],
    env: &[String],
    host: &Host,
) -> Result<(), Failure> {
    set_params(block, params, host)?;
    set_env(block, env)
}

/// `--param`: as in `params set`. Nothing is held to what the plugin announces, since trying other values is what this is for.
fn set_params(block: &mut PluginSource, texts: &[String], host: &Host) -> Result<(), Failure> {
    if texts.is_empty() {
        return Ok(());
    }
    let before = block.parameters.clone().unwrap_or_default();
    let known: HashSet<&str> = before.iter().map(|parameter| parameter.name.as_str()).collect();
    let read =
        |text: &String| assignments::read(text, &known, host).map_err(|failure| failure.below("--param"));
    let wanted = texts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let edited = Edited { parameters: &before, announcements: &[], names_are_free: true, free_prefixes: &[] };
    let applied = apply(edited, &wanted).map_err(|error| {
        let failure = Failure::bad_input(format!("--param: {error}"));
        match error.remedy() {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        }
    })?;
    block.parameters = Some(applied.parameters);
    Ok(())
}

fn set_env(block: &mut PluginSource, texts: &[String]) -> Result<(), Failure> {
    for text in texts {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::bad_input(format!("--plugin-env {text:?}: write NAME=VALUE")));
        };
        block.env.push(EnvEntry { name: name.to_owned(), value: value.to_owned() });
    }
    Ok(())
}
