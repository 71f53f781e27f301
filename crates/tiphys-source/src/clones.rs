//! State of clones that concurrent requests share.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use moka::sync::Cache;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::SourceError;
use crate::clone_key::CloneKey;
use crate::clone_names::{self, SECRET_BYTES};
use crate::options::SourceOptions;
use crate::refs::Refs;

/// Number of clones whose state stays in memory.
const CLONES_MAX: u64 = 4096;

/// Time after which the state of an unused clone leaves memory.
const IDLE_MAX: Duration = Duration::from_hours(1);

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
    /// The last look-up of branches and tags. Held during a look-up, so that concurrent requests wait for it instead of repeating it.
    pub(crate) lookup: Mutex<Option<RefsLookup>>,
}

/// Branches and tags, and when their look-up began.
pub(crate) struct RefsLookup {
    pub(crate) begun: Instant,
    pub(crate) refs: Arc<Refs>,
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

impl fmt::Debug for Clones {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clones").field("count", &self.by_key.entry_count()).finish_non_exhaustive()
    }
}
