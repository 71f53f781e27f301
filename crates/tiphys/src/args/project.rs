//! Arguments of `project`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ApplicationArgs, shared};

#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    pub(crate) command: ProjectCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProjectCommand {
    /// Report whether a project permits something
    Permits(ProjectPermitsArgs),
    /// List what the dynamic parameters of applications read, and the rule that permits it
    Check(ProjectCheckArgs),
    /// List the applications that read an object
    Readers(ProjectReadersArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "No object is read. The kinds are those of the destination cluster, or of its folder (--cluster-state), else those of Kubernetes.
A pattern of `sourceRepos` that matches no repository in Argo CD is a warning.

Exit code: 3 if a look-up is not permitted.

Examples:
  tiphys project check
  tiphys project check guestbook -o json"
)]
pub(crate) struct ProjectCheckArgs {
    #[command(flatten)]
    pub(crate) applications: ApplicationArgs,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tiphys project readers ConfigMap/infra/dns\n  tiphys project readers Gateway.gateway.networking.k8s.io/edge/public -o json"
)]
pub(crate) struct ProjectReadersArgs {
    /// The object: `KIND[.GROUP]/NAMESPACE/NAME`, or `KIND[.GROUP]/NAME` if it is cluster-scoped
    #[arg(value_name = "OBJECT")]
    pub(crate) object: String,
    #[command(flatten)]
    pub(crate) shared: shared::Workspace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The question is one of: --repo URL; --destination and --namespace; --kind, also with --destination. With --namespace a kind is
namespaced, else it is cluster-scoped. `-o json` prints `permitted`, `reason` and, of a look-up, `rule`.

Exit code: 0 if the project permits it, else 3. A project with an invalid rule permits nothing.

Examples:
  tiphys project permits --project team.yaml --repo https://git.example.org/team/apps.git
  tiphys project permits --project team.yaml --destination https://kubernetes.default.svc --namespace shop
  tiphys project permits --project team.yaml --kind ClusterRole --group rbac.authorization.k8s.io
  tiphys project permits --project team.yaml --look-up --destination in-cluster --kind ConfigMap --namespace infra --name dns"
)]
pub(crate) struct ProjectPermitsArgs {
    /// File with the project
    #[arg(long, value_name = "FILE")]
    pub(crate) project: PathBuf,

    /// File with a global project that applies to it
    #[arg(long, value_name = "FILE")]
    pub(crate) global: Vec<PathBuf>,

    /// File or folder with Argo CD's cluster Secrets
    #[arg(long, value_name = "PATH")]
    pub(crate) clusters: Option<PathBuf>,

    /// URL of a repository
    #[arg(long = "repo", value_name = "URL", id = "url")]
    pub(crate) url: Vec<String>,

    /// URL or name of the destination's cluster
    #[arg(long, value_name = "URL|NAME")]
    pub(crate) destination: Option<String>,

    /// Namespace of the destination or object
    #[arg(long, value_name = "NS")]
    pub(crate) namespace: Option<String>,

    /// Kind of the object
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// API group of the object; default: the core group
    #[arg(long, value_name = "GROUP", requires = "kind")]
    pub(crate) group: Option<String>,

    /// Name of the object
    #[arg(long, value_name = "NAME", requires = "kind")]
    pub(crate) name: Option<String>,

    /// Ask whether a dynamic parameter may read the object
    #[arg(long, requires = "kind", requires = "destination")]
    pub(crate) look_up: bool,
    #[command(flatten)]
    pub(crate) shared: shared::Printer,
}
