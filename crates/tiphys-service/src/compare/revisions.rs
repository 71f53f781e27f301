//! Rendering the applications of both sides and comparing their manifests.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tiphys_engine::diff::Comparison;
use tiphys_plugin::{ChooseError, RunSettings};
use tiphys_render::{
    RenderError, RenderedApplication, RenderedPair, SourceFailure, has_equal_inputs, render_both, render_pair,
};
use tiphys_source::BaseRevision;
use tiphys_store::{SetId, StoredApplication};
use tokio_util::sync::CancellationToken;

use super::dropped_values::dropped_values;
use super::pairs::{self, Pair, Pairs, Unusable};
use crate::application_diff::{ApplicationDiff, ChangedSetting, Presence, compare_rendered};
use crate::context::base::past::{failed, label};
use crate::context::base::sides::{self, ComparedSides, SideStore, refuse_standard_input};
use crate::context::base::{Rendering, RevisionOptions};
use crate::context::checkouts::{self, CheckoutReport};
use crate::context::options::{ApplicationSelection, StepCallback};
use crate::context::overlooked::{self, overlooked};
use crate::context::service::Service;
use crate::context::sets::{SetReports, SetSelection};
use crate::error::{Remedy, ServiceError, chain};
use crate::select;
use crate::warning::Warning;

/// A comparison whose applications are selected and not rendered yet.
pub struct RevisionComparison {
    base: BaseRevision,
    sides: ComparedSides,
    pairs: Pairs,
    /// Errors of arguments that name no application, and why something that is rendered is not followed.
    errors: Vec<ServiceError>,
    runs: Arc<RunSettings>,
    jobs: usize,
    rendering: Rendering,
    warnings: Vec<Warning>,
    notes: Vec<String>,
}

/// An application whose inputs differ between two revisions, or are not known to be equal.
#[derive(Debug)]
pub struct AffectedApplication {
    /// That of the new side; that of the old side if it was removed.
    pub stored: Arc<StoredApplication>,
    /// The sides that have it.
    pub presence: Presence,
}

/// The result of a comparison.
#[derive(Debug)]
pub struct RevisionDiff {
    /// The applications, in the order of the new side; removed ones come last.
    pub applications: Vec<ApplicationDiff>,
    /// Number of applications that were not rendered because their inputs are equal.
    pub equal: usize,
    /// Old and new full names of applications that may have been renamed.
    pub renamed: Vec<(String, String)>,
}

impl RevisionComparison {
    /// Opens both sides and selects the applications to compare. `cancel` cancels the comparison. Cancelled plugins are stopped in order, so it
    /// should still be awaited.
    pub async fn prepare(
        service: &Service,
        revision: &RevisionOptions,
        selection: &ApplicationSelection,
        cancel: &CancellationToken,
    ) -> Result<Self, ServiceError> {
        Self::prepare_selected(service, revision, selection, None, cancel).await
    }

    /// Opens both sides and selects the applications of sets.
    pub async fn prepare_sets(
        service: &Service,
        revision: &RevisionOptions,
        sets: &SetSelection,
        cancel: &CancellationToken,
    ) -> Result<Self, ServiceError> {
        let all = ApplicationSelection::default();
        Self::prepare_selected(service, revision, &all, Some(sets), cancel).await
    }

    async fn prepare_selected(
        service: &Service,
        revision: &RevisionOptions,
        selection: &ApplicationSelection,
        only: Option<&SetSelection>,
        cancel: &CancellationToken,
    ) -> Result<Self, ServiceError> {
        refuse_standard_input(service)?;
        let filter = selection.filter()?;
        let arguments = selection.references();
        let runs = service.runs(None);
        let mut sides = Box::pin(sides::open(service, &runs, revision, &arguments, cancel)).await?;
        let mut pairs = pairs::pair(&sides.base.stores, &sides.head.stores, &arguments, &filter);
        let mut concerned: BTreeSet<SetId> =
            sides.base.stores.path_sets().chain(sides.head.stores.path_sets()).collect();
        if let Some(only) = only {
            concerned = only.ids([&sides.base, &sides.head].map(|side| {
                let SideStore { store, control_plane, .. } = &side.stores;
                (store, control_plane.as_str())
            }))?;
            pairs.retain_generated_by(&concerned);
        }
        let reports = &mut sides.sets.reports;
        for (set, applications) in &pairs.of_unknown_sets {
            let message = format!(
                "not compared, since application set {set} failed or is left out on the other side: {}",
                names(applications)
            );
            reports.warn(Some(set), Warning::new(message));
        }
        let mut warnings = sides.warnings.clone();
        let mut errors: Vec<ServiceError> = pairs.errors.iter().map(ServiceError::selection).collect();
        // A missing application may be one of a set that failed, and so may one that only one side has.
        let is_about_all = only.is_none() && (arguments.is_empty() || !errors.is_empty());
        reports
            .retain(|set| is_about_all || pairs.of_unknown_sets.contains_key(set) || concerned.contains(set));
        warnings.extend(reports.warnings().cloned());
        let head = pairs.head();
        let current = service.options().current_checkout;
        let overlooked = overlooked(sides.head.renderer.sources(), &sides.checkouts, &head, current).await;
        let overlooked = overlooked.map_err(failed)?;
        if overlooked::is_intended(service.options()) {
            warnings.extend(overlooked);
        } else if !overlooked.is_empty() {
            return Err(checkouts::remedied_error(&overlooked));
        }
        let CheckoutReport { notes, warnings: of_checkouts, unknown } =
            Box::pin(checkouts::report(&sides.head.renderer, &head, &sides.sets)).await;
        if !unknown.is_empty() {
            return Err(checkouts::remedied_error(&unknown));
        }
        warnings.extend(of_checkouts);
        let base_label = label(&revision.base);
        let (of_followed, warned) =
            sides.head.stores.followed.with_base(&sides.base.stores.followed, &base_label);
        errors.extend(of_followed);
        warnings.extend(warned);
        let is_rendered =
            |pair: &Pair| matches!(pair, Pair::Added(stored) if stored.place.file.is_rendered());
        if sides.base.stores.followed.is_incomplete && pairs.joined.iter().any(is_rendered) {
            warnings.push(Warning::new(format!(
                "not all applications of {base_label} could be followed, so it may have applications that are listed as added"
            )));
        }
        warnings.extend(sides.problems.iter().cloned().map(Warning::from));
        let others = pairs.repaired.iter().filter(|old| !old.is_about_applications());
        warnings.extend(others.map(|old| Warning::new(format!("at {base_label}: {}", chain(&old.error)))));
        if is_about_all && errors.is_empty() && pairs.unusable.is_empty() {
            warnings.extend(checkouts::unused_repositories(&sides.head.renderer, &head).await);
        }
        let jobs = service.jobs();
        let rendering = revision.rendering;
        Ok(Self { base: revision.base.clone(), sides, pairs, errors, runs, jobs, rendering, warnings, notes })
    }

    /// Returns the reports about application sets, which may generate applications that are not compared. The warnings have theirs, too.
    pub fn sets(&self) -> &SetReports {
        &self.sides.sets.reports
    }

    /// Returns the number of applications to compare.
    pub fn applications(&self) -> usize {
        self.pairs.joined.len()
    }

    /// Returns the errors of arguments that name no application, and why something that is rendered is not followed.
    pub fn errors(&self) -> &[ServiceError] {
        &self.errors
    }

    /// Returns the applications of the new side that are not compared, because they cannot be read or are defined more than once. A file that
    /// cannot be read is listed only if the base has no application in it.
    pub fn unusable(&self) -> Vec<ApplicationDiff> {
        let Pairs { unusable, doubtful, .. } = &self.pairs;
        let (mut of_base, mut named) = (Vec::new(), Vec::new());
        for stored in doubtful {
            let file = unusable.iter().position(|one| one.is_now(stored));
            let why = if stored.place.file.is_rendered() {
                "the working copy may render it: not all of its applications could be followed"
            } else {
                "the working copy may have it in a file or document that cannot be read"
            };
            let (name, place) = (stored.full_name(), &stored.place);
            let error = match file {
                Some(index) => ServiceError::selection(&unusable[index].error),
                None => ServiceError::invalid_input(format!("application {name} ({place}): {why}")),
            };
            named.extend(file);
            of_base.push(ApplicationDiff::new(stored, Presence::Both, Err(error)));
        }
        let others = unusable.iter().enumerate().filter(|(index, _)| !named.contains(index));
        let entry = |(_, one): (usize, &Unusable)| ApplicationDiff::unusable(one.key.clone(), &one.error);
        others.map(entry).chain(of_base).collect()
    }

    /// Returns the applications that the base has in documents that cannot be used, and that the new side does not have.
    fn removed_unusable(&self) -> Vec<ApplicationDiff> {
        let head = self.pairs.head();
        let is_gone = |old: &&Unusable| {
            old.is_about_applications() && !head.iter().any(|stored| self.is_repaired(old, stored))
        };
        let entry = |old: &Unusable| ApplicationDiff {
            presence: Presence::Removed,
            base_error: Some(chain(&old.error)),
            result: Ok(Comparison::default()),
            ..ApplicationDiff::unusable(old.key.clone(), &old.error)
        };
        self.pairs.repaired.iter().filter(is_gone).map(entry).collect()
    }

    /// Returns for which branches the files of a checkout are used.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the warnings about both sides, the applications and their projects, and about what of the base could not be read.
    pub fn warnings(&self) -> Vec<Warning> {
        let head = self.pairs.head();
        let of_projects = self.sides.projects.warnings(&head);
        let warnings = select::warnings(&head).into_iter().chain(of_projects);
        self.warnings.iter().cloned().chain(warnings).collect()
    }

    /// Returns the applications whose inputs differ, in the order of the new side; removed ones come last. Nothing is rendered.
    pub async fn affected(
        &self,
        progress: StepCallback<'_>,
    ) -> Result<Vec<AffectedApplication>, ServiceError> {
        self.require_applications()?;
        let affected = stream::iter(&self.pairs.joined)
            .map(|pair| async move {
                let is_equal = match pair {
                    Pair::Both { base, head } => {
                        let (before, after) = self.sides.of(base, head);
                        let is_permitted = self.sides.projects.check_application(head).is_ok();
                        is_permitted
                            && !self.sides.projects.is_judged_anew(base, head)
                            && Box::pin(has_equal_inputs(before, after)).await
                    }
                    Pair::Added(_) | Pair::Removed(_) => false,
                };
                progress(&pair.stored().full_name());
                let stored = Arc::clone(pair.stored());
                (!is_equal).then_some(AffectedApplication { stored, presence: pair.presence() })
            })
            .buffered(self.jobs * 2)
            .filter_map(std::future::ready)
            .collect()
            .await;
        self.runs.endings.drained().await;
        Ok(affected)
    }

    /// Renders and compares the applications.
    pub async fn compare(&self, progress: StepCallback<'_>) -> Result<RevisionDiff, ServiceError> {
        let compared = self.compare_pairs(progress).await;
        self.runs.endings.drained().await;
        compared
    }

    /// Fails if there is nothing to compare, and no error says why.
    fn require_applications(&self) -> Result<(), ServiceError> {
        let is_unknown = |side: &SideStore| !side.unknown_sets.is_empty();
        let knows_all = !is_unknown(&self.sides.base.stores) && !is_unknown(&self.sides.head.stores);
        let Pairs { unusable, doubtful, repaired, .. } = &self.pairs;
        let are_usable = unusable.is_empty() && doubtful.is_empty() && repaired.is_empty();
        if self.pairs.joined.is_empty() && self.errors.is_empty() && are_usable && knows_all {
            let nothing = ServiceError::invalid_input("no application to compare");
            return Err(nothing.with_remedy(Remedy::ChooseStore));
        }
        Ok(())
    }

    async fn compare_pairs(&self, progress: StepCallback<'_>) -> Result<RevisionDiff, ServiceError> {
        let Self { base, sides, pairs, .. } = self;
        self.require_applications()?;
        let results: Vec<(ApplicationDiff, bool)> = stream::iter(&pairs.joined)
            .map(|pair| async move {
                let stored = pair.stored();
                let mut warnings = Vec::new();
                let result = Box::pin(compare_pair(pair, sides, (base, self.rendering), &mut warnings)).await;
                progress(&stored.full_name());
                let equal = matches!(result, Ok(None));
                let (result, base_error) = match result {
                    Ok(Some(Compared { comparison, base_error })) => (Ok(comparison), base_error),
                    Ok(None) => (Ok(Comparison::default()), None),
                    Err(error) => (Err(error), None),
                };
                let base_error = base_error.or_else(|| self.unusable_at_base(stored));
                let diff = ApplicationDiff::new(stored, pair.presence(), result);
                let (settings, deletion) = match pair {
                    Pair::Both { base, head } => (ChangedSetting::all(&base.node, &head.node), diff.deletion),
                    Pair::Added(_) => (Vec::new(), diff.deletion),
                    Pair::Removed(base) => (Vec::new(), sides.deletion(base)),
                };
                (ApplicationDiff { deletion, settings, warnings, base_error, ..diff }, equal)
            })
            .buffered(self.jobs * 2)
            .collect()
            .await;
        let equal = results.iter().filter(|(_, equal)| *equal).count();
        let mut applications: Vec<ApplicationDiff> = results.into_iter().map(|(diff, _)| diff).collect();
        applications.extend(self.removed_unusable());
        applications.extend(self.unusable());
        Ok(RevisionDiff { applications, equal, renamed: pairs.renamed() })
    }

    /// Returns why an application of the new side could not be read at the base.
    fn unusable_at_base(&self, stored: &StoredApplication) -> Option<String> {
        let repaired = self.pairs.repaired.iter().find(|old| self.is_repaired(old, stored))?;
        Some(chain(&repaired.error))
    }

    /// Whether an application of the new side is that of a document that could not be used at the base, or in the same file.
    fn is_repaired(&self, old: &Unusable, stored: &StoredApplication) -> bool {
        match &old.key {
            Some(key) => stored.owned_key(&self.sides.head.stores.control_plane) == *key,
            None => stored.place.file.path().is_some_and(|file| old.is_in(file)),
        }
    }
}

/// The comparison of an application that was rendered.
struct Compared {
    comparison: Comparison,
    /// Why it could not be rendered at the base. Then all its objects count as added.
    base_error: Option<String>,
}

fn names(applications: &[Arc<StoredApplication>]) -> String {
    applications.iter().map(|stored| stored.full_name()).collect::<Vec<_>>().join(", ")
}

/// Compares one application. None if its inputs are equal, so that it was not rendered.
async fn compare_pair(
    pair: &Pair,
    sides: &ComparedSides,
    (revision, rendering): (&BaseRevision, Rendering),
    warnings: &mut Vec<Warning>,
) -> Result<Option<Compared>, ServiceError> {
    if let Pair::Added(head) | Pair::Both { head, .. } = pair {
        warnings.extend(sides.projects.check_application(head)?);
    }
    let mut permitted = async |stored: &StoredApplication, rendered: RenderedApplication| {
        warnings.extend(Warning::all_of_application(stored, &rendered.warnings));
        let reported = sides.projects.check_rendered(&sides.clusters, stored, &rendered).await?;
        warnings.extend(Warning::all_of_application(stored, reported));
        Ok::<_, ServiceError>(rendered)
    };
    let mut dropped = Vec::new();
    let failed = |stored: &StoredApplication, error: RenderError| {
        let error = Arc::new(error);
        explained(ServiceError::application(stored, Arc::clone(&error)), &error, sides, revision)
    };
    let (before, after) = match pair {
        Pair::Added(head) => {
            let rendered = sides.head.renderer.render(&head.application).await;
            (None, Some(permitted(head, rendered.map_err(|error| failed(head, error))?).await?))
        }
        Pair::Removed(base) => match sides.base.renderer.render(&base.application).await {
            Ok(rendered) => (Some(rendered), None),
            Err(error) => {
                let base_error = Some(failed(base, error).message());
                return Ok(Some(Compared { comparison: Comparison::default(), base_error }));
            }
        },
        Pair::Both { base, head } => {
            let (before, after) = sides.of(base, head);
            let rendered = match rendering {
                Rendering::Changed if !sides.projects.is_judged_anew(base, head) => {
                    render_pair(before, after).await
                }
                Rendering::Changed | Rendering::All => Some(render_both(before, after).await),
            };
            let Some(rendered) = rendered else { return Ok(None) };
            match rendered {
                RenderedPair { before: Ok(before), after: Ok(after) } => {
                    let renderer = &sides.base.renderer;
                    dropped = dropped_values(renderer, &base.application, &before, &after).await;
                    (Some(before), Some(permitted(head, after).await?))
                }
                RenderedPair { before: Err(error), after: Ok(after) } => {
                    let base_error = Some(failed(base, error).message());
                    let comparison = compare_rendered(None, Some(&permitted(head, after).await?));
                    return Ok(Some(Compared { comparison, base_error }));
                }
                RenderedPair { before: Ok(_), after: Err(error) } => {
                    let (error, side) = (Arc::new(error), "in the working copy");
                    let failure = ServiceError::application_on_one_side(head, side, Arc::clone(&error));
                    return Err(explained(failure, &error, sides, revision));
                }
                RenderedPair { before: Err(before), after: Err(after) } => {
                    let failure = ServiceError::application_on_both_sides((base, &before), (head, &after));
                    return Err(explained(failure, &after, sides, revision));
                }
            }
        }
    };
    warnings.extend(dropped.into_iter().map(|text| Warning::of_application(pair.stored(), text)));
    let comparison = compare_rendered(before.as_ref(), after.as_ref());
    Ok(Some(Compared { comparison, base_error: None }))
}

/// Adds a hint if a plugin is unknown because only the working copy has it.
fn explained(
    failure: ServiceError,
    error: &RenderError,
    sides: &ComparedSides,
    base: &BaseRevision,
) -> ServiceError {
    let RenderError::Source(error) = error else { return failure };
    match &*error.failure {
        SourceFailure::Choose(ChooseError::Unknown { name, .. })
            if sides.plugins.only_head.contains(name) =>
        {
            let hint = format!(
                "plugin {name:?} is only in the working copy, and plugins are those of {}",
                label(base)
            );
            failure.with_hint(hint).with_remedy(Remedy::TrustChangedPlugins)
        }
        _ => failure,
    }
}
