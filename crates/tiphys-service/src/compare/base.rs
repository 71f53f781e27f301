//! The comparison of two revisions of the store, and of the sources of its applications.

mod compare;
mod pairs;
mod past;
mod plugins;
mod sides;
mod trust;
mod unheeded;

use std::sync::Arc;

use tiphys_plugin::RunSettings;
use tiphys_source::BaseRevision;
use tokio_util::sync::CancellationToken;

use crate::cache::Cache;
use crate::error::ServiceError;
use crate::host::Host;
use crate::options::ServiceOptions;
use crate::plugin;

pub use compare::{RevisionComparison, RevisionDiff};

/// Whose plugins run if they are in a compared work tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PluginsFrom {
    /// Those of the base, for both sides.
    #[default]
    Base,
    /// Those of the working copy, for both sides.
    Head,
    /// Each side's own.
    Each,
}

/// Which revision the working copy is compared with.
#[derive(Clone, Debug)]
pub struct RevisionOptions {
    /// The base.
    pub base: BaseRevision,
    /// Whose plugins run.
    pub plugins_from: PluginsFrom,
}

impl RevisionOptions {
    /// Returns the name of the base for messages and headings.
    pub fn base_label(&self) -> String {
        past::label(&self.base)
    }
}

/// What both sides of a comparison share.
pub struct RevisionWorkspace {
    runs: Arc<RunSettings>,
    cancel: CancellationToken,
    /// Removes its temporary store when it is dropped.
    cache: Cache,
}

impl RevisionWorkspace {
    /// Opens the cache. Refuses options that contradict a comparison of revisions.
    pub fn open(
        options: &ServiceOptions,
        host: &Host,
        cancel: CancellationToken,
    ) -> Result<Self, ServiceError> {
        if options.store_paths().iter().any(|path| path == "-") {
            return Err(ServiceError::invalid_input(
                "--base needs a store in a git repository; standard input has no revisions",
            ));
        }
        // The variable is meant for other commands too, so only a value from the command line contradicts.
        let usual = host.variable("TIPHYS_CLUSTER_STATE");
        if options.cluster_state.iter().any(|state| !state.is_empty() && Some(state.as_str()) != usual) {
            return Err(ServiceError::invalid_input(
                "--base compares two revisions, --cluster-state compares with live objects: use one of them",
            ));
        }
        let cache = Cache::open(options, host)?;
        let runs = plugin::default_run_settings(options, host, cache.trees(), None);
        Ok(Self { runs, cancel, cache })
    }

    /// Returns the token that cancels the comparison. Cancelled plugins are stopped in order, so the comparison should still be awaited.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
