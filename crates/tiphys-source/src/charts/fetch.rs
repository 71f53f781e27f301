//! From a chart's name and a revision to an archive in the cache.

use std::sync::Arc;
use std::time::Instant;

use tiphys_versions::{Version, VersionRange};

use super::artefact::{Artefact, Digest};
use super::cache::ArchiveCache;
use super::opened::Opened;
use super::registry::Registry;
use super::repository::HelmRepository;
use super::{ChartError, ChartFiles, ChartSource, FoundChart, Shared};
use crate::SourceError;
use crate::options::{Freshness, Network, Progress, SourceOptions};

/// Who has the chart.
enum Server<'a> {
    Repository(HelmRepository<'a>),
    Registry(Registry<'a>),
}

pub(super) struct Fetch<'a> {
    source: &'a ChartSource,
    options: &'a SourceOptions,
    cache: ArchiveCache,
    server: Server<'a>,
    /// [`Opened::identity`].
    identity: &'a str,
}

impl<'a> Fetch<'a> {
    /// The time for the whole chart begins to run.
    pub(super) fn new(
        opened: &'a Opened,
        options: &'a SourceOptions,
        shared: &'a Shared,
    ) -> Result<Self, SourceError> {
        let Opened { source, identity, .. } = opened;
        let server = if source.is_of_registry() {
            Server::Registry(Registry::new(opened, options, shared)?)
        } else {
            Server::Repository(HelmRepository::new((source, identity), options, shared)?)
        };
        Ok(Self { source, options, cache: ArchiveCache::new(options), server, identity })
    }

    /// Finds the chart and has it in the cache.
    pub(super) fn find(&self) -> Result<FoundChart, SourceError> {
        let wanted = self.source.target_revision.trim();
        let artefact = if self.options.network == Network::Offline {
            self.known(wanted).ok_or_else(|| self.offline(wanted))?
        } else if self.is_exact(wanted) {
            self.exact(wanted)?
        } else {
            let found = if Version::parse(wanted).is_ok() && !self.source.chart.is_empty() {
                self.partial(wanted)?
            } else {
                self.looked_up(wanted)?
            };
            self.cache.remember(&self.key(wanted), &found)?;
            found
        };
        Ok(FoundChart {
            revision: artefact.revision.clone(),
            shown: self.source.shown(),
            files: Arc::new(ChartFiles::Archive(artefact)),
        })
    }

    /// Whether a revision stands for the same files for ever.
    fn is_exact(&self, revision: &str) -> bool {
        if self.source.chart.is_empty() {
            return revision.starts_with("sha256:") && Digest::parse(revision).is_some();
        }
        // `1.2` is a version, and helm takes the newest `1.2.x` for it.
        let numbers = revision.split(['-', '+']).next().unwrap_or_default();
        Version::parse(revision).is_ok() && numbers.split('.').count() == 3
    }

    /// What a version with fewer than three numbers stands for now. It is told as it is written, as Argo CD does.
    fn partial(&self, wanted: &str) -> Result<Artefact, SourceError> {
        let found = match &self.server {
            Server::Registry(_) => self.fetched(wanted)?,
            Server::Repository(repository) => self.exact(&repository.selected(wanted)?)?,
        };
        Ok(Artefact { revision: wanted.to_owned(), ..found })
    }

    /// What a range, or a tag of an artefact, stands for now.
    fn looked_up(&self, wanted: &str) -> Result<Artefact, SourceError> {
        let revision = match &self.server {
            Server::Registry(registry) if self.source.chart.is_empty() => {
                registry.digest_of(wanted, |tags| newest(wanted, tags))?
            }
            Server::Registry(registry) => newest(wanted, &registry.tags()?)?,
            Server::Repository(repository) => repository.newest(|versions| {
                let versions: Vec<String> = versions.iter().map(|&version| version.to_owned()).collect();
                newest(wanted, &versions)
            })?,
        };
        self.exact(&revision)
    }

    fn exact(&self, revision: &str) -> Result<Artefact, SourceError> {
        if self.options.freshness == Freshness::Cached
            && let Some(known) = self.known(revision)
        {
            return Ok(known);
        }
        self.fetched(revision)
    }

    fn fetched(&self, revision: &str) -> Result<Artefact, SourceError> {
        let shown = self.source.shown();
        self.options.report(&Progress::Fetching { repository: &shown, revision });
        let begun = Instant::now();
        let artefact = match &self.server {
            Server::Registry(registry) => registry.fetch(revision, &self.cache)?,
            Server::Repository(repository) => repository.fetch(revision, &self.cache)?,
        };
        self.cache.remember(&self.key(revision), &artefact)?;
        self.options.report(&Progress::Fetched { repository: &shown, duration: begun.elapsed() });
        Ok(artefact)
    }

    fn known(&self, revision: &str) -> Option<Artefact> {
        self.cache.known(&self.key(revision))
    }

    fn key<'b>(&'b self, revision: &'b str) -> [&'b str; 4] {
        [self.identity, self.source.repo_url.trim().trim_end_matches('/'), &self.source.chart, revision]
    }

    fn offline(&self, wanted: &str) -> SourceError {
        let what = match self.source.chart.as_str() {
            "" => format!("revision {wanted:?}"),
            chart => format!("chart {chart:?} version {wanted:?}"),
        };
        SourceError::Offline { repository: self.source.shown(), what }
    }
}

/// The newest version of a range; a text that is no range may be a version by its very name.
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
