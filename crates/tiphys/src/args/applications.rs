//! Selection of applications.

use clap::Args;
use tiphys_service::ApplicationSelection;

// Selects applications of the store.
#[derive(Debug, Args)]
pub(crate) struct ApplicationArgs {
    /// Names of applications (`NAMESPACE/NAME` if ambiguous) or files; default: all applications
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
