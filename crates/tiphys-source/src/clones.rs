//! State of clones that concurrent requests share.

use std::sync::{Arc, OnceLock};

use moka::sync::Cache;
use tokio::sync::Mutex;

use crate::SourceError;
use crate::clone_key::CloneKey;
use crate::clone_names::{self, SECRET_BYTES};
use crate::lookup::{IDLE_MAX, Lookup};
use crate::options::SourceOptions;
use crate::refs::Refs;

/// Number of clones whose state stays in memory.
const CLONES_MAX: u64 = 4096;

/// The clones of one service, by key. The least recently used ones leave memory; their files stay in the cache directory.
pub(crate) struct Clones {
    by_key: Cache<CloneKey, Arc<SharedClone>>,
    secret: OnceLock<[u8; SECRET_BYTES]>,
}

/// State of one clone.
#[derive(Default)]
pub(crate) struct SharedClone {
    /// Held while this process fetches into the clone. Other processes are excluded by a file lock.
    pub(crate) fetching: Mutex<()>,
    /// Branches and tags.
    pub(crate) refs: Lookup<Arc<Refs>>,
}

impl Clones {
    /// Returns the state of a clone.
    pub(crate) fn get(&self, key: &CloneKey) -> Arc<SharedClone> {
        self.by_key.get_with_by_ref(key, Arc::default)
    }

    /// Returns the name of a clone's directory.
    pub(crate) fn directory_name(
        &self,
        key: &CloneKey,
        options: &SourceOptions,
    ) -> Result<String, SourceError> {
        if let Some(secret) = self.secret.get() {
            return Ok(key.directory_name(secret));
        }
        let secret = clone_names::secret(&options.cache_dir)?;
        Ok(key.directory_name(self.secret.get_or_init(|| secret)))
    }
}

impl Default for Clones {
    fn default() -> Self {
        let by_key = Cache::builder().max_capacity(CLONES_MAX).time_to_idle(IDLE_MAX).build();
        Self { by_key, secret: OnceLock::new() }
    }
}
