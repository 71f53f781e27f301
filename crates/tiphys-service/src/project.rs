//! Permissions of projects.

mod look_ups;
mod object_address;
mod permits;
mod source_repos;

pub use look_ups::{ApplicationLookUps, look_ups};
pub use object_address::{parse_object_address, require_possible};
pub use permits::{ObjectRequest, ProjectAnswer, ProjectFiles, ProjectQuestion, project_permits};
pub use source_repos::unmatched_sources;
