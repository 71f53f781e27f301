//! `tiphys render`.

mod environment;
mod files;
mod spool;
mod summary;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_render::RenderedApplication;
use tiphys_service::{
    ApplicationSelection, ErrorKind, SelectedApplications, UnknownSet, ValueWatch, Workspace,
};
use tiphys_store::StoredApplication;

use super::checkouts;
use crate::args::{OutputFormat, RenderArgs, SharedOptions};
use crate::error::{self, ServiceError};
use crate::lifecycle;
use crate::options::open_service;
use crate::output;
use crate::progress::Progress;
use crate::settings::Process;

pub(crate) use environment::env_lines;

use files::Staging;
use spool::Spool;

/// The result of rendering an application.
struct Outcome {
    stored: Arc<StoredApplication>,
    result: Result<Done, ServiceError>,
}

/// A rendered application. Its manifests have been written to a temporary file.
struct Done {
    rendered: RenderedApplication,
    /// Number of objects.
    objects: usize,
}

/// Where manifests are stored until all applications are rendered. Together they may not fit in memory.
enum Waiting {
    /// Standard output.
    Spool(Spool),
    /// `--output-dir`.
    Staging(Staging),
    /// Manifests are dropped: the format prints a summary only.
    Nowhere,
}

/// Handling of the manifests of a round in which applications fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterErrors {
    /// None are printed.
    PrintNothing,
    /// Those of the other applications are printed.
    PrintOthers,
}

/// Renders applications and prints them.
pub(crate) async fn run(
    shared: &SharedOptions,
    args: &RenderArgs,
    host: &Process,
) -> Result<ExitCode, ServiceError> {
    let format = shared.output.unwrap_or(OutputFormat::Yaml);
    if args.output_dir.is_some() && matches!(format, OutputFormat::Name) {
        return Err(ServiceError::invalid_input(
            "--output-dir writes manifests; -o name prints names: use one of them",
        ));
    }
    let selection = ApplicationSelection::from(&args.applications);
    let mut needs = args.following.needs(&selection);
    needs.reads_clusters = true;
    needs.name_others = format == OutputFormat::Wide;
    needs.keep_workdirs = args.keep_workdir.then(|| host.create_kept_workdirs()).transpose()?;
    let service = open_service(shared, host)?;
    let workspace = lifecycle::opened(&service, needs).await?;
    error::warn_all(workspace.warnings());
    error::warn_all(&workspace.plugins_in_checkout());
    let SelectedApplications { applications, errors, warnings, sets, .. } =
        tiphys_service::select(&workspace, &selection, "render")?;
    let worst = error::print_all(&errors, None);
    error::warn_all(&warnings);
    checkouts::report(&workspace, &applications).await;
    if args.print_env {
        let environments = tiphys_service::environments(&workspace, &applications);
        let environments = lifecycle::unless_interrupted(workspace.cancel(), environments).await??;
        output::print(&environment::text(environments, format))?;
        return Ok(error::exit_code_of(worst));
    }
    let command = Command {
        args,
        host,
        format,
        workspace: &workspace,
        applications: &applications,
        errors: &errors,
        unknown_sets: &sets.unknown(),
    };
    let values = if args.watch { Some(ValueWatch::prepare(&workspace).await?) } else { None };
    let after_errors = if args.keep_going { AfterErrors::PrintOthers } else { AfterErrors::PrintNothing };
    let worst = command.round(&applications, worst, after_errors).await?;
    if let Some(values) = values.filter(|_| worst.is_none() || args.keep_going) {
        lifecycle::unless_interrupted(workspace.cancel(), watch::run(&command, values)).await??;
    }
    Ok(error::exit_code_of(worst))
}

/// A call of the command.
struct Command<'a> {
    args: &'a RenderArgs,
    host: &'a Process,
    format: OutputFormat,
    workspace: &'a Workspace,
    applications: &'a [Arc<StoredApplication>],
    /// The errors of applications that could not be selected.
    errors: &'a [ServiceError],
    /// The sets whose applications are not known.
    unknown_sets: &'a [UnknownSet],
}

impl Command<'_> {
    /// Renders applications and prints them. Returns the worst error, of which `worst` is the one so far.
    async fn round(
        &self,
        applications: &[Arc<StoredApplication>],
        worst: Option<ErrorKind>,
        after_errors: AfterErrors,
    ) -> Result<Option<ErrorKind>, ServiceError> {
        let Self { args, host, format, workspace, errors, .. } = *self;
        let mut worst = worst;
        let mut waiting = match (&args.output_dir, spool::Form::of(format)) {
            (Some(dir), _) => {
                Waiting::Staging(Staging::new(&host.absolute(dir), &host.temporary_dir(), format)?)
            }
            (None, Some(form)) => Waiting::Spool(Spool::new(&host.temporary_dir(), form)?),
            (None, None) => Waiting::Nowhere,
        };
        // Nothing is reported of an interrupted command.
        let mut outcomes = Vec::new();
        let handle = |stored: Arc<StoredApplication>, result: Result<RenderedApplication, ServiceError>| {
            let result = result.and_then(|mut rendered| {
                let manifests = std::mem::take(&mut rendered.manifests);
                let objects = manifests.len();
                match &mut waiting {
                    Waiting::Spool(spool) => spool.add(manifests)?,
                    Waiting::Staging(staging) => {
                        staging.add(&stored, manifests, workspace.control_plane())?;
                    }
                    Waiting::Nowhere => {}
                }
                Ok(Done { rendered, objects })
            });
            outcomes.push(Outcome { stored, result });
        };
        let progress = Progress::new(host, "rendered", applications.len());
        let step = |name: &str| progress.step(name);
        let rendering = tiphys_service::render(workspace, applications, args.into(), &step, handle);
        lifecycle::unless_interrupted(workspace.cancel(), rendering).await?;
        let mut rendered_count = 0;
        for Outcome { stored, result } in &outcomes {
            let Ok(done) = result else { continue };
            rendered_count += 1;
            for warning in &done.rendered.warnings {
                tracing::warn!("{}: {warning}", stored.full_name());
            }
        }
        worst = error::print_all(outcomes.iter().filter_map(|one| one.result.as_ref().err()), worst);
        if let Some(file) = &args.report {
            let report = output::json(&summary::json(errors, &outcomes));
            output::write_private_file("--report", &host.absolute(file), &report)?;
        }
        if worst.is_none() || after_errors == AfterErrors::PrintOthers {
            match waiting {
                Waiting::Spool(spool) => spool.print()?,
                Waiting::Staging(staging) => {
                    let are_all = applications.len() == self.applications.len();
                    self.write(staging, are_all && worst.is_none())?;
                }
                Waiting::Nowhere => {}
            }
            match format {
                OutputFormat::Table => output::print(&summary::table(&outcomes, summary::Width::Narrow))?,
                OutputFormat::Wide => output::print(&summary::table(&outcomes, summary::Width::Wide))?,
                _ => {}
            }
        } else if rendered_count > 0 {
            tracing::warn!(
                "nothing is printed because of the errors; --keep-going prints the {} that could be rendered",
                if rendered_count == 1 {
                    "one application".to_owned()
                } else {
                    format!("{rendered_count} applications")
                }
            );
        }
        Ok(worst)
    }

    /// Writes the files of applications. `are_all` tells that all selected ones were rendered. Those of applications that are gone are removed
    /// with `--prune`; a command about all applications reports them otherwise.
    fn write(&self, staging: Staging, are_all: bool) -> Result<(), ServiceError> {
        let is_about_all = are_all && self.args.is_about_all();
        if !self.unknown_sets.is_empty() {
            staging.move_into_place(&[])?;
            if self.args.prune {
                let sets: Vec<String> = self.unknown_sets.iter().map(|set| set.set.to_string()).collect();
                tracing::warn!(
                    "--prune: no file is removed, since the applications of sets are not known: {}",
                    tiphys_service::listed(&sets)
                );
            }
            return Ok(());
        }
        let left_over = if is_about_all { staging.left_over()? } else { Vec::new() };
        if self.args.prune {
            staging.move_into_place(&left_over)?;
            return files::remove(&left_over);
        }
        staging.move_into_place(&[])?;
        if !left_over.is_empty() {
            let names: Vec<String> = left_over.iter().map(|file| file.display().to_string()).collect();
            tracing::warn!(
                "files of applications that were not rendered: {}; --prune removes them",
                tiphys_service::listed(&names)
            );
        }
        Ok(())
    }
}
