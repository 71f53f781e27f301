//! `tiphys plugin match | announce | generate`: one plugin against a folder, without a store.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tiphys_api::{Application, ApplicationSource, EnvEntry, PluginSource};
use tiphys_engine::Manifest;
use tiphys_params::Parameter;
use tiphys_plugin::{LoadedPlugin, Match, load_plugins};
use tiphys_render::Work;
use tiphys_source::LocalCopy;
use tiphys_store::{Store as Resources, StoreInput};

use crate::args::{CommonArgs, OneFolderArgs, OutputFormat, PluginMatchArgs, PluginRunArgs};
use crate::context::{self, Wishes, Workplace};
use crate::failure::{Failure, chain};
use crate::output;
use crate::settings::Host;

/// The repository's URL where no Application says one; the folder stands for it.
const REPOSITORY: &str = "https://repository.invalid/local.git";

/// Name of the application where no file says one.
const APPLICATION: &str = "app";

/// A plugin, an application and where they meet.
struct Trial {
    place: Workplace,
    plugin: String,
    application: Application,
}

/// `plugin match`.
pub(super) async fn matches(
    common: &CommonArgs,
    args: &PluginMatchArgs,
    host: &Host,
) -> Result<ExitCode, Failure> {
    let trial = trial(common, host, &args.plugin, &args.folder, None)?;
    let matching = async {
        // The plugin is named without asking its rule: whether that holds is the question.
        let prepared = Box::pin(trial.place.renderer.question(&trial.application, &trial.plugin)).await;
        let (plugin, request) = prepared.map_err(|error| Failure::of_trial(&args.folder, &error))?;
        plugin.matches(&request).await.map_err(|error| {
            let place = args.folder.repository.join(&args.folder.path);
            Failure::rendering(format!("{}: plugin {:?}: {}", place.display(), trial.plugin, chain(&error)))
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
    let trial = trial(common, host, &args.plugin, &args.folder, Some(args))?;
    if args.print_env {
        return print_env(&trial, &args.folder).await;
    }
    let announcing = trial.place.renderer.announce(&trial.application, |_, _| true);
    let announced =
        trial.place.run(announcing).await?.map_err(|error| Failure::of_trial(&args.folder, &error))?;
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
    let trial = trial(common, host, &args.plugin, &args.folder, Some(args))?;
    if args.print_env {
        return print_env(&trial, &args.folder).await;
    }
    let rendering = trial.place.renderer.render(&trial.application);
    let rendered =
        trial.place.run(rendering).await?.map_err(|error| Failure::of_trial(&args.folder, &error))?;
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

async fn print_env(trial: &Trial, folder: &OneFolderArgs) -> Result<ExitCode, Failure> {
    let preparing = trial.place.renderer.prepare_all(&trial.application);
    let prepared = trial.place.run(preparing).await?.map_err(|error| Failure::of_trial(folder, &error))?;
    for (_, one) in &prepared {
        if let Work::Plugin { chosen, request, .. } = &one.work {
            output::print(&super::super::render::env_lines(&chosen.plugin.environment(request)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn trial(
    common: &CommonArgs,
    host: &Host,
    plugin: &Path,
    folder: &OneFolderArgs,
    run: Option<&PluginRunArgs>,
) -> Result<Trial, Failure> {
    let plugin = only_plugin(&host.absolute(plugin))?;
    let repository = host.absolute(&folder.repository);
    if !repository.is_dir() {
        return Err(Failure::bad_input(format!("--in: {} is no folder", folder.repository.display())));
    }
    let resources = match &folder.app {
        Some(file) => Resources::load(&[StoreInput::Path(host.absolute(file))])
            .map_err(|error| Failure::bad_input(format!("--app: {}", chain(&error))))?,
        None => Resources::default(),
    };
    let mut application = application_of(&resources, folder)?;
    let mut source = application.spec.effective_sources().first().cloned().unwrap_or_default();
    let url = if source.repo_url.is_empty() { REPOSITORY.to_owned() } else { source.repo_url.clone() };
    let mut block = source.plugin.take().unwrap_or_default();
    let name = plugin.config.display_name();
    block.name.clone_from(&name);
    if let Some(run) = run {
        set_params(&mut block, &run.params)?;
        set_env(&mut block, &run.plugin_env)?;
    }
    application.spec.sources = Vec::new();
    application.spec.source = Some(ApplicationSource {
        repo_url: url.clone(),
        path: folder.path.clone(),
        target_revision: String::new(),
        plugin: Some(block),
        name: source.name,
        ..ApplicationSource::default()
    });
    let wishes = Wishes {
        copies: vec![LocalCopy { url: Some(url), revision: None, dir: repository }],
        plugins: Some(vec![plugin]),
        ..Wishes::default()
    };
    let place = context::workplace(common, host, resources, wishes)?;
    Ok(Trial { place, plugin: name, application })
}

fn only_plugin(path: &Path) -> Result<LoadedPlugin, Failure> {
    let loaded = load_plugins(path).map_err(|error| Failure::bad_input_from(&error))?;
    <[_; 1]>::try_from(loaded).map(|[plugin]| plugin).map_err(|all| {
        let names: Vec<String> = all.iter().map(|plugin| plugin.config.display_name()).collect();
        Failure::bad_input(format!(
            "{} holds several plugins ({}); name one",
            path.display(),
            names.join(", ")
        ))
    })
}

fn application_of(resources: &Resources, folder: &OneFolderArgs) -> Result<Application, Failure> {
    let Some(file) = &folder.app else {
        let mut application = Application::default();
        APPLICATION.clone_into(&mut application.metadata.name);
        return Ok(application);
    };
    if let Some(broken) = resources.broken().first() {
        return Err(Failure::bad_input_from(broken));
    }
    match resources.applications() {
        [only] => Ok(only.application.clone()),
        all => Err(Failure::bad_input(format!(
            "--app: {} has {} Applications; one is due",
            file.display(),
            all.len()
        ))),
    }
}

/// `--param`: what is named again replaces what was set before.
fn set_params(block: &mut PluginSource, texts: &[String]) -> Result<(), Failure> {
    for text in texts {
        let parameter = parse_param(text)?;
        let list = block.parameters.get_or_insert_default();
        match list.iter_mut().find(|known| known.name == parameter.name) {
            Some(known) => *known = parameter,
            None => list.push(parameter),
        }
    }
    Ok(())
}

/// `NAME=TEXT` or `NAME:=JSON`.
fn parse_param(text: &str) -> Result<Parameter, Failure> {
    let malformed = || {
        Failure::bad_input(format!(
            "--param {text:?}: write NAME=TEXT, or NAME:=JSON for a list, a map or a text"
        ))
    };
    let (before, value) = text.split_once('=').ok_or_else(malformed)?;
    let (name, is_json) = match before.strip_suffix(':') {
        Some(name) => (name, true),
        None => (before, false),
    };
    if name.is_empty() {
        return Err(malformed());
    }
    let mut parameter = Parameter { name: name.to_owned(), ..Parameter::default() };
    if !is_json {
        parameter.string = Some(value.to_owned());
        return Ok(parameter);
    }
    let refused = |why: String| Failure::bad_input(format!("--param {name}: {why}"));
    let json: Value = serde_json::from_str(value).map_err(|error| refused(format!("not JSON: {error}")))?;
    let not_texts =
        || refused("a list or a map must hold texts only; put numbers and booleans in quotes".to_owned());
    match json {
        Value::String(text) => parameter.string = Some(text),
        Value::Array(_) => parameter.array = Some(serde_json::from_value(json).map_err(|_| not_texts())?),
        Value::Object(_) => parameter.map = Some(serde_json::from_value(json).map_err(|_| not_texts())?),
        _ => return Err(refused("expected a text, a list or a map".to_owned())),
    }
    Ok(parameter)
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

#[cfg(test)]
mod tests;
