//! Resolves a chart's revision and downloads its archive into the cache.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tiphys_go::versions::{Version, VersionRange};

use super::artefact::{Artefact, Digest};
use super::cache::ArchiveCache;
use super::opened::Opened;
use super::registry::Registry;
use super::repository::HelmRepository;
use super::{ChartError, ChartFiles, ChartSource, Charts, FoundChart};
use crate::options::{Freshness, Network, Progress, SourceOptions};
use crate::{SourceError, SourceRequest};

/// The server with the chart.
enum Server<'a> {
    Repository(Box<HelmRepository<'a>>),
    Registry(Box<Registry<'a>>),
}

pub(super) struct Fetch<'a> {
    source: &'a ChartSource,
    options: &'a SourceOptions,
    request: &'a SourceRequest,
    cache: ArchiveCache,
    server: Server<'a>,
    /// [`Opened::identity`].
    identity: &'a str,
}

impl<'a> Fetch<'a> {
    /// The deadline of the chart starts now.
    pub(super) fn new(opened: &'a Opened, charts: &'a Charts) -> Result<Self, SourceError> {
        let Opened { source, identity, .. } = opened;
        let (options, request) = (&*charts.options, &*charts.request);
        let server = if source.is_of_registry() {
            Server::Registry(Box::new(Registry::new(opened, charts)?))
        } else {
            Server::Repository(Box::new(HelmRepository::new(opened, charts)?))
        };
        Ok(Self { source, options, request, cache: ArchiveCache::new(options), server, identity })
    }

    /// Resolves the target revision, and downloads the archive unless it is cached.
    pub(super) async fn find(&self) -> Result<FoundChart, SourceError> {
        let wanted = self.source.target_revision.trim();
        let artefact = if self.request.network == Network::Offline {
            let is_exact = self.is_exact(wanted);
            let known = if is_exact {
                self.known(wanted).await
            } else {
                self.looked_up_before(wanted, Duration::MAX).await
            };
            known.ok_or_else(|| self.offline(wanted))?
        } else if self.is_exact(wanted) {
            self.exact(wanted).await?
        } else if let Some(known) = self.looked_up_before(wanted, self.request.lookup_age_max).await {
            known
        } else {
            let found = if Version::parse(wanted).is_ok() && !self.source.chart.is_empty() {
                self.partial(wanted).await?
            } else {
                self.looked_up(wanted).await?
            };
            self.cache.remember(&self.key(wanted), &found).await?;
            found
        };
        Ok(FoundChart {
            revision: artefact.revision.clone(),
            shown: self.source.shown(),
            files: Arc::new(ChartFiles::Archive(artefact)),
        })
    }

    /// Whether a revision always refers to the same files.
    fn is_exact(&self, revision: &str) -> bool {
        if self.source.chart.is_empty() {
            return revision.starts_with("sha256:") && Digest::parse(revision).is_some();
        }
        // `1.2` is a version, but Helm selects the newest `1.2.x` for it.
        let numbers = revision.split(['-', '+']).next().unwrap_or_default();
        Version::parse(revision).is_ok() && numbers.split('.').count() == 3
    }

    /// Resolves a version with fewer than three numbers. The result keeps the version as written, as in Argo CD.
    async fn partial(&self, wanted: &str) -> Result<Artefact, SourceError> {
        let found = match &self.server {
            Server::Registry(_) => self.fetched(wanted).await?,
            Server::Repository(repository) => self.exact(&repository.selected(wanted).await?).await?,
        };
        Ok(Artefact { revision: wanted.to_owned(), ..found })
    }

    /// Resolves a range, or a tag of an artefact.
    async fn looked_up(&self, wanted: &str) -> Result<Artefact, SourceError> {
        let revision = match &self.server {
            Server::Registry(registry) if self.source.chart.is_empty() => {
                registry.digest_of(wanted, |tags| newest(wanted, tags)).await?
            }
            Server::Registry(registry) => newest(wanted, &registry.tags().await?)?,
            Server::Repository(repository) => {
                let choose = |versions: &[&str]| {
                    let versions: Vec<String> = versions.iter().map(|&version| version.to_owned()).collect();
                    newest(wanted, &versions)
                };
                repository.newest(choose).await?
            }
        };
        self.exact(&revision).await
    }

    async fn exact(&self, revision: &str) -> Result<Artefact, SourceError> {
        if self.request.freshness == Freshness::Cached
            && let Some(known) = self.known(revision).await
        {
            return Ok(known);
        }
        self.fetched(revision).await
    }

    async fn fetched(&self, revision: &str) -> Result<Artefact, SourceError> {
        let shown = self.source.shown();
        self.options.report(&Progress::Fetching { repository: &shown, revision });
        let begun = Instant::now();
        let artefact = match &self.server {
            Server::Registry(registry) => registry.fetch(revision, &self.cache).await?,
            Server::Repository(repository) => repository.fetch(revision, &self.cache).await?,
        };
        self.cache.remember(&self.key(revision), &artefact).await?;
        self.options.report(&Progress::Fetched { repository: &shown, duration: begun.elapsed() });
        Ok(artefact)
    }

    async fn known(&self, revision: &str) -> Option<Artefact> {
        self.cache.known(&self.key(revision)).await
    }

    /// Returns what an earlier command resolved the revision to, if that was not longer ago.
    async fn looked_up_before(&self, revision: &str, age_max: Duration) -> Option<Artefact> {
        self.cache.looked_up(&self.key(revision), age_max).await
    }

    fn key<'b>(&'b self, revision: &'b str) -> [&'b str; 4] {
        [self.identity, self.source.repo_url.trim().trim_end_matches('/'), &self.source.chart, revision]
    }

    pub(super) fn offline(&self, wanted: &str) -> SourceError {
        let what = match self.source.chart.as_str() {
            "" => format!("revision {wanted:?}"),
            chart => format!("chart {chart:?} version {wanted:?}"),
        };
        SourceError::Offline { repository: self.source.shown(), what }
    }
}

/// The newest version of a range. A string that is not a range must equal a version.
fn newest(wanted: &str, versions: &[String]) -> Result<String, SourceError> {
    let invalid = |reason: String| SourceError::from(ChartError::Revision { reason });
    match VersionRange::parse(wanted) {
        Ok(range) => {
            let newest = range.newest(versions.iter().map(String::as_str)).map(str::to_owned);
            let count = versions.len();
            newest.ok_or_else(|| invalid(format!("version matching constraint not found in {count} tags")))
        }
        Err(_) if versions.iter().any(|version| version == wanted) => Ok(wanted.to_owned()),
        Err(error) => Err(invalid(format!("failed to determine semver constraint: {error}"))),
    }
}
