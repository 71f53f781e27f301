//! Whether a project permits the repositories of dependencies.

use tiphys_model::access::{RepoUrl, normalize_git_url};
use tiphys_model::project_rules::source_permitted;

use super::remote::{OCI, RemoteKind, RemoteRepository};

/// Whether patterns permit a repository. A registry is compared with and without its scheme.
pub(super) fn is_permitted(remote: &RemoteRepository, patterns: &[String]) -> bool {
    let registry = (remote.kind == RemoteKind::Registry).then(|| [OCI, remote.address.expose()].concat());
    let forms: Vec<&str> = [remote.address.expose()].into_iter().chain(registry.as_deref()).collect();
    // An IP address with a port is an invalid URL for Argo CD; it is compared as written, so that two such registries differ.
    let normalized: &dyn Fn(&str) -> String =
        if registry.is_some() { &|address| RepoUrl::new(address).normalized() } else { &normalize_git_url };
    source_permitted(patterns, &forms, normalized)
}

#[cfg(test)]
mod tests;
