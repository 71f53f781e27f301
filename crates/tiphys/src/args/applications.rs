//! Which applications a command is about.

use clap::Args;
use tiphys_service::ApplicationSelection;

/// Chooses applications of the store.
#[derive(Debug, Args)]
pub(crate) struct ApplicationArgs {
    /// Applications: names (`namespace/name` where needed) or files; none: all
    #[arg(value_name = "APP")]
    pub(crate) apps: Vec<String>,

    /// Only applications with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,

    /// Only applications of this project
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
}

impl From<&ApplicationArgs> for ApplicationSelection {
    fn from(args: &ApplicationArgs) -> Self {
        Self {
            applications: args.apps.clone(),
            selector: args.selector.clone(),
            project: args.project.clone(),
        }
    }
}
