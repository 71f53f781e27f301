//! `tiphys params`: what an application's plugin accepts, and what is set.

mod asked;
mod change;
mod defaults;
mod diff;
mod explain;
mod get;
mod list;
mod origin;
mod problems;
mod row;
mod set;

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_api::ApplicationSource;
use tiphys_store::{ApplicationRef, Filter, SelectError, StoredApplication};

use crate::args::{CommonArgs, ParamsArgs, ParamsCommand, SourceChoice, ValueArgs};
use crate::context::{self, Wishes, Workplace};
use crate::failure::Failure;
use crate::findings;
use crate::settings::Host;

/// Runs one of the subcommands.
pub(crate) async fn run(common: &CommonArgs, args: ParamsArgs, host: Host) -> Result<ExitCode, Failure> {
    match args.command {
        ParamsCommand::List(args) => list::run(common, &args, &host).await,
        ParamsCommand::Get(args) => get::run(common, &args, &host).await,
        ParamsCommand::Explain(args) => explain::run(common, &args, &host).await,
        ParamsCommand::Set(args) => set::set(common, &args, &host).await,
        ParamsCommand::Unset(args) => set::unset(common, &args, &host).await,
        ParamsCommand::Diff(args) => diff::run(common, &args, &host).await,
    }
}

/// A workplace for the one application `app`.
fn workplace(common: &CommonArgs, host: &Host, app: &str) -> Result<Workplace, Failure> {
    let applications = ApplicationRef::parse(app).into_path().into_iter().collect();
    context::workplace(
        common,
        host,
        context::resources(common)?,
        Wishes { applications, ..Wishes::default() },
    )
}

/// The one application that was asked for. What a person should know of it is told.
fn only_application(place: &Workplace, app: &str) -> Result<Arc<StoredApplication>, Failure> {
    let mut selection =
        place.resources.select(&[ApplicationRef::parse(app)], &Filter::default(), &place.control_plane);
    place.trust.allow_file_repositories(&mut selection.applications);
    if let Some(error) = selection.errors.first() {
        let failure = Failure::bad_input_from(error);
        return Err(match (error, set_names(place).as_slice()) {
            (SelectError::Unknown { suggestions, .. }, sets @ [_, ..]) if suggestions.is_empty() => failure.hint(format!(
                "the store has ApplicationSets ({}), whose applications have no files: pipe `kubectl get applications -A -o yaml` into \
                 `--store -`",
                sets.join(", ")
            )),
            _ => failure,
        });
    }
    let [stored] = selection.applications.as_slice() else {
        return Err(Failure::bad_input(format!(
            "{app} stands for {} Applications; name one",
            selection.applications.len()
        )));
    };
    findings::warn_of(stored);
    Ok(Arc::clone(stored))
}

fn set_names(place: &Workplace) -> Vec<&str> {
    place.resources.sets().iter().map(|set| set.metadata.name.as_str()).collect()
}

/// Whether a source, at this place from 1, is among the chosen ones.
fn is_chosen(choice: &SourceChoice, position: usize, source: &ApplicationSource) -> bool {
    choice.source_name.as_ref().is_none_or(|name| *name == source.name)
        && choice.source_position.is_none_or(|wanted| wanted as usize == position)
}

/// Standard input is read once.
fn require_one_standard_input(common: &CommonArgs, values: &ValueArgs) -> Result<(), Failure> {
    if common.store.iter().chain(&values.values).filter(|path| *path == "-").count() > 1 {
        return Err(Failure::bad_input("standard input can be read once: --store and --values both name it"));
    }
    Ok(())
}

/// Refuses a choice of a source that the application does not have.
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
