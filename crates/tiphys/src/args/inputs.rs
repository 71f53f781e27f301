//! Arguments of `inputs`.

use clap::Args;

use super::{ApplicationArgs, shared};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys inputs guestbook --repo .          the paths that it is made from, each with a reason
  tiphys inputs --repo . -o json | jq -r '.[] | select(any(.sources[]; .whole)).application'

Everything at and below a path counts. A path need not exist: a new file there changes the result. If anything is not understood, all files
of the revision count, and the reason is printed. Nothing is rendered.")]
pub(crate) struct InputsArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}
