//! Arguments of `cache`.

use clap::{Args, Subcommand};

use super::shared;

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
  tiphys cache prune                               down to the limit cache-size-max
  tiphys cache prune --limit cache-size-max=1GiB
  tiphys cache prune --limit cache-size-max=0      everything")]
pub(crate) struct CachePruneArgs {
    #[command(flatten)]
    pub(crate) shared: shared::Tool,
}
