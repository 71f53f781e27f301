//! Selection of applications.

use std::path::PathBuf;

use clap::Args;
use tiphys_service::{ApplicationSelection, WorkspaceOptions};

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

// Applications that applications render.
#[derive(Debug, Args)]
pub(crate) struct FollowArgs {
    /// Treat Applications and ApplicationSets that an application renders like those of the store (apps of apps)
    #[arg(long)]
    pub(crate) follow: bool,

    /// Folder with a kustomization or a chart that renders the Applications; replaces the default of `--store`
    #[arg(long, value_name = "DIR", id = "storeRender")]
    store_render: Option<PathBuf>,
}

impl FollowArgs {
    /// Returns the needs of a request about selected applications.
    pub(crate) fn needs(&self, selection: &ApplicationSelection) -> WorkspaceOptions {
        if self.follow {
            WorkspaceOptions::following(selection)
        } else {
            WorkspaceOptions::for_selection(selection)
        }
    }
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
