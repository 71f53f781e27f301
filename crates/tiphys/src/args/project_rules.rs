//! Options about the rules of projects.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use tiphys_service::ProjectEnforcement;

// How the rules of projects are applied.
#[derive(Debug, Args)]
#[command(next_help_heading = "Projects")]
pub(crate) struct ProjectRuleArgs {
    /// Handling of an application that its project does not permit: an error, or a warning
    #[arg(long, value_name = "MODE", global = true, env = "TIPHYS_PROJECT_RULES", default_value = "enforce")]
    pub(crate) project_rules: ProjectRules,

    /// Folder or file with projects, in addition to the store; an application of a project that is nowhere is an error then
    #[arg(long, value_name = "DIR", global = true, env = "TIPHYS_PROJECTS", action = ArgAction::Append)]
    pub(crate) projects: Vec<PathBuf>,

    /// Refuse applications that Argo CD refuses (unknown fields, no destination, neither path nor chart), and those of projects that were not
    /// found, instead of a warning
    #[arg(long, global = true)]
    pub(crate) strict: bool,
}

/// Handling of an application that its project does not permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProjectRules {
    /// It is an error
    Enforce,
    /// It is a warning, and no values are read from clusters
    Warn,
}

impl From<ProjectRules> for ProjectEnforcement {
    fn from(arg: ProjectRules) -> Self {
        match arg {
            ProjectRules::Enforce => Self::Enforce,
            ProjectRules::Warn => Self::Warn,
        }
    }
}
