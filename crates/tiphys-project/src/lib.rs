//! The rules of an `AppProject`: which repositories it permits, and which credentials its applications may use.
//!
//! Everything here is pure: the project, the address and what is known of repositories come in as values.

mod credentials;
mod glob;
mod restrictions;
mod source_repos;

pub use credentials::{source_access, submodule_access};
pub use glob::{Glob, GlobError, Slash};
pub use restrictions::restricted_fields;
pub use source_repos::{permits_source, source_permitted};
