//! Arguments of `check`.

use clap::Args;

use super::{ApplicationArgs, FollowArgs, shared};

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is rendered, fetched or run, but for --store-render and --follow. Reported are fields that Argo CD does not have or requires, rules of projects, and unknown
plugins; in repositories that a folder of --repo stands for also paths and value files that do not exist, values that have no effect in
their chart, and what the annotation manifest-generate-paths does not select. With --follow, applications are rendered to find those that they
render. Without APP, the application sets of the store are checked, too. `params check` also asks plugins.

Exit code: 0 without errors, 2 with errors, 3 if a project forbids something. With --strict, what Argo CD refuses is an error instead of a warning.

Examples:
  tiphys check --repo .
  tiphys check --repo . --strict -o json"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) following: FollowArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}
