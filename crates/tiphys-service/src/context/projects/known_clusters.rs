//! Names and URLs of clusters: a cluster Secret makes both one cluster.

use tiphys_engine::appset::{DestinationCluster, check_destination};
use tiphys_model::project_rules::{Cluster, ProjectCluster};
use tiphys_model::resources::{Destination, IN_CLUSTER_NAME, IN_CLUSTER_SERVER, InCluster};
use tiphys_store::Store as Resources;

use crate::warning::Warning;

/// The clusters of the caller's cluster Secrets, and the one in which Argo CD runs.
#[derive(Clone, Debug)]
pub(crate) struct KnownClusters {
    clusters: Vec<ProjectCluster>,
    in_cluster: InCluster,
}

impl KnownClusters {
    /// Adds the cluster Secrets of a store to the live clusters of the options. Secrets of a repository that is rendered do not count: they
    /// could widen what a project permits.
    pub(crate) fn new(
        resources: &Resources,
        of_options: &[ProjectCluster],
        in_cluster: InCluster,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let (own, theirs) = resources.secrets_by_trust();
        let own = own.into_iter().filter_map(|stored| {
            let cluster = ProjectCluster::of_secret(&stored.secret)?;
            Some((stored, cluster))
        });
        let own: Vec<_> = own.collect();
        let theirs = theirs.into_iter().filter(|stored| ProjectCluster::of_secret(&stored.secret).is_some());
        warnings.extend(theirs.map(|stored| {
            Warning::new(format!(
                "cluster Secret {} ({}) does not count for the rules of projects: it is in a repository that is rendered",
                stored.secret.metadata.name, stored.place
            ))
        }));
        warnings.extend(own.iter().filter_map(|(stored, cluster)| {
            let problem = cluster.config_problem.as_ref()?;
            Some(Warning::new(format!(
                "cluster Secret {} ({}): {problem}; Argo CD does not find its cluster for destinations",
                stored.secret.metadata.name, stored.place
            )))
        }));
        let of_options = of_options.iter().cloned();
        let clusters = of_options.chain(own.into_iter().map(|(_, cluster)| cluster)).collect();
        Self { in_cluster, ..Self::of_secrets(clusters) }
    }

    /// Returns the clusters of cluster Secrets, and the one in which Argo CD runs.
    pub(crate) fn of_secrets(mut clusters: Vec<ProjectCluster>) -> Self {
        // As in Argo CD, a Secret may give the in-cluster destination another name.
        if !clusters.iter().any(|cluster| cluster.server == IN_CLUSTER_SERVER) {
            clusters.push(ProjectCluster {
                server: IN_CLUSTER_SERVER.to_owned(),
                name: IN_CLUSTER_NAME.to_owned(),
                ..ProjectCluster::default()
            });
        }
        Self { clusters, in_cluster: InCluster::Enabled }
    }

    /// Returns all clusters.
    pub(crate) fn scoped(&self) -> &[ProjectCluster] {
        &self.clusters
    }

    /// Returns whether the cluster in which Argo CD runs may be a destination.
    pub(crate) fn in_cluster(&self) -> InCluster {
        self.in_cluster
    }

    /// Returns why Argo CD refuses a destination: it does not find a cluster that is known here, because it is disabled or its Secret cannot
    /// be decoded. A destination that is not known is not refused, because only a cluster has all cluster Secrets.
    pub(crate) fn refusal(&self, destination: &Destination) -> Option<String> {
        let Destination { server, name, .. } = destination;
        let is_it = |cluster: &ProjectCluster| {
            if server.is_empty() {
                cluster.name == *name
            } else {
                cluster.server == server.trim_end_matches('/')
            }
        };
        let is_own = |cluster: &ProjectCluster| cluster.server == IN_CLUSTER_SERVER;
        let is_disabled = self.in_cluster == InCluster::Disabled;
        let is_hidden = (is_disabled && name == IN_CLUSTER_NAME)
            || self
                .clusters
                .iter()
                .filter(|cluster| is_it(cluster))
                .any(|cluster| cluster.config_problem.is_some() || (is_disabled && is_own(cluster)));
        let decoded = self.clusters.iter().filter(|cluster| cluster.config_problem.is_none());
        let decoded: Vec<DestinationCluster> = decoded.map(DestinationCluster::from).collect();
        is_hidden.then(|| check_destination(name, server, Some(&decoded), self.in_cluster).err())?
    }

    /// Returns the cluster of a destination. Its other name is unknown if no Secret has it, or several have.
    pub(crate) fn of(&self, destination: &Destination) -> Cluster {
        let other = |is_it: &dyn Fn(&ProjectCluster) -> bool, value: fn(&ProjectCluster) -> &String| {
            let mut found = self.clusters.iter().filter(|cluster| is_it(cluster)).map(value);
            found.next().filter(|first| found.all(|other| other == *first)).cloned()
        };
        if destination.server.is_empty() {
            let name = &destination.name;
            Cluster {
                server: other(&|cluster| cluster.name == *name, |cluster| &cluster.server),
                name: Some(name.clone()),
            }
        } else {
            // As in Argo CD, a URL is compared without final slashes.
            let server = destination.server.trim_end_matches('/');
            Cluster {
                name: other(&|cluster| cluster.server == server, |cluster| &cluster.name),
                server: Some(server.to_owned()),
            }
        }
    }
}
