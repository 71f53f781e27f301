//! How a reconcile of a set ended.

use tiphys_model::resources::ApplicationSet;

use crate::appset::{ApplicationError, GenerateErrorReason, Guard, Plan, PlanError, Policy};

/// Message of [`Outcome::RollingSync`].
const ROLLING_SYNC: &str = "spec.strategy: RollingSync is not supported; use AllAtOnce, or have Argo CD's controller reconcile this set";

/// The annotation of a set that allows all deletions of the generation that is its value.
pub const ALLOW_DELETIONS_ANNOTATION: &str = "tiphys/allow-deletions";

/// The outcome of a reconcile of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All Applications are as generated, as far as the policy permits.
    UpToDate,
    /// It failed.
    Failed {
        /// The failed step.
        reason: FailureReason,
        /// The message of the conditions.
        message: String,
    },
    /// It would delete too many Applications. Nothing was done.
    Guarded(Guard),
    /// The set uses a rolling sync, which is not supported. Nothing was done.
    RollingSync,
    /// Another controller, with this field manager, reconciles the set. Nothing was done.
    OtherController(String),
}

/// The failed step of a reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureReason {
    /// A generator failed, or has no answer: nothing was done.
    Generator,
    /// The template or the patch failed: nothing was done.
    Template,
    /// The controller may not read what it needs to generate: nothing was done.
    Permission,
    /// The policy is unknown: nothing was done.
    Policy,
    /// Generated Applications are invalid, or could not be checked.
    Validation,
    /// An Application could not be created, by a policy that forbids updates.
    Create,
    /// An Application could not be created or updated.
    Update,
    /// An Application could not be deleted.
    Delete,
    /// The refresh annotation could not be removed.
    Refresh,
}

impl FailureReason {
    /// Returns the reason of the condition `ErrorOccurred`. Those of a permission and of the policy are ours.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Generator => "ApplicationGenerationFromParamsError",
            Self::Template => "RenderTemplateParamsError",
            Self::Permission => "PermissionDenied",
            Self::Policy => "UnknownPolicy",
            Self::Validation => "ApplicationValidationError",
            Self::Create => "CreateApplicationError",
            Self::Update => "UpdateApplicationError",
            Self::Delete => "DeleteApplicationError",
            Self::Refresh => "RefreshApplicationError",
        }
    }

    /// Whether the parameters had been generated before.
    pub(super) fn has_parameters(self) -> bool {
        !matches!(self, Self::Generator | Self::Template | Self::Permission)
    }
}

impl Outcome {
    /// Returns the outcome for a set that must not be reconciled because of its strategy. As in Argo CD, a `RollingSync` without the block
    /// `rollingSync` is none.
    pub fn of_strategy(set: &ApplicationSet) -> Option<Self> {
        let strategy = set.strategy.as_ref()?;
        let is_rolling = strategy["type"] == "RollingSync" && !strategy["rollingSync"].is_null();
        is_rolling.then_some(Self::RollingSync)
    }

    /// Returns the outcome of a plan whose actions were executed, except for those that failed. Of several errors, the one of the first name
    /// is reported; of those of validation, the last. An error of creating and changing precedes one of deleting.
    pub fn of_plan(plan: &Plan, failures: &[ApplicationError]) -> Self {
        if let Some(guard) = plan.guard {
            return Self::Guarded(guard);
        }
        let planned = match &plan.error {
            None => None,
            Some(PlanError::Application(error)) => Some(error),
            Some(PlanError::Generate(error)) => {
                return Self::failed(error.reason.into(), error.message.clone());
            }
            Some(error @ PlanError::Incomplete(_)) => {
                return Self::failed(FailureReason::Generator, error.to_string());
            }
            Some(error @ PlanError::Policy { .. }) => {
                return Self::failed(FailureReason::Policy, error.to_string());
            }
        };
        let (deletions, changes): (Vec<_>, Vec<_>) =
            failures.iter().partition(|failure| is_deletion(plan, failure));
        if let Some(error) = first(changes.into_iter().chain(planned)) {
            let permits_updates = plan.policy.is_none_or(Policy::permits_updates);
            let reason = if permits_updates { FailureReason::Update } else { FailureReason::Create };
            return Self::failed(reason, error.message.clone());
        }
        match (first(deletions.into_iter()), &plan.validation_error) {
            (Some(error), _) => Self::failed(FailureReason::Delete, error.message.clone()),
            (None, Some(message)) => Self::failed(FailureReason::Validation, message.clone()),
            (None, None) => Self::UpToDate,
        }
    }

    fn failed(reason: FailureReason, message: String) -> Self {
        Self::Failed { reason, message }
    }

    /// Returns the message of the conditions.
    pub fn message(&self) -> String {
        match self {
            Self::UpToDate => "All applications have been generated successfully".to_owned(),
            Self::Failed { message, .. } => message.clone(),
            Self::Guarded(guard) => {
                format!(
                    "{guard} by the annotation {ALLOW_DELETIONS_ANNOTATION}: its value must be metadata.generation of the set"
                )
            }
            Self::RollingSync => ROLLING_SYNC.to_owned(),
            Self::OtherController(manager) => {
                format!("{manager} reconciles this set, too; stop one of the controllers")
            }
        }
    }

    /// Whether `resources` become those of the Applications that exist now. As in Argo CD, a reconcile that fails earlier keeps them.
    pub(super) fn has_current_resources(&self) -> bool {
        match self {
            Self::UpToDate | Self::Guarded(_) => true,
            Self::Failed { reason, .. } => {
                matches!(reason, FailureReason::Validation | FailureReason::Refresh)
            }
            Self::RollingSync | Self::OtherController(_) => false,
        }
    }
}

impl From<GenerateErrorReason> for FailureReason {
    fn from(reason: GenerateErrorReason) -> Self {
        match reason {
            GenerateErrorReason::Generator => Self::Generator,
            GenerateErrorReason::Template => Self::Template,
        }
    }
}

fn is_deletion(plan: &Plan, failure: &ApplicationError) -> bool {
    plan.applications.iter().any(|one| one.name == failure.name && one.is_deleted())
}

fn first<'a>(errors: impl Iterator<Item = &'a ApplicationError>) -> Option<&'a ApplicationError> {
    errors.min_by(|one, other| one.name.cmp(&other.name))
}
