//! `--cluster-state [NAME=]DIR`, and which cluster a destination means.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tiphys_api::{Destination, IN_CLUSTER_SERVER};

use crate::ClusterReader;

/// The name of the cluster that Argo CD itself runs in.
pub const IN_CLUSTER_NAME: &str = "in-cluster";

/// One `--cluster-state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStateArgument {
    /// Name or URL of the cluster; [`IN_CLUSTER_SERVER`] if none was given.
    pub cluster: String,
    /// The folder.
    pub folder: PathBuf,
}

impl ClusterStateArgument {
    /// Reads `NAME=DIR`, `URL=DIR` or `DIR`. A text with a slash before its first `=` is a folder, unless it is a URL.
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

/// The clusters that can be read, by name or URL.
#[derive(Clone, Default)]
pub struct Clusters {
    readers: BTreeMap<String, Arc<dyn ClusterReader>>,
}

impl Clusters {
    /// Adds a cluster; one of the same name is replaced.
    pub fn insert(&mut self, cluster: &str, reader: Arc<dyn ClusterReader>) {
        self.readers.insert(server_of(cluster).to_owned(), reader);
    }

    /// The cluster of a destination, which names it by URL or by name, under the name that it is known by here. `None` if nothing stands
    /// for it.
    pub fn of(&self, destination: &Destination) -> Option<(&str, &Arc<dyn ClusterReader>)> {
        let cluster = if destination.server.is_empty() { &destination.name } else { &destination.server };
        self.readers.get_key_value(server_of(cluster)).map(|(name, reader)| (name.as_str(), reader))
    }

    /// The names of all clusters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.readers.keys().map(String::as_str)
    }
}

/// One name for the cluster that has two.
fn server_of(cluster: &str) -> &str {
    if cluster == IN_CLUSTER_NAME { IN_CLUSTER_SERVER } else { cluster }
}

#[cfg(test)]
mod tests;
