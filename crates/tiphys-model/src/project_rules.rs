//! The rules of an `AppProject`: the repositories, destinations and kinds that it permits, the objects that its applications may read, and
//! the credentials that they may use.
//!
//! Pure: the project, the clusters, the address and the known repositories are arguments.

mod application_namespaces;
mod credentials;
mod destinations;
mod git_access;
mod kinds;
mod look_ups;
mod refused;
mod restrictions;
mod rule_error;
mod rules;
mod source_repos;

pub use application_namespaces::NamespacePattern;
pub use credentials::{source_access, submodule_access};
pub use destinations::{Cluster, ProjectCluster};
pub use git_access::{GIT_ACCESS_VARIABLE, GitVariables, ProjectGitAccess};
pub use kinds::{PermittedBy, Scope};
pub use look_ups::{ObjectIdentity, Permit};
pub use refused::Refused;
pub use restrictions::unenforced_fields;
pub use rule_error::{RuleError, RuleProblem};
pub use rules::{Permission, ProjectRules};
pub use source_repos::{permits_source, source_permitted, unmatched_source_repos};
