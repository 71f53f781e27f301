//! Which of the clones that are kept of a repository is meant: what one login has fetched is not for who has another one, or none.

#[cfg(test)]
mod tests;

use std::fmt;

use tiphys_access::RepositoryAccess;

use crate::clone_names::SECRET_BYTES;
use crate::url::RemoteUrl;

/// Changes when what is hashed changes.
const DOMAIN: &str = "tiphys 2026-11 way to a git repository";

/// The way of who asks as everybody may. Its names are derived, too: below the bare hash of an address lie clones of earlier builds, which
/// did not tell who had fetched them with which login.
const EVERYBODYS: [u8; 32] = [0; 32];

/// A clone by its repository and the way to that. Equal values may share what was looked up and fetched.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Kept {
    address: String,
    /// What a login, a proxy and a server that need not prove who it is make of the way, hashed; none for who asks as everybody may.
    way: Option<[u8; 32]>,
}

impl Kept {
    /// The clone for a URL and what is known of its repository. Who asks with the person's own settings asks as everybody.
    pub(crate) fn new(url: &RemoteUrl, access: &RepositoryAccess) -> Self {
        Self { address: cache_name(&url.address).to_owned(), way: way(url, access) }
    }

    /// The name of its folder in a cache with this secret, of hexadecimal digits alone.
    pub(crate) fn name(&self, secret: &[u8; SECRET_BYTES]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        hasher
            .update(DOMAIN.as_bytes())
            .update(&self.way.unwrap_or(EVERYBODYS))
            .update(self.address.as_bytes());
        hasher.finalize().to_hex().to_string()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What tells one repository's address from another's. Unlike the comparison of URLs it keeps the letter case, because a server's paths
/// may differ in it alone.
pub(crate) fn cache_name(address: &str) -> &str {
    let address = address.trim_end_matches('/');
    address.strip_suffix(".git").unwrap_or(address)
}

/// A server that need not prove who it is, or a proxy, may give what the repository does not have, so they count as a login does.
fn way(url: &RemoteUrl, access: &RepositoryAccess) -> Option<[u8; 32]> {
    let is_everybodys =
        url.login.is_none() && !access.has_credentials() && !access.insecure && access.proxy.is_empty();
    if is_everybodys {
        return None;
    }
    let (username, password) = match &url.login {
        Some((username, password)) => (username.as_str(), password.expose()),
        None => ("", ""),
    };
    let insecure = if access.insecure { "insecure" } else { "" };
    let others = [insecure, access.proxy.expose(), &access.no_proxy, username, password];
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    for part in access.login().into_iter().chain(others) {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    Some(*hasher.finalize().as_bytes())
}
