//! Fetches charts of Helm repositories and registries as those of application sources.

use std::error::Error;
use std::path::PathBuf;

use tiphys_logins::OwnLogins;
use tiphys_model::access::{LoginOwner, NetworkUse};
use tiphys_model::limits::{Limit, Limits};
use tiphys_source::{ChartSource, Network, PackedCharts, SourceError, SourceOptions, SourceRequest};

use super::remote::{OCI, RemoteKind, RemoteRepository};
use super::{Archive, DependencyError, archive_name, own_logins};
use crate::chart::Dependency;
use crate::failure::chain;
use crate::request::Request;
use crate::slow::SlowNotice;

/// Limits of the time that `TIPHYS_HELM_TIMEOUT` sets here.
const TIMEOUTS: [Limit; 3] = [Limit::CONNECT_TIMEOUT, Limit::LOOKUP_TIMEOUT, Limit::FETCH_TIMEOUT];

/// The charts of one run.
#[derive(Debug)]
pub(super) struct Fetcher {
    charts: PackedCharts,
    own_logins: OwnLogins,
    slow: SlowNotice,
}

impl Fetcher {
    /// Returns a fetcher with a cache directory.
    pub(super) fn new(request: &Request, cache: PathBuf, network: NetworkUse) -> Self {
        let settings = &request.settings;
        let mut limits = Limits::default();
        for limit in TIMEOUTS {
            limits.set(limit, settings.timeout.as_secs());
        }
        let options = SourceOptions::new(cache, request.host.child_environment(), &limits);
        let network = match network {
            NetworkUse::Allowed => Network::Online,
            NetworkUse::None => Network::Offline,
        };
        let lookup_age_max = settings.range_age;
        let of_run = SourceRequest { network, lookup_age_max, ..SourceRequest::default() };
        Self {
            charts: PackedCharts::new(options, of_run),
            own_logins: own_logins(request),
            slow: SlowNotice::new(settings, request.redactor()),
        }
    }

    /// Returns the file name and the archive of a dependency's chart.
    pub(super) async fn fetch(
        &self,
        dependency: &Dependency,
        remote: &RemoteRepository,
    ) -> Result<Archive, DependencyError> {
        let address = remote.address.expose();
        let source = ChartSource {
            repo_url: match remote.kind {
                RemoteKind::Registry => [OCI, address].concat(),
                RemoteKind::Web | RemoteKind::Plugin => address.to_owned(),
            },
            chart: dependency.name.clone(),
            target_revision: dependency.version.as_str().to_owned(),
            access: remote.access.clone(),
            credentials: remote.credentials,
            own_logins: (remote.owner == LoginOwner::Person).then(|| self.own_logins.clone()),
        };
        let slow = self.slow.fetching_from(vec![remote.address.to_string()]);
        let fetched =
            slow.wait(&format!("dependency {}", dependency.name), Box::pin(self.charts.get(&source))).await;
        let chart = fetched.map_err(|error| failed(dependency, remote, &error))?;
        Ok((archive_name(&dependency.name, &chart.version), chart.archive.into()))
    }
}

fn failed(dependency: &Dependency, remote: &RemoteRepository, error: &SourceError) -> DependencyError {
    let (name, address) = (dependency.name.clone(), remote.address.clone());
    if let SourceError::Offline { .. } = error {
        return DependencyError::NoNetwork { name, address };
    }
    let mut last: &(dyn Error + 'static) = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let is_timeout = last.downcast_ref().is_some_and(|limit| TIMEOUTS.contains(limit));
    let text = if is_timeout { format!("{error}; increase TIPHYS_HELM_TIMEOUT") } else { chain(error) };
    DependencyError::Fetch { name, text }
}
