//! The identity of the credentials and connection settings of a chart. Responses are not shared between identities: a server
//! may return other content for other credentials.
//!
//! Proxies and CA certificates of the environment are the same for all requests, and not part of the identity.

use tiphys_model::access::{RepoUrl, RepositoryAccess};

use super::{ChartSource, CredentialReach, hashed};

impl ChartSource {
    /// Returns a hash of all settings that determine a response besides the URL and the chart. It reveals no secret.
    pub(super) fn identity(&self) -> String {
        let access = &self.access;
        let protocol = match (self.is_of_registry(), access.insecure_oci_force_http) {
            (false, _) => "index",
            (true, false) => "registry",
            (true, true) => "registry without TLS",
        };
        let reach = match self.credentials {
            CredentialReach::OwnServer => "own",
            CredentialReach::EveryServer => "every",
        };
        let url = RepoUrl::new(&self.repo_url);
        let user_info = url.user_info().unwrap_or_default();
        hashed([
            &connection_settings(access),
            protocol,
            &access.username,
            access.password.expose(),
            user_info,
            reach,
        ])
    }
}

/// Returns a hash of the connection settings: proxy, TLS and client certificate. Credentials are not part of it.
pub(super) fn connection_settings(access: &RepositoryAccess) -> String {
    hashed([
        if access.insecure { "insecure" } else { "" },
        &access.ca_data,
        &access.tls_client_cert_data,
        access.tls_client_cert_key.expose(),
        access.proxy.expose(),
        &access.no_proxy,
    ])
}

#[cfg(test)]
mod tests;
