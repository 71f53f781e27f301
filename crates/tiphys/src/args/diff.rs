//! Arguments of `diff`, and how differences are printed.

use clap::{ArgAction, Args};

use super::{ApplicationArgs, BaseArgs};

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys diff --repo . --cluster-state live/              what a sync would change in the cluster that live/ is a copy of
  tiphys diff guestbook --cluster-state prod=live/prod    one application, whose destination is named prod
  tiphys diff --cluster-state live/ -o markdown           for a comment on a pull request
  tiphys diff --repo . --base origin/main --merge-base    what this branch changes in the manifests of all applications

Exit code: 0 if nothing differs, 1 if something does, 2 and more if something failed.
KUBECTL_EXTERNAL_DIFF names a program that shows the differences instead; it gets two folders, as from kubectl.")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) shown: DiffOutputArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
}

/// How differences are printed.
#[derive(Debug, Args)]
pub(crate) struct DiffOutputArgs {
    /// Equal lines around each difference
    #[arg(short = 'U', long, value_name = "N", default_value_t = tiphys_engine::diff::DEFAULT_CONTEXT_LINES)]
    pub(crate) context_lines: usize,

    /// Exit with 1 if something differs; `--exit-code=false`: with 0
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    pub(crate) exit_code: bool,

    /// Bytes of a comment that -o markdown writes; what does not fit is counted and named. GitHub takes 65,536
    #[arg(long, value_name = "BYTES", default_value_t = 60_000, value_parser = clap::value_parser!(u64).range(2_000..))]
    max_bytes: u64,

    /// No colours, even on a terminal
    #[arg(long)]
    pub(crate) no_color: bool,
}

impl DiffOutputArgs {
    /// Bytes of a comment.
    pub(crate) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_bytes).unwrap_or(usize::MAX)
    }
}
