//! Arguments of `cache`.

use clap::{Args, Subcommand};

/// Arguments of `cache`.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Remove the clones, charts and trees that were not used for longest
    Prune(CachePruneArgs),
}

/// Arguments of `cache prune`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tiphys cache prune                                    until the cache has at most --cache-size-max bytes
  tiphys cache prune --cache-size-max 1073741824        until it has at most 1 GiB
  tiphys cache prune --cache-size-max 0                 all of it")]
pub(crate) struct CachePruneArgs {}
