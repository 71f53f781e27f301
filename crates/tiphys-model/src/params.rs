//! Parameters and announcements: data model, merging, validation, assignments, encoding into a plugin's environment, and references to
//! variables in strings.
//!
//! The rules are those of the proposal "Parameterized Config Management Plugins".

mod announcement;
mod assignment;
mod check;
mod environment;
mod exit_status;
mod expand;
mod field;
mod image;
mod merge;
mod resolved;
mod shape;
mod suggest;
mod value;

pub use announcement::{
    Announcement, AnnouncementEntry, AnnouncementError, AnnouncementProblem, Announcements, CollectionType,
    Default, DynamicOutputError, IgnoredKey, IgnoredReason, ItemType, JsonType, Place, RawAnnouncement,
    Types, decode_announcement_entries, decode_announcements, decode_dynamic_output,
};
pub use assignment::{
    Applied, ApplyError, Assignment, Edited, Form, InEffect, Operand, OperandError, OperandOrigin,
    ParameterChange, ParameterValue, Part, SyntaxError, Target, apply, read_operand, read_values,
};
pub use check::{
    COMPARISONS_MAX, Item, Problem, ProblemKind, check_default, check_value, check_values, is_number,
};
pub use environment::{
    AnnouncedCollision, Collision, EnvVar, Origin, ValuePart, Winner, announced_collisions, app_parameters,
    collisions, deduplicated, escape, parameter_variables,
};
pub use exit_status::{ABOVE_LIMIT_STATUS, ENGINES_DIFFER_STATUS, ONLY_HELM_STATUS};
pub use expand::{BUILD_VARIABLES, PLUGIN_ENV_PREFIX, Piece, expand, pieces};
pub use field::{Field, Input, fields};
pub use image::Image;
pub use merge::merge_announcements;
pub use resolved::{
    APP_PARAMETERS, REDACTED_CHARS_MIN, ResolvedParameter, SecretMasks, ValueRedactor, add_resolved,
    with_resolved,
};
pub use shape::Shape;
pub use suggest::{SUGGESTIONS_MAX, suggest};
pub use value::{NamelessParameter, Parameter, Parameters, Warning, require_names};
