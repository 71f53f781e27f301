//! Charts as archives, for a program that needs no trees.

use std::fmt;
use std::sync::Arc;

use tokio::time::Instant;

use super::artefact::Artefact;
use super::cache::ArchiveCache;
use super::fetch::Fetch;
use super::{ChartFiles, ChartSource, Charts};
use crate::lookup::LookupAge;
use crate::options::SourceOptions;
use crate::sources::blocking;
use crate::{SourceError, SourceRequest};

/// A chart of a Helm repository or registry, as it was packed.
#[derive(Clone, Debug)]
pub struct PackedChart {
    /// Its exact version.
    pub version: String,
    /// The archive of `helm package`.
    pub archive: Vec<u8>,
}

/// Charts of Helm repositories and registries, with a cache on disk.
pub struct PackedCharts(Charts);

impl fmt::Debug for PackedCharts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PackedCharts").field(&self.0.options).finish()
    }
}

impl PackedCharts {
    /// Returns the charts of one request. Nothing is fetched or written before [`Self::get`].
    pub fn new(options: SourceOptions, request: SourceRequest) -> Self {
        let lookup_age = LookupAge { request_begun: Instant::now(), age_max: request.lookup_age_max };
        Self(Charts::new(Arc::new(options), Arc::default(), Arc::new(request), lookup_age))
    }

    /// Resolves a chart, downloads it unless it is cached, and reads its archive.
    pub async fn get(&self, source: &ChartSource) -> Result<PackedChart, SourceError> {
        let opened = source.opened(&self.0.logins).await?;
        let fetch = Fetch::new(&opened, &self.0)?;
        let cache = ArchiveCache::new(&self.0.options);
        // A changed archive is removed, and fetched again once.
        for _ in 0..2 {
            let found = fetch.find().await?;
            if let ChartFiles::Archive(artefact) = &*found.files
                && let Some(archive) = read(&cache, artefact).await?
            {
                return Ok(PackedChart { version: found.revision, archive });
            }
        }
        Err(fetch.offline(&source.target_revision))
    }
}

async fn read(cache: &ArchiveCache, artefact: &Artefact) -> Result<Option<Vec<u8>>, SourceError> {
    let (cache, artefact) = (cache.clone(), artefact.clone());
    blocking(move || cache.read(&artefact)).await
}
