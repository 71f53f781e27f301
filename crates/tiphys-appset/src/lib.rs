//! ApplicationSets as functions of values: parameter sets are combined, selected and rendered into Applications.
//!
//! Applications and templates are JSON values in the canonical form of [`tiphys_api::APPLICATION`].

mod combine;
mod engine;
mod generate;
mod normalize;
mod parameters;
mod patch;
mod question;
mod selector;
mod template;

pub use combine::{CombineError, combine_matrix, combine_merge};
pub use generate::{
    GenerateError, GenerateErrorReason, Generated, GeneratedApplication, generate, render_string,
};
pub use normalize::normalize_spec;
pub use parameters::{ParameterSet, TemplateMode};
pub use patch::{PatchError, apply_template_patch};
pub use question::{Answer, Answers, Question};
pub use selector::{ParameterSelector, SelectorError};
pub use template::{
    Engine, RESOURCES_FINALIZER, RenderError, RenderOptions, RenderPlace, merge_template, render_application,
};
