//! `--cluster-state [NAME=]DIR`, and the cluster of a destination.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_model::resources::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER};

use crate::cluster_reader::ClusterReader;

/// One `--cluster-state` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStateArgument {
    /// Name or URL of the cluster; [`IN_CLUSTER_SERVER`] by default.
    pub cluster: String,
    /// The directory.
    pub folder: PathBuf,
}

impl ClusterStateArgument {
    /// Parses `NAME=DIR`, `URL=DIR` or `DIR`. An argument with a slash before the first `=` is a directory, unless that part is a URL.
    pub fn parse(text: &str) -> Self {
        match text.split_once('=') {
            Some((cluster, folder))
                if !cluster.is_empty() && (!cluster.contains('/') || cluster.contains("://")) =>
            {
                Self { cluster: server_of(cluster).to_owned(), folder: folder.into() }
            }
            _ => Self { cluster: IN_CLUSTER_SERVER.to_owned(), folder: text.into() },
        }
    }
}

/// The readable clusters, by name or URL.
#[derive(Clone, Default)]
pub struct Clusters {
    readers: BTreeMap<String, Arc<dyn ClusterReader>>,
}

impl Clusters {
    /// Adds a cluster, or replaces one with the same name.
    pub fn insert(&mut self, cluster: &str, reader: Arc<dyn ClusterReader>) {
        self.readers.insert(server_of(cluster).to_owned(), reader);
    }

    /// Returns the cluster with a name or URL, and how it is named here. `None` if it is unknown.
    pub fn named(&self, cluster: &str) -> Option<(&str, &Arc<dyn ClusterReader>)> {
        self.readers.get_key_value(server_of(cluster)).map(|(name, reader)| (name.as_str(), reader))
    }

    /// Returns the first name of a reader, which tells clusters with several names apart.
    pub fn first_name(&self, reader: &Arc<dyn ClusterReader>) -> Option<&str> {
        self.readers.iter().find(|(_, other)| Arc::ptr_eq(other, reader)).map(|(name, _)| name.as_str())
    }

    /// The readers of all clusters. A reader with several names is returned several times.
    pub fn readers(&self) -> impl Iterator<Item = &Arc<dyn ClusterReader>> {
        self.readers.values()
    }

    /// The names of all clusters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.readers.keys().map(String::as_str)
    }
}

/// Maps the name of the in-cluster destination to its URL, so that both find the same cluster.
pub fn server_of(cluster: &str) -> &str {
    if cluster == IN_CLUSTER_NAME { IN_CLUSTER_SERVER } else { cluster }
}

#[cfg(test)]
mod tests;
