//! Kubernetes and API versions of destination clusters.

use std::collections::BTreeMap;

use tiphys_model::resources::{Destination, IN_CLUSTER_SERVER};

/// Name of the cluster that Argo CD itself runs in.
const IN_CLUSTER_NAME: &str = "in-cluster";

/// Kubernetes version and API versions, for one cluster or for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DestinationVersions {
    kube_version: BTreeMap<Option<String>, String>,
    api_versions: BTreeMap<Option<String>, Vec<String>>,
}

impl DestinationVersions {
    /// Sets the version of a cluster, by name or URL; without one, of all other clusters.
    pub fn set_kube_version(&mut self, cluster: Option<String>, version: String) {
        self.kube_version.insert(cluster, version);
    }

    /// Sets the API versions of a cluster, by name or URL; without one, of all other clusters.
    pub fn set_api_versions(&mut self, cluster: Option<String>, versions: Vec<String>) {
        self.api_versions.insert(cluster, versions);
    }

    /// Returns the destination's Kubernetes version; empty if it is unknown.
    pub fn kube_version(&self, destination: &Destination) -> &str {
        of(&self.kube_version, destination).map_or("", String::as_str)
    }

    /// Returns the destination's API versions; empty if they are unknown.
    pub fn api_versions(&self, destination: &Destination) -> &[String] {
        of(&self.api_versions, destination).map_or(&[], Vec::as_slice)
    }
}

/// Returns the cluster's value, by its name or URL, else the value for all clusters.
fn of<'a, T>(values: &'a BTreeMap<Option<String>, T>, destination: &Destination) -> Option<&'a T> {
    let in_cluster = destination.server == IN_CLUSTER_SERVER || destination.name == IN_CLUSTER_NAME;
    let more: &[&str] = if in_cluster { &[IN_CLUSTER_SERVER, IN_CLUSTER_NAME] } else { &[] };
    [destination.name.as_str(), destination.server.as_str()]
        .iter()
        .chain(more)
        .filter(|name| !name.is_empty())
        .find_map(|name| values.get(&Some((*name).to_owned())))
        .or_else(|| values.get(&None))
}

#[cfg(test)]
mod tests;
