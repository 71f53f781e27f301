//! The rules of an `AppProject`: which repositories it permits, and which credentials its applications may use.
//!
//! This crate does no I/O: the project, the address and the known repositories are arguments.

mod credentials;
mod restrictions;
mod source_repos;

pub use credentials::{source_access, submodule_access};
pub use restrictions::restricted_fields;
pub use source_repos::{permits_source, source_permitted};
