//! Arguments of `check`.

use clap::Args;

use super::{ApplicationArgs, FollowArgs, shared};

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is rendered, fetched or run, but for --store-render, --follow and --helm-compare. Reported are fields that Argo CD does not have or requires, rules of projects, and unknown
plugins; in repositories that a folder of --repo stands for also paths and value files that do not exist, values that have no effect in
their chart, and what the annotation manifest-generate-paths does not select. With --follow, applications are rendered to find those that they
render. Without APP, the application sets of the store are checked, too. `params check` also asks plugins.

--helm-compare prints for each application with a chart `equal`, `different` with the first object and field, `left to helm` with the reason, or
`fails`, if both engines fail. Charts that other plugins or plugin servers render are not compared. `different` and `fails` are errors.

Exit code: 0 without errors, 2 with errors, 3 if a project forbids something. With --strict, what Argo CD refuses is an error instead of a warning.

Examples:
  tiphys check --repo .
  tiphys check --repo . --strict -o json
  tiphys check --repo . --helm-compare"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) following: FollowArgs,
    /// Instead render all charts with the built-in engine and with helm, and compare the results
    #[arg(long, conflicts_with = "follow")]
    pub(crate) helm_compare: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}
