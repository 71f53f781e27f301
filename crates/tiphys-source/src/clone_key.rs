//! The identity of a clone in the cache. What one caller's credentials fetched is not available to callers with other credentials.

#[cfg(test)]
mod tests;

use std::fmt;

use tiphys_model::access::RepositoryAccess;

use crate::clone_names::SECRET_BYTES;
use crate::url::RemoteUrl;

/// Changes when what is hashed changes.
const DOMAIN: &str = "tiphys 2026-11 way to a git repository";

/// Stands for the hash of the credentials of anonymous access. Names of such clones are derived, too: clones of earlier builds, which did
/// not distinguish credentials, are named by the bare hash of the address.
const ANONYMOUS: [u8; 32] = [0; 32];

/// A clone, by its repository and the credentials in use. Callers with equal keys share look-ups and fetched objects.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CloneKey {
    address: String,
    /// Hash of the credentials, proxy and TLS settings in use. None for anonymous access and for the user's own git settings.
    credentials: Option<[u8; 32]>,
}

impl CloneKey {
    /// The key of a URL with these connection settings.
    pub(crate) fn new(url: &RemoteUrl, access: &RepositoryAccess) -> Self {
        Self { address: cache_name(&url.address).to_owned(), credentials: credentials(url, access) }
    }

    /// Returns the name of the clone's directory in a cache with this secret: hexadecimal digits.
    pub(crate) fn directory_name(&self, secret: &[u8; SECRET_BYTES]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        hasher
            .update(DOMAIN.as_bytes())
            .update(&self.credentials.unwrap_or(ANONYMOUS))
            .update(self.address.as_bytes());
        hasher.finalize().to_hex().to_string()
    }
}

impl fmt::Debug for CloneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloneKey").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Returns the part of an address that identifies a repository. Unlike the comparison of URLs it keeps the letter case, because paths on a
/// server may differ only in case.
pub(crate) fn cache_name(address: &str) -> &str {
    let address = address.trim_end_matches('/');
    address.strip_suffix(".git").unwrap_or(address)
}

/// A proxy, and a server that is trusted because of another CA or not verified, may return other content than the repository. These settings
/// count like credentials.
fn credentials(url: &RemoteUrl, access: &RepositoryAccess) -> Option<[u8; 32]> {
    let is_anonymous = url.login.is_none()
        && !access.has_credentials()
        && !access.insecure
        && access.ca_data.is_empty()
        && access.proxy.is_empty();
    if is_anonymous {
        return None;
    }
    let (username, password) = match &url.login {
        Some((username, password)) => (username.as_str(), password.expose()),
        None => ("", ""),
    };
    let insecure = if access.insecure { "insecure" } else { "" };
    let others = [insecure, &access.ca_data, access.proxy.expose(), &access.no_proxy, username, password];
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    for part in access.login().into_iter().chain(others) {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Some(*hasher.finalize().as_bytes())
}
