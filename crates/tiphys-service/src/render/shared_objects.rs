//! Warnings about objects that several of the rendered applications have.

use std::collections::HashMap;
use std::sync::Arc;

use tiphys_engine::{Manifest, ObjectKey, Scopes, key_in_cluster};
use tiphys_model::project_rules::Cluster;

/// The objects of the applications that were rendered before.
#[derive(Debug, Default)]
pub(crate) struct SharedObjects {
    owners: HashMap<ClusterIdentity, HashMap<ObjectKey, Arc<str>>>,
}

/// Identity of a cluster.
#[derive(Debug, PartialEq, Eq, Hash)]
enum ClusterIdentity {
    Server(String),
    /// A name without a known URL.
    Name(String),
}

impl SharedObjects {
    /// Adds the objects of an application. Returns the warning of Argo CD's condition `SharedResourceWarning` for each object that an
    /// application before it has in the same cluster. `namespace` is that of the destination. As in Argo CD, which does not track them,
    /// custom resource definitions may belong to several applications.
    pub(crate) fn add(
        &mut self,
        cluster: Cluster,
        namespace: &str,
        application: &str,
        manifests: &[Manifest],
    ) -> Vec<String> {
        let Some(identity) = ClusterIdentity::of(cluster) else { return Vec::new() };
        let owners = self.owners.entry(identity).or_default();
        let scopes = Scopes::of(manifests);
        let own: Arc<str> = application.into();
        let mut messages = Vec::new();
        for manifest in manifests.iter().filter(|manifest| !manifest.name().is_empty() && !manifest.is_crd())
        {
            let key = key_in_cluster(manifest, namespace, &scopes);
            let message =
                |owner: &str| format!("{}/{} is part of applications {own} and {owner}", key.kind, key.name);
            match owners.get(&key) {
                Some(owner) if **owner != *own => messages.push(message(owner)),
                Some(_) => {}
                None => {
                    owners.insert(key, Arc::clone(&own));
                }
            }
        }
        messages.dedup();
        messages
    }
}

impl ClusterIdentity {
    /// Returns the identity of a cluster. None if the destination names none.
    fn of(Cluster { server, name }: Cluster) -> Option<Self> {
        let given = |value: &String| !value.is_empty();
        server.filter(given).map(Self::Server).or_else(|| name.filter(given).map(Self::Name))
    }
}

#[cfg(test)]
mod tests;
