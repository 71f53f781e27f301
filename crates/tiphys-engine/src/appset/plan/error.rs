//! Errors of a plan.

use crate::appset::GenerateError;

/// Why a reconcile fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A generator or a template failed: nothing is done.
    #[error(transparent)]
    Generate(GenerateError),
    /// Generators have questions without an answer: nothing is done.
    #[error("{0} questions of generators have no answer")]
    Incomplete(usize),
    /// The policy is unknown: nothing is done.
    #[error("{place}: {policy:?} is not a policy; use create-only, create-update, create-delete or sync")]
    Policy {
        /// The field or the setting.
        place: &'static str,
        /// The unknown policy.
        policy: String,
    },
    /// An Application cannot be created or changed. Of several, the one with the first name.
    #[error(transparent)]
    Application(ApplicationError),
}

/// An Application cannot be created, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApplicationError {
    /// Name of the Application.
    pub name: String,
    /// The reason, in Argo CD's words or in those of the API server.
    pub message: String,
}
