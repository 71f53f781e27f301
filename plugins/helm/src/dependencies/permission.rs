//! Which repositories of dependencies a project permits.

use tiphys_params::{normalize_git_url, source_permitted};

use super::remote::{OCI, RemoteKind, RemoteRepository};

/// Whether patterns permit a repository. One of a registry is that with and without its scheme.
pub(crate) fn is_permitted(remote: &RemoteRepository, patterns: &[String]) -> bool {
    let registry = (remote.kind == RemoteKind::Registry).then(|| [OCI, remote.address.expose()].concat());
    let forms: Vec<&str> = [remote.address.expose()].into_iter().chain(registry.as_deref()).collect();
    source_permitted(patterns, &forms, &normalize_git_url)
}

#[cfg(test)]
mod tests;
