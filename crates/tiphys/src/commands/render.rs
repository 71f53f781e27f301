//! `tiphys render`.

mod environment;
mod files;
mod summary;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;
use tiphys_engine::{Manifest, Scopes, set_namespace, skip_secrets};
use tiphys_render::RenderedApplication;
use tiphys_store::StoredApplication;

use crate::applications::{self, Chosen};
use crate::args::{CommonArgs, OutputFormat, RenderArgs};
use crate::context::{self, PluginPaths, Wishes, Workplace};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::settings::Host;

pub(crate) use environment::env_lines;

/// An application and what became of it.
pub(crate) struct Done {
    pub(crate) stored: Arc<StoredApplication>,
    pub(crate) rendered: RenderedApplication,
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
    let rendering = applications::render_all(&place, &applications, common, &host);
    let mut done = Vec::new();
    for (stored, result) in place.run(rendering).await? {
        match result {
            Ok(mut rendered) => {
                adjust(&mut rendered, &stored, args);
                for warning in &rendered.warnings {
                    tracing::warn!("{}: {warning}", stored.full_name());
                }
                done.push(Done { stored, rendered });
            }
            Err(error) => {
                let failure = Failure::of_application(&stored, &error);
                failure.tell();
                worst = worst.max(Some(failure.kind()));
            }
        }
    }
    if worst.is_none() || args.keep_going {
        if let Some(file) = &args.report {
            files::write_report(&host.absolute(file), &done)?;
        }
        match &args.output_dir {
            Some(dir) => files::write_manifests(&host.absolute(dir), &done, format, &place.control_plane)?,
            None => output::print(&printed(&done, format))?,
        }
        if args.output_dir.is_some() && matches!(format, OutputFormat::Table | OutputFormat::Wide) {
            output::print(&printed(&done, format))?;
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
    let is_chosen = !origin.is_empty() && host.variable("CI").is_some();
    if let Some(path) = paths.iter().find(|path| is_chosen && place.trust.is_rendered(path)) {
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

fn printed(done: &[Done], format: OutputFormat) -> String {
    let manifests = || done.iter().flat_map(|one| &one.rendered.manifests);
    match format {
        OutputFormat::Yaml | OutputFormat::Diff | OutputFormat::Markdown => documents(manifests()),
        OutputFormat::Json => output::json(&output::list(&manifests().map(value).collect::<Vec<_>>())),
        OutputFormat::Name => output::lines(manifests().map(resource_name)),
        OutputFormat::Table => summary::table(done, summary::Width::Narrow),
        OutputFormat::Wide => summary::table(done, summary::Width::Wide),
    }
}

/// Objects as documents separated by `---`.
pub(crate) fn documents<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> String {
    output::documents(manifests.map(value).collect::<Vec<_>>().iter())
}

fn value(manifest: &Manifest) -> Value {
    Value::Object(manifest.object().clone())
}

/// As `kubectl -o name` says it: `deployment.apps/web`.
fn resource_name(manifest: &Manifest) -> String {
    let (group, kind) = manifest.group_kind();
    let dot = if group.is_empty() { "" } else { "." };
    format!("{}{dot}{group}/{}", kind.to_lowercase(), manifest.name())
}
