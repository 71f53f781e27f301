//! `tiphys render`.

mod environment;
mod files;
mod spool;
mod summary;

use std::process::ExitCode;
use std::sync::Arc;

use tiphys_engine::{Scopes, set_namespace, skip_secrets};
use tiphys_render::{RenderError, RenderedApplication};
use tiphys_store::StoredApplication;

use crate::applications::{self, Chosen};
use crate::args::{CommonArgs, OutputFormat, RenderArgs};
use crate::context::{self, PluginPaths, Wishes, Workplace};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::settings::Host;

pub(crate) use environment::env_lines;

use files::Staging;
use spool::Spool;

/// An application and what became of it. Its manifests are in a file already.
pub(crate) struct Done {
    pub(crate) stored: Arc<StoredApplication>,
    pub(crate) rendered: RenderedApplication,
    /// Number of objects.
    pub(crate) objects: usize,
}

/// Where manifests wait in files until all applications are rendered: all of them together may not fit in memory.
enum Waiting {
    /// For standard output.
    Spool(Spool),
    /// For `--output-dir`.
    Staging(Staging),
    /// For nothing: the format has a summary only.
    Nowhere,
}

/// Renders applications and prints them.
pub(crate) async fn run(common: &CommonArgs, args: &RenderArgs, host: Host) -> Result<ExitCode, Failure> {
    let format = common.output.unwrap_or(OutputFormat::Yaml);
    if args.output_dir.is_some() && matches!(format, OutputFormat::Name) {
        return Err(Failure::bad_input(
            "--output-dir writes manifests; -o name prints names: use one of them",
        ));
    }
    let wishes = Wishes {
        name_others: format == OutputFormat::Wide,
        keep_workdirs: args.keep_workdir.then(|| host.kept_workdirs()).transpose()?,
        applications: applications::paths(&args.applications),
        ..Wishes::default()
    };
    let place = context::workplace(common, &host, context::resources(common)?, wishes)?;
    warn_of_plugins_in_checkout(common, &host, &place);
    let Chosen { applications, mut worst } = applications::chosen(&place, &args.applications, "render")?;
    if args.print_env {
        let text = place.run(environment::text(&place, &applications, format)).await?;
        output::print(&text?)?;
        return Ok(code_of(worst));
    }
    let mut waiting = match (&args.output_dir, spool::Form::of(format)) {
        (Some(dir), _) => Waiting::Staging(Staging::new(&host.absolute(dir), &host.temporary_dir(), format)?),
        (None, Some(form)) => Waiting::Spool(Spool::new(&host.temporary_dir(), form)?),
        (None, None) => Waiting::Nowhere,
    };
    // Nothing is reported of an interrupted command.
    let mut results = Vec::new();
    let take = async |stored: Arc<StoredApplication>, result: Result<RenderedApplication, RenderError>| {
        results.push(match result {
            Ok(mut rendered) => {
                adjust(&mut rendered, &stored, args);
                let manifests = std::mem::take(&mut rendered.manifests);
                let objects = manifests.len();
                let added = match &mut waiting {
                    Waiting::Spool(spool) => spool.add(manifests),
                    Waiting::Staging(staging) => staging.add(&stored, manifests, &place.control_plane),
                    Waiting::Nowhere => Ok(()),
                };
                added.map(|()| Done { stored, rendered, objects })
            }
            Err(error) => Err(Failure::of_application(&stored, &error)),
        });
        Ok(())
    };
    place.run(applications::render_each(&place, &applications, common, &host, take)).await??;
    let mut done = Vec::new();
    for result in results {
        match result {
            Ok(one) => {
                for warning in &one.rendered.warnings {
                    tracing::warn!("{}: {warning}", one.stored.full_name());
                }
                done.push(one);
            }
            Err(failure) => {
                failure.tell();
                worst = worst.max(Some(failure.kind()));
            }
        }
    }
    if worst.is_none() || args.keep_going {
        if let Some(file) = &args.report {
            files::write_report(&host.absolute(file), &done)?;
        }
        match waiting {
            Waiting::Spool(spool) => spool.print()?,
            Waiting::Staging(staging) => staging.move_into_place()?,
            Waiting::Nowhere => {}
        }
        match format {
            OutputFormat::Table => output::print(&summary::table(&done, summary::Width::Narrow))?,
            OutputFormat::Wide => output::print(&summary::table(&done, summary::Width::Wide))?,
            _ => {}
        }
    } else if !done.is_empty() {
        tracing::warn!(
            "because of the errors nothing is printed; --keep-going prints the {} that could be rendered",
            if done.len() == 1 {
                "one application".to_owned()
            } else {
                format!("{} applications", done.len())
            }
        );
    }
    Ok(code_of(worst))
}

/// In CI a checkout is often a pull request's. The caller may choose plugins there; who did not mean to is told once.
fn warn_of_plugins_in_checkout(common: &CommonArgs, host: &Host, place: &Workplace) {
    let PluginPaths { paths, origin } = context::plugin_paths(common, host);
    if host.variable("CI").is_none_or(|value| value == "false") {
        return;
    }
    let plugins = paths.into_iter().filter(|_| !origin.is_empty()).map(|path| (origin, path));
    let sockets = host.plugin_sockets(common).map(|path| ("--plugin-sockets: ", path));
    let chosen = plugins.chain(sockets).find(|(_, path)| place.trust.is_rendered(path));
    if let Some((origin, path)) = chosen {
        tracing::warn!(
            "{origin}{} is in a repository that is rendered: a pull request can change the commands that run here; use plugins \
             from outside of the checkout",
            path.display()
        );
    }
}

fn code_of(worst: Option<Kind>) -> ExitCode {
    worst.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.code()))
}

/// What the command line asks for on top of what Argo CD would deploy.
fn adjust(rendered: &mut RenderedApplication, stored: &StoredApplication, args: &RenderArgs) {
    if args.set_namespace {
        let scopes = Scopes::of(&rendered.manifests);
        let namespace = &stored.application.spec.destination.namespace;
        if !namespace.is_empty() {
            let warnings = set_namespace(&mut rendered.manifests, namespace, &scopes);
            rendered.warnings.extend(warnings.into_iter().map(|warning| warning.message));
        }
    }
    if args.skip_secrets {
        rendered.manifests = skip_secrets(std::mem::take(&mut rendered.manifests));
    }
}
