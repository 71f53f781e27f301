//! `tiphys params`: what an application's plugin accepts, and what is set.

mod get;
mod list;
mod row;

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_render::AnnouncedSource;
use tiphys_store::{ApplicationRef, Filter, StoredApplication};

use crate::args::{CommonArgs, ParamsArgs, ParamsCommand, SourceChoice};
use crate::context::{self, Wishes};
use crate::failure::Failure;
use crate::findings;
use crate::settings::Host;

/// Runs one of the subcommands.
pub(crate) async fn run(common: &CommonArgs, args: ParamsArgs, host: Host) -> Result<ExitCode, Failure> {
    match args.command {
        ParamsCommand::List(args) => list::run(common, &args, &host).await,
        ParamsCommand::Get(args) => get::run(common, &args, &host).await,
    }
}

/// The application that was asked for, and what the plugins of the chosen sources accept.
async fn announced(
    common: &CommonArgs,
    host: &Host,
    app: &str,
    choice: &SourceChoice,
) -> Result<(Arc<StoredApplication>, Vec<AnnouncedSource>), Failure> {
    let place = context::workplace(common, host, context::resources(common)?, Wishes::default())?;
    let selection =
        place.resources.select(&[ApplicationRef::parse(app)], &Filter::default(), &place.control_plane);
    if let Some(error) = selection.errors.first() {
        return Err(Failure::bad_input_from(error));
    }
    let [stored] = selection.applications.as_slice() else {
        return Err(Failure::bad_input(format!(
            "{app} stands for {} Applications; name one",
            selection.applications.len()
        )));
    };
    findings::warn_of(stored);
    check_choice(stored, choice)?;
    let announcing = place.renderer.announce(&stored.application, |position, source| {
        let by_name = choice.source_name.as_ref().is_none_or(|name| *name == source.name);
        by_name && choice.source_position.is_none_or(|wanted| wanted as usize == position)
    });
    let announced = place.run(announcing).await?.map_err(|error| Failure::of_application(stored, &error))?;
    for warning in announced.iter().flat_map(|source| &source.warnings) {
        tracing::warn!("{}: {warning}", stored.full_name());
    }
    Ok((Arc::clone(stored), announced))
}

fn check_choice(stored: &StoredApplication, choice: &SourceChoice) -> Result<(), Failure> {
    let sources = stored.application.spec.effective_sources();
    if let Some(name) = &choice.source_name
        && !sources.iter().any(|source| source.name == *name)
    {
        let names: Vec<&str> =
            sources.iter().map(|source| source.name.as_str()).filter(|name| !name.is_empty()).collect();
        let known = if names.is_empty() {
            "its sources have no names".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        return Err(Failure::bad_input(format!(
            "{} has no source named {name:?}: {known}",
            stored.full_name()
        )));
    }
    if let Some(position) = choice.source_position
        && position as usize > sources.len()
    {
        return Err(Failure::bad_input(format!(
            "{} has {} sources; --source-position {position} is none",
            stored.full_name(),
            sources.len()
        )));
    }
    Ok(())
}
