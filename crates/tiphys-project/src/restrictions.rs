//! The fields of a project that restrict its applications.

use tiphys_api::{AppProject, GroupKind, KindPattern, ProjectDestination};

/// Returns the names of the fields that restrict the project's Applications; empty if the project permits everything.
pub fn restricted_fields(project: &AppProject) -> Vec<&'static str> {
    let spec = &project.spec;
    let kinds = spec.namespace_resource_whitelist.as_ref();
    let fields = [
        ("sourceRepos", !spec.source_repos.iter().any(|pattern| pattern == "*")),
        ("destinations", !spec.destinations.iter().any(is_every_destination)),
        ("clusterResourceWhitelist", !spec.cluster_resource_whitelist.iter().any(is_every_cluster_kind)),
        ("namespaceResourceBlacklist", !spec.namespace_resource_blacklist.is_empty()),
        ("signatureKeys", !spec.signature_keys.is_empty()),
        ("clusterResourceBlacklist", !spec.cluster_resource_blacklist.is_empty()),
        ("namespaceResourceWhitelist", kinds.is_some_and(|kinds| !kinds.iter().any(is_every_kind))),
        ("permitOnlyProjectScopedClusters", spec.permit_only_project_scoped_clusters),
    ];
    fields.into_iter().filter(|(_, restricts)| *restricts).map(|(name, _)| name).collect()
}

/// Returns the names of the fields that restrict the project's Applications and are not enforced: [`crate::ProjectRules`] enforces all others.
pub fn unenforced_fields(project: &AppProject) -> Vec<&'static str> {
    if project.spec.signature_keys.is_empty() { Vec::new() } else { vec!["signatureKeys"] }
}

fn is_every_destination(destination: &ProjectDestination) -> bool {
    destination.namespace == "*" && (destination.server == "*" || destination.name == "*")
}

fn is_every_cluster_kind(kind: &KindPattern) -> bool {
    kind.group == "*" && kind.kind == "*" && kind.name.is_none()
}

fn is_every_kind(kind: &GroupKind) -> bool {
    kind.group == "*" && kind.kind == "*"
}

#[cfg(test)]
mod tests;
