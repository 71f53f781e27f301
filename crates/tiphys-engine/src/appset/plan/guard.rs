//! The refusal of too many deletions.

use super::{PlanSettings, PlannedApplication};

/// Default of [`PlanSettings::max_deletions_percent`].
pub const DEFAULT_MAX_DELETIONS_PERCENT: usize = 50;

/// Sets that own fewer Applications have no limit.
const OWNED_MIN: usize = 10;

/// The refusal of a plan that would delete too many Applications of a set, for instance after a generator got an incomplete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{deletions} of {owned} applications would be deleted, the limit is {max_percent} %; allow the deletions of this set"
)]
pub struct Guard {
    /// Applications that would be deleted, without those that wait for their finalizers already.
    pub deletions: usize,
    /// Existing Applications that the set owns.
    pub owned: usize,
    /// The limit in percent.
    pub max_percent: usize,
}

/// Returns the refusal of a plan.
pub(super) fn check(
    applications: &[PlannedApplication],
    owned: usize,
    settings: &PlanSettings,
) -> Option<Guard> {
    let deletions = applications.iter().filter(|application| application.is_deleted_anew()).count();
    let max_percent = settings.max_deletions_percent;
    let is_refused = !settings.are_deletions_allowed
        && owned >= OWNED_MIN
        && deletions * 100 > owned.saturating_mul(max_percent);
    is_refused.then_some(Guard { deletions, owned, max_percent })
}
