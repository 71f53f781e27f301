//! Which changes of Applications a policy permits. All policies permit to create.

use tiphys_model::resources::ApplicationSet;

use super::{PlanError, PlanSettings};

/// Returns whether a word is the name of a policy.
pub(crate) fn is_known(policy: &str) -> bool {
    Policy::parse(policy).is_some()
}

/// Returns whether a set permits to delete an Application that it does not generate any more. A policy of the controller, which may replace its
/// own, is not known.
pub fn permits_deletions(set: &ApplicationSet) -> bool {
    Policy::of(set, &PlanSettings::default()).is_ok_and(Policy::permits_deletions)
}

/// A policy of Argo CD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `create-only`
    CreateOnly,
    /// `create-update`
    CreateUpdate,
    /// `create-delete`
    CreateDelete,
    /// `sync`
    Sync,
}

impl Policy {
    /// Returns the policy of a set: its own, if it may have one, else the controller's.
    pub(super) fn of(set: &ApplicationSet, settings: &PlanSettings) -> Result<Self, PlanError> {
        let own = set.applications_sync.as_deref().filter(|_| settings.is_policy_override_enabled);
        let (place, policy) = match own {
            Some(policy) => ("spec.syncPolicy.applicationsSync", policy),
            None if settings.policy.is_empty() => return Ok(Self::Sync),
            None => ("the controller's policy", settings.policy.as_str()),
        };
        Self::parse(policy).ok_or_else(|| PlanError::Policy { place, policy: policy.to_owned() })
    }

    fn parse(policy: &str) -> Option<Self> {
        match policy {
            "create-only" => Some(Self::CreateOnly),
            "create-update" => Some(Self::CreateUpdate),
            "create-delete" => Some(Self::CreateDelete),
            "sync" => Some(Self::Sync),
            _ => None,
        }
    }

    pub(crate) fn permits_updates(self) -> bool {
        matches!(self, Self::CreateUpdate | Self::Sync)
    }

    pub(super) fn permits_deletions(self) -> bool {
        matches!(self, Self::CreateDelete | Self::Sync)
    }
}
