//! Choosing applications of the store and rendering them: what `render` and `diff` have in common.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tiphys_project::restricted_fields;
use tiphys_render::{RenderError, RenderedApplication};
use tiphys_store::{ApplicationRef, Filter, Selection, Selector, Store, StoredApplication, StoredProject};

use crate::args::{ApplicationArgs, CommonArgs};
use crate::context::Workplace;
use crate::failure::{Failure, Kind};
use crate::findings;
use crate::progress::Progress;
use crate::settings::Host;

/// The applications that a command is about.
pub(crate) struct Chosen {
    /// In the order of the store, or of the arguments.
    pub(crate) applications: Vec<Arc<StoredApplication>>,
    /// What kind of failure was told already.
    pub(crate) worst: Option<Kind>,
}

/// Chooses applications, tells what could not be chosen, and warns of what holds and is hardly meant so. One mistake does not hide the
/// other applications; nothing at all `to` do something with is an error.
pub(crate) fn chosen(place: &Workplace, args: &ApplicationArgs, to: &str) -> Result<Chosen, Failure> {
    let selection = select(place, args)?;
    for error in &selection.errors {
        Failure::bad_input_from(error).tell();
    }
    let worst = (!selection.errors.is_empty()).then_some(Kind::BadInput);
    // Projects are not enforced yet; one that restricts something says so once.
    for warning in unenforced_projects(&place.resources, &selection.applications) {
        tracing::warn!("{warning}");
    }
    for stored in &selection.applications {
        findings::warn_of(stored);
    }
    if selection.applications.is_empty() && worst.is_none() {
        return Err(Failure::bad_input(format!("no application to {to}")).hint(nothing_chosen(place)));
    }
    Ok(Chosen { applications: selection.applications, worst })
}

/// Returns one warning for each project that restricts something and that one of the applications belongs to.
pub(crate) fn unenforced_projects(store: &Store, applications: &[Arc<StoredApplication>]) -> Vec<String> {
    let names: BTreeSet<&str> =
        applications.iter().map(|stored| stored.application.spec.project_name()).collect();
    let projects = names.into_iter().filter_map(|name| store.project(name));
    let warning = |StoredProject { project, place }: &StoredProject| {
        let fields = restricted_fields(project);
        (!fields.is_empty()).then(|| {
            format!(
                "project {} ({place}) restricts {}: this is not enforced yet",
                project.metadata.name,
                fields.join(", ")
            )
        })
    };
    projects.filter_map(warning).collect()
}

/// The paths among the applications that were asked for.
pub(crate) fn paths(args: &ApplicationArgs) -> Vec<PathBuf> {
    asked(args).into_iter().filter_map(ApplicationRef::into_path).collect()
}

fn select(place: &Workplace, args: &ApplicationArgs) -> Result<Selection, Failure> {
    let selector = match &args.selector {
        Some(text) => {
            Selector::parse(text).map_err(|error| Failure::bad_input(format!("--selector: {error}")))?
        }
        None => Selector::default(),
    };
    let filter = Filter { selector, project: args.project.clone() };
    let mut selection = place.resources.select(&asked(args), &filter, &place.control_plane);
    place.trust.allow_file_repositories(&mut selection.applications);
    Ok(selection)
}

fn asked(args: &ApplicationArgs) -> Vec<ApplicationRef> {
    args.apps.iter().map(|app| ApplicationRef::parse(app)).collect()
}

/// What may be the reason that there is nothing to do.
fn nothing_chosen(place: &Workplace) -> String {
    if !place.resources.applications().is_empty() {
        return "no Application of the store fits --selector and --project".to_owned();
    }
    let is_application = |skipped: &&tiphys_store::Skipped| {
        skipped.object.as_ref().is_some_and(|object| object.kind == "Application")
    };
    let left_out = place.resources.skipped().iter().find(is_application);
    let left_out = left_out.map(|skipped| format!("{} was left out as {}; ", skipped.place, skipped.reason));
    format!(
        "{}--store names the folder or file that holds Applications; -v lists what was left out",
        left_out.unwrap_or_default()
    )
}

/// Renders all applications, several at once, and hands each result to `take`, in the order of the applications. How many plugins run at
/// once is decided by their slots; twice as many applications are under way, so that sources are read meanwhile. Results are not collected
/// here, since all of them together may not fit in memory.
pub(crate) async fn render_each<E>(
    place: &Workplace,
    applications: &[Arc<StoredApplication>],
    common: &CommonArgs,
    host: &Host,
    mut take: impl AsyncFnMut(Arc<StoredApplication>, Result<RenderedApplication, RenderError>) -> Result<(), E>,
) -> Result<(), E> {
    let at_once = common.jobs.map_or(host.processors(), usize::from) * 2;
    let progress = Progress::new(host, "rendered", applications.len());
    let progress = &progress;
    let rendering = stream::iter(applications).map(|stored| async move {
        let result = place.renderer.render(&stored.application).await;
        progress.step(&stored.full_name());
        (Arc::clone(stored), result)
    });
    let mut results = pin!(rendering.buffered(at_once));
    while let Some((stored, result)) = results.next().await {
        take(stored, result).await?;
    }
    Ok(())
}
