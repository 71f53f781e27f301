//! ApplicationSets as functions of values: parameter sets are combined, selected and rendered into Applications, and compared with those that
//! exist.
//!
//! Applications and templates are JSON values in the canonical form of [`tiphys_model::resources::APPLICATION`].

mod check;
mod combine;
mod compact;
mod engine;
mod generate;
mod normalize;
mod parameters;
mod patch;
mod plan;
mod question;
mod record;
mod selector;
mod status;
mod template;

pub use check::{SetFinding, SetRule, check_set};
pub use combine::{CombineError, combine_matrix, combine_merge};
pub use compact::CompactValue;
pub use generate::{
    ClusterUse, GenerateError, GenerateErrorReason, GenerateOptions, Generated, GeneratedApplication,
    StringError, TemplateProject, cluster_use, generate, render_string, template_project,
};
pub use normalize::normalize_spec;
pub use parameters::{ParameterSet, TemplateMode};
pub use patch::{PatchError, apply_template_patch};
pub(crate) use plan::is_known_policy;
pub use plan::{
    Action, ApplicationError, Change, DEFAULT_MAX_DELETIONS_PERCENT, DEFAULT_REQUEUE_SECONDS,
    DestinationCluster, Event, Guard, JqRemoval, Plan, PlanError, PlanInput, PlanSettings,
    PlannedApplication, Policy, SetDeletion, check_destination, owned_applications, permits_deletions, plan,
    plan_set_deletion, requeue_after_seconds,
};
pub use question::{Answer, Answers, Question};
pub use record::ParameterRecord;
pub use selector::{ParameterSelector, SelectorError};
pub use status::{
    ALLOW_DELETIONS_ANNOTATION, DEFAULT_MAX_STATUS_RESOURCES, FailureReason, Outcome, REFRESH_ANNOTATION,
    StatusInput, refresh_patch, status,
};
pub use template::{
    Engine, RESOURCES_FINALIZER, RenderError, RenderOptions, RenderPlace, merge_template, render_application,
};
