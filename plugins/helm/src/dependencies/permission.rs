//! Which repositories of dependencies a project permits.

use tiphys_access::normalize_git_url;
use tiphys_project::source_permitted;

use super::remote::{OCI, RemoteKind, RemoteRepository};

/// Whether patterns permit a repository. One of a registry is that with and without its scheme.
pub(crate) fn is_permitted(remote: &RemoteRepository, patterns: &[String]) -> bool {
    let registry = (remote.kind == RemoteKind::Registry).then(|| [OCI, remote.address.expose()].concat());
    let forms: Vec<&str> = [remote.address.expose()].into_iter().chain(registry.as_deref()).collect();
    let normalized = if registry.is_some() { registry_address } else { normalize_git_url };
    source_permitted(patterns, &forms, &normalized)
}

/// A registry's address as Argo CD compares it. One that is no URL, as an IP address with a port, stays as it is: else all such were one.
fn registry_address(address: &str) -> String {
    Some(normalize_git_url(address)).filter(|text| !text.is_empty()).unwrap_or_else(|| address.to_owned())
}

#[cfg(test)]
mod tests;
