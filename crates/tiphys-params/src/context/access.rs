//! Which repository's settings are for which address, as Argo CD finds them (`spec/helm-parity.md` 2.3).

use super::{RepositoryAccess, RepositoryKind};

/// Scheme of registries.
const OCI: &str = "oci://";

impl RepositoryAccess {
    /// Whether this is a registry.
    pub fn is_registry(&self) -> bool {
        self.kind == RepositoryKind::Oci || self.enable_oci
    }

    /// Whether charts come from it: a Helm repository or a registry.
    pub fn has_charts(&self) -> bool {
        self.kind == RepositoryKind::Helm || self.is_registry()
    }

    /// Whether these are the settings of the repository of charts at this address.
    pub fn is_at(&self, address: &str) -> bool {
        self.has_charts() && same_address(without_oci(&self.url), without_oci(address))
    }

    /// Whether this is a registry that is a part of another one, or that the other one is a part of.
    pub fn is_around(&self, address: &str) -> bool {
        let (url, address) = (without_oci(&self.url), without_oci(address));
        self.is_registry() && (begins_with(address, url) || begins_with(url, address))
    }

    /// The template whose address is the longest beginning of an address.
    pub fn template_of<'a>(templates: &'a [Self], address: &str) -> Option<&'a Self> {
        // Argo CD strips the scheme only where a template has the kind that is written with one.
        let beginning = |one: &'a Self| match one.kind {
            RepositoryKind::Oci => without_oci(&one.url),
            RepositoryKind::Git | RepositoryKind::Helm => one.url.as_str(),
        };
        let matching = templates.iter().filter(|one| begins_with(address, beginning(one)));
        matching.max_by_key(|one| beginning(one).len())
    }

    /// The settings for an address: of the repository itself, else of the longest template, else, of a registry, of one around it.
    pub fn find<'a>(repositories: &'a [Self], templates: &'a [Self], address: &str) -> Option<&'a Self> {
        let exact = repositories.iter().find(|one| one.is_at(address));
        let is_registry = !without_oci(address).contains("://");
        exact
            .or_else(|| Self::template_of(templates, without_oci(address)))
            .or_else(|| repositories.iter().find(|one| is_registry && one.is_around(address)))
    }
}

/// The name of an address' server as certificates have it: without scheme, user and port; `None` if there is none.
pub fn server_name(address: &str) -> Option<&str> {
    let address = address.trim();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let name = match server.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => server.split(':').next()?,
    };
    Some(name).filter(|name| !name.is_empty())
}

/// An address without the scheme of registries.
pub fn without_oci(url: &str) -> &str {
    url.strip_prefix(OCI).unwrap_or(url)
}

/// Whether two addresses are one; a slash at the end is nothing.
pub fn same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Whether an address begins with another. A host is compared as a whole, so that credentials for `https://example.com` do not go to
/// `https://example.com.evil.org`.
fn begins_with(address: &str, beginning: &str) -> bool {
    let Some(rest) = address.strip_prefix(beginning) else { return false };
    let behind_scheme = beginning.split_once("://").map_or(beginning, |(_, rest)| rest);
    let is_within_path = behind_scheme.contains('/');
    !behind_scheme.is_empty() && (is_within_path || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
