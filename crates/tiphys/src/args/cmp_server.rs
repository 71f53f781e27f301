//! Arguments of `cmp-server`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `cmp-server`.
#[derive(Debug, Args)]
#[command(after_help = "Example, in two terminals:
  tiphys cmp-server --config-dir-path ./plugins/kustomize --plugin-sockets /tmp/sockets
  tiphys render --plugin-sockets /tmp/sockets --repo .")]
pub(crate) struct CmpServerArgs {
    /// Folder that holds plugin.yaml
    #[arg(long, value_name = "DIR", default_value = "/home/argocd/cmp-server/config")]
    pub(crate) config_dir_path: PathBuf,

    /// Put this program into a folder as `argocd-cmp-server`, with a link `argocd` to it for git, and serve nothing: for an init
    /// container
    #[arg(long, value_name = "DIR")]
    pub(crate) install: Option<PathBuf>,

    /// Where received trees and private views are kept
    #[arg(long, value_name = "DIR", env = "ARGOCD_CMP_WORKDIR")]
    pub(crate) workdir: Option<PathBuf>,
}
