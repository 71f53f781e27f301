//! Who asks for a chart, and how its server is reached: what one is told in one way is not for those who go another one. They may be told
//! something else, or nothing, and trust others.
//!
//! What the environment of this process says of proxies and authorities is the same for all who ask in it, and no part of this.

use tiphys_access::{RepoUrl, RepositoryAccess};

use super::{ChartSource, CredentialReach, hashed};

impl ChartSource {
    /// A name for all that decides what is fetched, from whom and with which trust, beside the address and the chart. It tells nothing of
    /// the secrets in it.
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
        hashed([&way(access), protocol, &access.username, access.password.expose(), user_info, reach])
    }
}

/// A name for the way to servers: over which proxy, and who proves what to whom there. Who asks is no part of it.
pub(super) fn way(access: &RepositoryAccess) -> String {
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
