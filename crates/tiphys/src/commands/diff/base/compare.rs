//! Rendering the applications of both sides and comparing what came of it.

use futures_util::{StreamExt, stream};
use tiphys_engine::diff::{Comparison, compare};
use tiphys_plugin::ChooseError;
use tiphys_render::{RenderError, RenderedApplication, SourceFailure, render_pair};
use tiphys_source::BaseRevision;
use tiphys_store::{ApplicationRef, Filter, Selector, StoredApplication};

use super::pairs::{self, Pair, Pairs};
use super::past::label;
use super::sides::{self, Ground, TwoSides};
use super::unheeded;
use crate::applications;
use crate::args::{CommonArgs, DiffArgs};
use crate::commands::diff::output::{ApplicationDiff, Presence};
use crate::failure::{Failure, Kind};
use crate::findings;
use crate::output::note;
use crate::progress::Progress;
use crate::settings::Host;

/// What came of a comparison.
pub(super) struct Compared {
    pub(super) applications: Vec<ApplicationDiff>,
    /// What kind of failure was told already.
    pub(super) worst: Option<Kind>,
    /// How many applications were not rendered, since what they are made from is equal.
    equal: usize,
    /// Old and new full names of applications that may have been renamed.
    renamed: Vec<(String, String)>,
}

impl Compared {
    /// Says what the differences alone do not.
    pub(super) fn tell(&self) {
        for (old, new) in &self.renamed {
            note(&format!("hint: application {old} may have been renamed to {new}: their specs are equal"));
        }
        if self.equal > 0 {
            let (equal, all) = (self.equal, self.applications.len());
            let what = if all == 1 { "application" } else { "applications" };
            let why = if equal == 1 {
                "was not rendered: its inputs are"
            } else {
                "were not rendered: their inputs are"
            };
            note(&format!("{equal} of {all} {what} {why} equal"));
        }
    }
}

/// Compares the applications that were asked for.
pub(super) async fn run(
    common: &CommonArgs,
    args: &DiffArgs,
    base: &BaseRevision,
    ground: &Ground,
    host: &Host,
) -> Result<Compared, Failure> {
    let chosen = &args.applications;
    let selector = chosen.selector.as_deref().map(Selector::parse).transpose();
    let selector = selector.map_err(|error| Failure::bad_input(format!("--selector: {error}")))?;
    let filter = Filter { selector: selector.unwrap_or_default(), project: chosen.project.clone() };
    let arguments: Vec<ApplicationRef> = chosen.apps.iter().map(|app| ApplicationRef::parse(app)).collect();

    let sides = Box::pin(sides::open(common, args, base, &arguments, ground, host)).await?;
    let pairs = pairs::pair(&sides.past.stores, &sides.now.stores, &arguments, &filter);
    let worst = told(&pairs, &sides).await?;
    if pairs.joined.is_empty() && worst.is_none() {
        return Err(Failure::bad_input("no application to compare")
            .hint("--store names the folder or file that holds Applications; -v lists what was left out"));
    }
    let at_once = common.jobs.map_or(host.processors(), usize::from) * 2;
    let progress = &Progress::new(host, "compared", pairs.joined.len());
    let (sides, base) = (&sides, &base);
    let results: Vec<(ApplicationDiff, bool)> = stream::iter(&pairs.joined)
        .map(|pair| async move {
            let stored = pair.stored();
            let result = Box::pin(compare_pair(pair, sides, base)).await;
            progress.step(&stored.full_name());
            let equal = matches!(result, Ok(None));
            let diff = ApplicationDiff {
                namespace: stored.application.metadata.namespace.clone(),
                name: stored.application.metadata.name.clone(),
                presence: match pair {
                    Pair::Both { .. } => Presence::Both,
                    Pair::Added(_) => Presence::Added,
                    Pair::Removed(_) => Presence::Removed,
                },
                result: result.map(Option::unwrap_or_default),
            };
            (diff, equal)
        })
        .buffered(at_once)
        .collect()
        .await;
    let equal = results.iter().filter(|(_, equal)| *equal).count();
    let applications = results.into_iter().map(|(diff, _)| diff).collect();
    Ok(Compared { applications, worst, equal, renamed: pairs.renamed() })
}

/// Tells what could not be chosen and what is hardly meant so.
async fn told(pairs: &Pairs, sides: &TwoSides) -> Result<Option<Kind>, Failure> {
    for error in &pairs.errors {
        Failure::bad_input_from(error).tell();
    }
    if !pairs.doubtful.is_empty() {
        tracing::warn!(
            "not compared, since the other side may have them in a file that cannot be read: {}",
            pairs.doubtful.join(", ")
        );
    }
    let now: Vec<_> = pairs
        .joined
        .iter()
        .filter_map(|pair| match pair {
            Pair::Both { now, .. } | Pair::Added(now) => Some(now.clone()),
            Pair::Removed(_) => None,
        })
        .collect();
    for warning in applications::unenforced_projects(&sides.now.stores.store, &now) {
        tracing::warn!("{warning}");
    }
    for stored in &now {
        findings::warn_of(stored);
    }
    unheeded::warn(&now, sides).await?;
    Ok((!pairs.errors.is_empty()).then_some(Kind::BadInput))
}

/// Compares one application; none if nothing had to be rendered for that.
async fn compare_pair(
    pair: &Pair,
    sides: &TwoSides,
    base: &BaseRevision,
) -> Result<Option<Comparison>, Failure> {
    let failed = |stored: &StoredApplication, error: &RenderError| {
        explained(Failure::of_application(stored, error), error, sides, base)
    };
    let (before, after) = match pair {
        Pair::Added(now) => {
            let rendered = sides.now.renderer.render(&now.application).await;
            (Vec::new(), warned(now, rendered.map_err(|error| failed(now, &error))?))
        }
        Pair::Removed(past) => {
            let rendered = sides.past.renderer.render(&past.application).await;
            (rendered.map_err(|error| failed(past, &error))?.manifests, Vec::new())
        }
        Pair::Both { past, now } => {
            let before =
                tiphys_render::Side { renderer: &sides.past.renderer, application: &past.application };
            let after = tiphys_render::Side { renderer: &sides.now.renderer, application: &now.application };
            match render_pair(before, after).await {
                tiphys_render::Pair::Equal => return Ok(None),
                tiphys_render::Pair::Rendered { before: Ok(before), after: Ok(after) } => {
                    (before.manifests, warned(now, after))
                }
                tiphys_render::Pair::Rendered { before: Err(error), after: Ok(_) } => {
                    return Err(failed(past, &error));
                }
                tiphys_render::Pair::Rendered { before: Ok(_), after: Err(error) } => {
                    return Err(failed(now, &error));
                }
                tiphys_render::Pair::Rendered { before: Err(before), after: Err(after) } => {
                    let failure = Failure::of_both((past, &before), (now, &after));
                    return Err(explained(failure, &after, sides, base));
                }
            }
        }
    };
    Ok(Some(compare(&before, &after)))
}

/// The objects, after what a person should know of them was said.
fn warned(stored: &StoredApplication, rendered: RenderedApplication) -> Vec<tiphys_engine::Manifest> {
    for warning in &rendered.warnings {
        tracing::warn!("{}: {warning}", stored.full_name());
    }
    rendered.manifests
}

/// The failure with what is to be done where a plugin is missing because only the working copy has it.
fn explained(failure: Failure, error: &RenderError, sides: &TwoSides, base: &BaseRevision) -> Failure {
    let RenderError::Source(error) = error else { return failure };
    match &*error.failure {
        SourceFailure::Choose(ChooseError::Unknown { name, .. }) if sides.plugins.only_now.contains(name) => {
            failure.hint(format!(
                "plugin {name:?} is only in the working copy, and plugins are those of {}; --plugins-from head runs the commands of \
                 a change that is trusted",
                label(base)
            ))
        }
        _ => failure,
    }
}
