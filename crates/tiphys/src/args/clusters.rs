//! Options that give access to the live objects of clusters.

use std::path::PathBuf;

use clap::{ArgAction, Args};

// Where the live objects of clusters are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clusters")]
pub(crate) struct ClusterArgs {
    /// Folder with live objects of a destination cluster. NAME is the cluster's name or URL; default: the cluster of Argo CD itself
    #[arg(long, value_name = "[NAME=]DIR", global = true, env = "TIPHYS_CLUSTER_STATE", action = ArgAction::Append)]
    pub(crate) cluster_state: Vec<String>,

    /// File with contexts of live clusters; default with `--context`: those of `KUBECONFIG`, else `~/.kube/config`. Without `--context`, its
    /// current context is used for the cluster of Argo CD itself
    #[arg(long, value_name = "FILE", global = true, action = ArgAction::Append)]
    pub(crate) kubeconfig: Vec<PathBuf>,

    /// Context with which a live cluster is read. NAME is the cluster's name or URL; default: the cluster of Argo CD itself
    #[arg(long, value_name = "[NAME=]CONTEXT", global = true, env = "TIPHYS_CONTEXT", action = ArgAction::Append)]
    pub(crate) context: Vec<String>,

    /// Read the cluster of Argo CD itself with the service account of this pod
    #[arg(long, global = true)]
    pub(crate) in_cluster: bool,

    /// Folder or file with Argo CD's cluster Secrets, with which live clusters are read; outside of the rendered repositories
    #[arg(long, value_name = "PATH", global = true, env = "TIPHYS_CLUSTER_SECRETS", action = ArgAction::Append)]
    pub(crate) cluster_secrets: Vec<PathBuf>,
}
