//! Arguments of `render`.

use std::path::PathBuf;

use clap::Args;
use tiphys_service::RenderAdjustments;

use super::{ApplicationArgs, FollowArgs, shared};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[command(after_help = "Examples:
  tiphys render --repo .                                 all Applications below this folder, with its files as their repository
  tiphys render guestbook argocd/billing -o json         two applications as a List
  tiphys render ./apps/guestbook.yaml | kubectl diff -f -
  kubectl get applications -A -o yaml | tiphys render --store - --output-dir out/")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) following: FollowArgs,

    /// Write one file per application, `<namespace>/<app>.yaml`, instead of printing the manifests
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,

    /// Remove files that tiphys wrote to the output folder, and whose applications are gone; `.tiphys-files` in it lists them. None is removed while the
    /// applications of a set are not known
    #[arg(long, requires = "output_dir", conflicts_with_all = ["apps", "selector", "project", "keep_going", "watch"])]
    pub(crate) prune: bool,

    /// Write a JSON report with the revision, plugin and duration of each application, and the errors of failed ones
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Print the manifests of all other applications if some fail
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Continue, and render an application again when the value of one of its dynamic parameters changes. Live clusters are watched, folders of
    /// live objects are checked every second
    #[arg(long, requires = "output_dir", conflicts_with_all = ["report", "print_env", "keep_workdir", "follow"])]
    pub(crate) watch: bool,

    /// Set the destination's namespace on namespaced objects without one
    #[arg(long)]
    pub(crate) set_namespace: bool,

    /// Leave out Secrets
    #[arg(long)]
    pub(crate) skip_secrets: bool,

    /// Print the environment of each plugin's commands instead of rendering
    #[arg(long)]
    pub(crate) print_env: bool,

    /// Keep each plugin's working folder and print its path
    #[arg(long)]
    pub(crate) keep_workdir: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

impl RenderArgs {
    /// Whether all applications are selected.
    pub(crate) fn is_about_all(&self) -> bool {
        let ApplicationArgs { apps, selector, project } = &self.applications;
        apps.is_empty() && selector.is_none() && project.is_none()
    }
}

impl From<&RenderArgs> for RenderAdjustments {
    fn from(args: &RenderArgs) -> Self {
        Self { set_namespace: args.set_namespace, skip_secrets: args.skip_secrets }
    }
}
