//! A Helm repository: `index.yaml` and archives over HTTP.

use std::sync::Arc;

use tiphys_http::{Base, CredentialScope, Credentials, HttpUrl};

use tiphys_model::limits::Limit;

use super::artefact::{Artefact, Contents, Digest, Packing};
use super::cache::ArchiveCache;
use super::client::{Client, Parameters};
use super::error_context::{ErrorContext, Operation};
use super::index::{Index, IndexEntry, select};
use super::opened::Opened;
use super::{ChartError, ChartSource, Charts};
use crate::options::{Progress, SourceOptions};
use crate::sources::blocking;
use crate::{CredentialReach, SourceError};

pub(super) struct HelmRepository<'a> {
    source: &'a ChartSource,
    options: &'a SourceOptions,
    charts: &'a Charts,
    /// [`ChartSource::identity`].
    identity: &'a str,
    url: HttpUrl,
    client: Client<'a>,
    credentials: Option<Credentials>,
    errors: ErrorContext,
}

impl<'a> HelmRepository<'a> {
    pub(super) fn new(opened: &'a Opened, charts: &'a Charts) -> Result<Self, SourceError> {
        let Opened { source, identity, .. } = opened;
        let options = &*charts.options;
        let access = &source.access;
        let (url, in_url) = HttpUrl::parse(&source.repo_url).ok_or_else(|| ChartError::Address {
            repository: source.shown(),
            reason: "write an http or https URL of a Helm repository; for a registry HOST/PATH, with enableOCI: \"true\" in its Secret, or oci://HOST/PATH",
        })?;
        let errors = ErrorContext::new(opened, url.clone(), in_url.is_some(), options);
        let login = if access.username.is_empty() && access.password.is_empty() {
            in_url
        } else {
            Some((access.username.clone(), access.password.clone()))
        };
        let scope = match source.credentials {
            CredentialReach::OwnServer => CredentialScope::Origin(url.clone()),
            CredentialReach::EveryServer => CredentialScope::AllServers,
        };
        let credentials = login.map(|(user, password)| Credentials::basic(&user, password.expose(), scope));
        let client = Client::new(&charts.clients, (source, identity), options, url.clone());
        Ok(Self { source, options, charts, identity, url, client, credentials, errors })
    }

    /// Returns the version that `choose` selects among all versions of the chart.
    pub(super) async fn newest(
        &self,
        choose: impl FnOnce(&[&str]) -> Result<String, SourceError>,
    ) -> Result<String, SourceError> {
        let index = self.index().await?;
        let chart = &self.source.chart;
        let versions =
            index.versions(chart).ok_or_else(|| self.missing(&self.source.target_revision, &[]))?;
        let versions: Vec<&str> = versions.iter().map(|entry| entry.version.as_str()).collect();
        choose(&versions)
    }

    /// Returns the full version for one with fewer than three numbers.
    pub(super) async fn selected(&self, version: &str) -> Result<String, SourceError> {
        let index = self.index().await?;
        let versions = index.versions(&self.source.chart).unwrap_or_default();
        let entry = select(versions, version).ok_or_else(|| self.missing(version, versions))?;
        Ok(entry.version.clone())
    }

    /// Downloads a version.
    pub(super) async fn fetch(&self, version: &str, cache: &ArchiveCache) -> Result<Artefact, SourceError> {
        let index = self.index().await?;
        let versions = index.versions(&self.source.chart).unwrap_or_default();
        let entry = select(versions, version).ok_or_else(|| self.missing(version, versions))?;
        // A cached archive with the index's digest is not used: an index can name the digest of an archive that its repository does not
        // have, and that this user may not read.
        Ok(Artefact {
            revision: version.to_owned(),
            digest: self.download(entry, cache).await?,
            packing: Packing::TarGzip,
            contents: Contents::Folder(self.source.chart.rsplit('/').next().unwrap_or_default().to_owned()),
        })
    }

    async fn download(&self, entry: &IndexEntry, cache: &ArchiveCache) -> Result<Digest, SourceError> {
        let name = format!("chart {} {}", self.source.chart, entry.version);
        let deadline = self.client.deadline();
        let operation = Operation { what: &name, action: "fetching a chart of", deadline };
        let url = self.url.resolve(&entry.url, Base::Directory).filter(|_| !entry.url.is_empty());
        let url =
            url.ok_or_else(|| self.errors.invalid(&name, "the index names no http or https URL for it"))?;
        let sends_credentials_unencrypted = self.url.is_https()
            && !url.is_https()
            && self.credentials.is_some()
            && self.source.credentials == CredentialReach::EveryServer;
        if sends_credentials_unencrypted {
            let problem = format!(
                "the index names {url} for it, which has no TLS, and credentials would be sent there"
            );
            return Err(self.errors.invalid(&name, problem));
        }
        let response = self.client.get(&url, self.parameters(operation)).await;
        let response = response.map_err(|failure| self.errors.failed(operation, &failure))?;
        if response.status() != 200 {
            let missing = || self.errors.missing(operation, &response);
            let error = self.errors.refused(operation, &response, missing);
            return Err(self.with_other_server(error, &response.target().url));
        }
        let target = response.target().clone();
        let stored = cache.store(response, entry.digest.as_ref()).await;
        stored.map_err(|error| self.errors.not_stored(operation, target, error))
    }

    fn parameters(&self, operation: Operation<'_>) -> Parameters<'_> {
        Parameters { accept: "", credentials: self.credentials.as_ref(), deadline: operation.deadline }
    }

    /// Adds to an authentication error that another server does not get the repository's credentials.
    fn with_other_server(&self, error: SourceError, url: &HttpUrl) -> SourceError {
        match error {
            SourceError::Credentials { repository, tried, remedy: _, detail }
                if self.credentials.is_some()
                    && self.source.credentials == CredentialReach::OwnServer
                    && !url.is_same_origin(&self.url) =>
            {
                SourceError::Credentials {
                    repository,
                    tried: format!("{tried} for its own server only, and none for {url}"),
                    remedy: "set passCredentials: true in the Application's helm block if that server may have them",
                    detail,
                }
            }
            error => error,
        }
    }

    /// Returns the index. Requests share its download.
    async fn index(&self) -> Result<Arc<Index>, SourceError> {
        const WHAT: &str = "index.yaml";
        let download = || async {
            self.options.report(&Progress::LookingUp { repository: &self.errors.repository });
            let deadline = self.client.lookup_deadline();
            let operation = Operation { what: WHAT, action: "looking up charts of", deadline };
            let failed = |failure| self.errors.failed(operation, &failure);
            let url = self.url.resolve(WHAT, Base::Directory);
            let url =
                url.ok_or_else(|| self.errors.invalid(WHAT, "the repository's URL has no place for it"))?;
            let response = self.client.get(&url, self.parameters(operation)).await.map_err(failed)?;
            if response.status() != 200 {
                let missing = || self.errors.missing(operation, &response);
                return Err(self.errors.refused(operation, &response, missing));
            }
            let max = self.options.chart_limits.index_bytes_max;
            let text = self.client.bytes(response, max).await.map_err(failed)?;
            let text = text
                .ok_or_else(|| self.errors.too_large(WHAT, (max, "bytes"), Limit::CHART_INDEX_BYTES_MAX))?;
            let index = blocking(move || Ok(Index::read(&text))).await?;
            let index = index.map_err(|problem| self.errors.invalid(WHAT, problem))?;
            let bytes = index.bytes();
            Ok((index, bytes))
        };
        let key = (self.identity.to_owned(), None, self.url.as_str().to_owned());
        self.charts.lookups.indexes.get(&key, self.charts.lookup_age, download).await
    }

    fn missing(&self, version: &str, versions: &[IndexEntry]) -> SourceError {
        let newest = tiphys_go::versions::newest(versions.iter().map(|entry| entry.version.as_str()));
        ChartError::Missing {
            chart: self.source.chart.clone(),
            version: version.to_owned(),
            repository: self.errors.repository.clone(),
            hint: newest.map(|newest| format!("; its newest version is {newest}")).unwrap_or_default(),
        }
        .into()
    }
}
