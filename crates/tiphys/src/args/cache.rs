//! Arguments of `cache`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CacheCommand {
    /// Remove the least recently used clones, charts and trees from the cache
    Prune(CachePruneArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys cache prune                                    down to --cache-size-max bytes
  tiphys cache prune --cache-size-max 1073741824        down to 1 GiB
  tiphys cache prune --cache-size-max 0                 everything")]
pub(crate) struct CachePruneArgs {}
