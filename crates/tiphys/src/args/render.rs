//! Arguments of `render`.

use std::path::PathBuf;

use clap::Args;
use tiphys_service::RenderAdjustments;

use super::ApplicationArgs;

/// Arguments of `render`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:
  tiphys render --repo .                                 all Applications below this folder, their repository being this one
  tiphys render guestbook argocd/billing -o json         two of them, as a List
  tiphys render ./apps/guestbook.yaml | kubectl diff -f -
  kubectl get applications -A -o yaml | tiphys render --store - --output-dir out/")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,

    /// Write one file per application, `<namespace>/<app>.yaml`, instead of printing
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,

    /// Write what was rendered, by what, and how long it took, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Print what could be rendered even if some applications failed
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Fill in the destination's namespace where a namespaced object has none
    #[arg(long)]
    pub(crate) set_namespace: bool,

    /// Leave out Secrets
    #[arg(long)]
    pub(crate) skip_secrets: bool,

    /// Print the environment that each plugin's commands get, instead of rendering
    #[arg(long)]
    pub(crate) print_env: bool,

    /// Leave each plugin's working folder behind, and say where it is
    #[arg(long)]
    pub(crate) keep_workdir: bool,
}

impl From<&RenderArgs> for RenderAdjustments {
    fn from(args: &RenderArgs) -> Self {
        Self { set_namespace: args.set_namespace, skip_secrets: args.skip_secrets }
    }
}
