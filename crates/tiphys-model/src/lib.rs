//! The values of the domain and the rules on them: Argo CD's resources, parameters, access to repositories, and projects.
//!
//! Nothing here does I/O: documents, clusters and known repositories are arguments.

pub mod access;
pub mod limits;
pub mod params;
pub mod project_rules;
pub mod resources;
