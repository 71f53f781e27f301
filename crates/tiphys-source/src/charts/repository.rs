//! A Helm repository: an index and archives over HTTP.

use std::sync::Arc;

use super::artefact::{Artefact, Contents, Packing};
use super::cache::ArchiveCache;
use super::client::Client;
use super::index::{Index, IndexEntry, select};
use super::limits::INDEX_BYTES_OPTION;
use super::place::{Asked, Place};
use super::{ChartError, ChartSource, Shared};
use crate::options::{Progress, SourceOptions};
use crate::web::{Address, Ask, Authorization, Base, Reach, Scheme};
use crate::{CredentialReach, SourceError};

pub(super) struct HelmRepository<'a> {
    source: &'a ChartSource,
    options: &'a SourceOptions,
    shared: &'a Shared,
    /// [`ChartSource::identity`].
    identity: &'a str,
    address: Address,
    client: Client<'a>,
    authorization: Option<Authorization>,
    place: Place,
}

impl<'a> HelmRepository<'a> {
    pub(super) fn new(
        (source, identity): (&'a ChartSource, &'a str),
        options: &'a SourceOptions,
        shared: &'a Shared,
    ) -> Result<Self, SourceError> {
        let access = &source.access;
        let (address, in_url) = Address::parse(&source.repo_url).ok_or_else(|| ChartError::Address {
            repository: source.shown(),
            reason: "write an http or https URL of a Helm repository; for a registry HOST/PATH, with enableOCI: \"true\" in its Secret, or oci://HOST/PATH",
        })?;
        let place = Place::new(source.shown(), address.clone(), access, in_url.is_some(), options);
        let login = if access.username.is_empty() && access.password.is_empty() {
            in_url
        } else {
            Some((access.username.clone(), access.password.clone()))
        };
        let reach = match source.credentials {
            CredentialReach::OwnServer => Reach::Server(address.clone()),
            CredentialReach::EveryServer => Reach::Everybody,
        };
        let authorization =
            login.map(|(user, password)| Authorization::basic(&user, password.expose(), reach));
        let client = Client::new(&shared.clients, (source, identity), options, address.clone());
        Ok(Self { source, options, shared, identity, address, client, authorization, place })
    }

    /// The version that the newest of a range is.
    pub(super) fn newest(
        &self,
        choose: impl FnOnce(&[&str]) -> Result<String, SourceError>,
    ) -> Result<String, SourceError> {
        let index = self.index()?;
        let chart = &self.source.chart;
        let versions =
            index.versions(chart).ok_or_else(|| self.missing(&self.source.target_revision, &[]))?;
        let versions: Vec<&str> = versions.iter().map(|entry| entry.version.as_str()).collect();
        choose(&versions)
    }

    /// The version that a version with fewer than three numbers stands for.
    pub(super) fn selected(&self, version: &str) -> Result<String, SourceError> {
        let index = self.index()?;
        let versions = index.versions(&self.source.chart).unwrap_or_default();
        let entry = select(versions, version).ok_or_else(|| self.missing(version, versions))?;
        Ok(entry.version.clone())
    }

    /// Fetches a version.
    pub(super) fn fetch(&self, version: &str, cache: &ArchiveCache) -> Result<Artefact, SourceError> {
        let index = self.index()?;
        let versions = index.versions(&self.source.chart).unwrap_or_default();
        let entry = select(versions, version).ok_or_else(|| self.missing(version, versions))?;
        // An archive that others have fetched is not taken for it: the index may name any digest, without having the archive.
        Ok(Artefact {
            revision: version.to_owned(),
            digest: self.download(entry, cache)?,
            packing: Packing::TarGzip,
            contents: Contents::Folder(self.source.chart.rsplit('/').next().unwrap_or_default().to_owned()),
        })
    }

    fn download(
        &self,
        entry: &IndexEntry,
        cache: &ArchiveCache,
    ) -> Result<super::artefact::Digest, SourceError> {
        let name = format!("chart {} {}", self.source.chart, entry.version);
        let asked = Asked { what: &name, action: "fetching a chart of", deadline: self.client.deadline() };
        let address = self.address.resolve(&entry.url, Base::Folder).filter(|_| !entry.url.is_empty());
        let address =
            address.ok_or_else(|| self.place.odd(&name, "the index names no http or https URL for it"))?;
        let loses_tls = self.address.scheme == Scheme::Https && address.scheme == Scheme::Http;
        if loses_tls
            && self.authorization.is_some()
            && self.source.credentials == CredentialReach::EveryServer
        {
            let problem = format!(
                "the index names {address} for it, which has no TLS, and credentials would be sent there"
            );
            return Err(self.place.odd(&name, problem));
        }
        let ask = Ask { accept: "", deadline: asked.deadline };
        let answer = self.client.get(&address, self.authorization.as_ref(), ask);
        let answer = answer.map_err(|error| self.place.failed(asked, &error))?;
        if answer.status != 200 {
            let missing = || self.place.missing(asked, &answer);
            let error = self.place.refused(asked, &answer, missing);
            return Err(self.with_other_server(error, &answer.hop.address));
        }
        let (max, expected) = (self.options.chart_limits.archive_bytes_max, entry.digest.as_ref());
        let hop = answer.hop.clone();
        let taken = cache.take_in(&mut answer.into_reader(), max, expected);
        taken.map_err(|error| self.place.not_taken_in(asked, hop, error, expected, max))
    }

    /// Says that credentials were not sent, where that is why they were missed.
    fn with_other_server(&self, error: SourceError, address: &Address) -> SourceError {
        match error {
            SourceError::Credentials { repository, tried, remedy: _, detail }
                if self.authorization.is_some()
                    && self.source.credentials == CredentialReach::OwnServer
                    && !address.is_on_same_server(&self.address) =>
            {
                SourceError::Credentials {
                    repository,
                    tried: format!("{tried} for its own server only, and none for {address}"),
                    remedy: "set passCredentials: true in the Application's helm block if that server may have them",
                    detail,
                }
            }
            error => error,
        }
    }

    fn index(&self) -> Result<Arc<Index>, SourceError> {
        let read = || {
            const WHAT: &str = "index.yaml";
            self.options.report(&Progress::LookingUp { repository: &self.place.shown });
            let deadline = self.client.lookup_deadline();
            let asked = Asked { what: WHAT, action: "looking up charts of", deadline };
            let address = self.address.resolve(WHAT, Base::Folder);
            let address =
                address.ok_or_else(|| self.place.odd(WHAT, "the repository's URL has no place for it"))?;
            let ask = Ask { accept: "", deadline };
            let answer = self.client.get(&address, self.authorization.as_ref(), ask);
            let answer = answer.map_err(|error| self.place.failed(asked, &error))?;
            if answer.status != 200 {
                return Err(self.place.refused(asked, &answer, || self.place.missing(asked, &answer)));
            }
            let max = self.options.chart_limits.index_bytes_max;
            let text =
                self.client.bytes(answer, max, deadline).map_err(|error| self.place.failed(asked, &error))?;
            let text = text.ok_or_else(|| self.place.too_large(WHAT, max, INDEX_BYTES_OPTION))?;
            Index::read(&text).map(Arc::new).map_err(|problem| self.place.odd(WHAT, problem))
        };
        let question = format!("{} {}", self.identity, self.address.text());
        self.shared.indexes.get(question, read).map_err(SourceError::Before)
    }

    fn missing(&self, version: &str, versions: &[IndexEntry]) -> SourceError {
        let newest = tiphys_versions::newest(versions.iter().map(|entry| entry.version.as_str()));
        ChartError::Missing {
            chart: self.source.chart.clone(),
            version: version.to_owned(),
            repository: self.place.shown.clone(),
            hint: newest.map(|newest| format!("; its newest version is {newest}")).unwrap_or_default(),
        }
        .into()
    }
}
